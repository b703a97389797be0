//! NMState

use serde_json::{Value, json};

use super::schema::*;
use super::{Definition, column};
use crate::kinds;

pub fn crd() -> Value {
    Definition {
        kind: kinds::NMSTATE,
        about: "NMState deploys Linesman's agent on the nodes; there is one, called nmstate.",
        fields: vec![("spec", spec()), ("status", status())],
        columns: vec![column("Status", "string", "type"), column("Reason", "string", "reason")],
    }
    .build(|schema| schema)
}

fn spec() -> Value {
    object([
        ("nodeSelector", map(string()).about("Nodes that get an agent. Default: kubernetes.io/os=linux.")),
        ("tolerations", tolerations().about("Of the agents. Default: all taints.")),
        ("affinity", free().about("Of the agents, as in a Pod.")),
        ("infraNodeSelector", map(string()).about("Nodes for what runs once in the cluster.")),
        ("infraTolerations", tolerations()),
        ("infraAffinity", free()),
        ("selfSignConfiguration", self_sign()),
        ("probeConfiguration", object([("dns", dns())]).about("Defaults of probes.")),
        ("metricsConfiguration", object([("bindAddress", string().about("\"0\" serves no metrics."))])),
        ("logLevel", word(&["info", "debug"])),
        (
            "interfaceFilter",
            list(short(128))
                .at_most(64)
                .with("x-kubernetes-list-type", "set")
                .about("Interfaces that NodeNetworkStates leave out, as globs: veth*, cali?*."),
        ),
        ("ephemeral", boolean().about("Profiles that a policy makes are gone after a reboot.")),
    ])
    .with("default", json!({}))
}

fn dns() -> Value {
    object([("host", string().about("The name that the DNS probe asks for. Default: root-servers.net."))])
}

fn self_sign() -> Value {
    let intervals = ["caRotateInterval", "caOverlapInterval", "certRotateInterval", "certOverlapInterval"];
    object(intervals.map(|name| (name, string())))
        .about("Taken and not heeded: there is no webhook to certify.")
}

fn tolerations() -> Value {
    list(object([
        ("key", string()),
        ("operator", string()),
        ("value", string()),
        ("effect", string()),
        ("tolerationSeconds", long()),
    ]))
    .with("x-kubernetes-list-type", "atomic")
}

fn status() -> Value {
    object([("conditions", conditions()), ("observedGeneration", long())])
}
