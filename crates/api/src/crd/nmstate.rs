//! NMState

use serde_json::{Value, json};

use super::schema::*;
use super::{Definition, column};
use crate::kinds;

pub fn crd() -> Value {
    Definition {
        kind: kinds::NMSTATE,
        about: "NMState describes the deployment of kubernetes-nmstate. This version of Linesman accepts it for compatibility and does not act on it.",
        fields: vec![("spec", spec()), ("status", status())],
        columns: vec![column("Status", "string", "type"), column("Reason", "string", "reason")],
    }
    .build(|schema| schema)
}

fn spec() -> Value {
    object([
        (
            "nodeSelector",
            map(string())
                .about("nodeSelector selects the nodes that the agent runs on. Defaults to kubernetes.io/os=linux."),
        ),
        ("tolerations", tolerations("tolerations are the tolerations of the agent's Pods. Defaults to tolerating all taints.")),
        ("affinity", free().about("affinity is the affinity of the agent's Pods.")),
        (
            "infraNodeSelector",
            map(string()).about("infraNodeSelector selects the nodes that cluster-wide components run on."),
        ),
        ("infraTolerations", tolerations("infraTolerations are the tolerations of cluster-wide components.")),
        ("infraAffinity", free().about("infraAffinity is the affinity of cluster-wide components.")),
        ("selfSignConfiguration", self_sign()),
        (
            "probeConfiguration",
            object([("dns", dns())]).about("probeConfiguration sets the defaults of probes."),
        ),
        ("metricsConfiguration", metrics()),
        ("logLevel", word(&["info", "debug"]).about("logLevel is the log level of agent and operator. Defaults to info.")),
        (
            "interfaceFilter",
            list(short(128))
                .at_most(64)
                .with("x-kubernetes-list-type", "set")
                .about("interfaceFilter lists interfaces to leave out of NodeNetworkStates, as globs such as veth* or cali?*."),
        ),
        (
            "ephemeral",
            boolean().about("ephemeral makes the configuration that policies apply temporary: it is gone after a reboot."),
        ),
    ])
    .with("default", json!({}))
    .about("spec is the desired deployment. This version of Linesman does not act on it: use the options of linesman agent and linesman operator instead.")
}

fn dns() -> Value {
    object([(
        "host",
        string().about("host is the name that the DNS probe resolves. Defaults to the DNS root."),
    )])
    .about("dns configures the DNS probe.")
}

fn metrics() -> Value {
    let address = "bindAddress is the address that metrics are served at. \"0\" disables them.";
    object([("bindAddress", string().about(address))])
        .about("metricsConfiguration configures the metrics endpoint.")
}

fn self_sign() -> Value {
    let intervals = ["caRotateInterval", "caOverlapInterval", "certRotateInterval", "certOverlapInterval"];
    object(intervals.map(|name| (name, string().about(&format!("{name} is ignored.")))))
        .about("selfSignConfiguration is accepted for compatibility and ignored: Linesman has no webhook that needs a certificate.")
}

fn tolerations(about: &str) -> Value {
    list(object([
        ("key", string().about("key is the taint key that the toleration applies to. Empty matches all keys.")),
        ("operator", string().about("operator is Exists or Equal. Defaults to Equal.")),
        ("value", string().about("value is the taint value that the toleration matches.")),
        ("effect", string().about("effect is the taint effect to match. Empty matches all effects.")),
        (
            "tolerationSeconds",
            long().about("tolerationSeconds is how long the toleration tolerates a NoExecute taint. Unset means forever."),
        ),
    ]))
    .with("x-kubernetes-list-type", "atomic")
    .about(about)
}

fn status() -> Value {
    object([
        ("conditions", conditions("Available, Degraded and Progressing")),
        (
            "observedGeneration",
            long().about("observedGeneration is the metadata.generation that this status belongs to."),
        ),
    ])
    .about("status is the observed deployment.")
}
