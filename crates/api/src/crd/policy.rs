//! NodeNetworkConfigurationPolicy

use serde_json::Value;

use super::schema::*;
use super::{Definition, column};
use crate::kinds;
use crate::names::POLICY_NAME_LENGTH;

pub fn crd() -> Value {
    Definition {
        kind: kinds::POLICY,
        about: "A network state that the selected nodes are kept in.",
        fields: vec![("spec", spec()), ("status", status())],
        columns: vec![column("Status", "string", "type"), column("Reason", "string", "reason")],
    }
    .build(|schema| {
        schema.rule(
            &format!("size(self.metadata.name) <= {POLICY_NAME_LENGTH}"),
            "the name of a policy becomes a label: it has at most 63 characters",
        )
    })
}

fn spec() -> Value {
    object([
        ("nodeSelector", labels().about("Labels that a node must have. Default: every node.")),
        ("nodeLabelSelector", selector().about("The same with expressions; both must match.")),
        ("capture", map(string()).about("What the desired state refers to, found on each node by NMState.")),
        ("desiredState", free().about("An NMState document.")),
        ("hosts", hosts()),
        ("maxUnavailable", max_unavailable()),
        ("rollout", rollout()),
        ("probes", probes()),
        (
            "patience",
            number(0, 3600).about("Seconds that probes may take to pass after the change. Default: 20."),
        ),
        (
            "priority",
            number(-1_000_000, 1_000_000).about(
                "Among policies that do not build on each other the higher one goes first. Default: 0.",
            ),
        ),
        (
            "onDelete",
            word(&["Retain", "Revert"]).about(
                "Whether what the policy changed stays or goes back when it is deleted. Default: Retain.",
            ),
        ),
        (
            "drift",
            word(&["Ignore", "Report", "Correct"])
                .about("What happens when somebody else changes what the policy set. Default: Report."),
        ),
        (
            "machineConfigPoolSelector",
            selector().about("Roll out through these MachineConfigPools. Refused by this version."),
        ),
    ])
    // Dropped in silence, it would let a policy loose on all nodes at once.
    .rule(
        "!has(self.machineConfigPoolSelector)",
        "rolling out through MachineConfigPools is not supported by this version; remove machineConfigPoolSelector",
    )
}

fn hosts() -> Value {
    let matching = object([
        ("node", short(253).about("The name of the Node.")),
        ("hostname", short(253).about("The label kubernetes.io/hostname.")),
        (
            "macAddress",
            short(17).about("Of any NIC, such as 52:54:00:12:34:56.").rule(
                "self.matches('^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$')",
                "a MAC address is six pairs of hex digits with colons, such as 52:54:00:12:34:56",
            ),
        ),
    ])
    .rule(
        "(has(self.node) ? 1 : 0) + (has(self.hostname) ? 1 : 0) + (has(self.macAddress) ? 1 : 0) == 1",
        "a host is matched by exactly one of node, hostname and macAddress",
    );
    let host = object([
        ("match", matching),
        (
            "desiredState",
            free().about("Merged onto spec.desiredState: interfaces by name, lists and values replaced."),
        ),
    ]);
    list(host.required(&["match", "desiredState"]))
        .at_most(4096)
        .with("x-kubernetes-list-type", "atomic")
        .about("What single hosts want beside or instead of spec.desiredState, for example their addresses.")
}

fn max_unavailable() -> Value {
    int_or_string()
        .about("How many nodes may be changed at a time, as a number or a percentage (rounded up). Default: 50%.")
        .rule(
            "type(self) == int ? self >= 0 : self.matches('^[0-9]{1,3}%$')",
            "maxUnavailable is a number of nodes (3) or a percentage ('30%')",
        )
}

fn rollout() -> Value {
    object([
        ("paused", boolean().about("No further node begins.")),
        ("abort", boolean().about("No further node begins; the rest counts as aborted.")),
        ("undo", boolean().about("Nodes that took this version go back to the one before.")),
        ("canary", list(short(253)).at_most(64).with("x-kubernetes-list-type", "set")
            .about("Nodes that go first, alone: the others wait until all of these hold; a failure stops the rollout.")),
        ("maxFailures", number(1, 100_000)
            .about("So many failed nodes stop the rollout. Default: what maxUnavailable comes to.")),
    ])
    .rule(
        "!(has(self.abort) && self.abort && has(self.undo) && self.undo)",
        "a rollout is either aborted (nodes stay as they are) or undone (nodes go back), not both",
    )
    // What server-side apply makes of `rollout: {}` when the words in it were its own.
    .with("nullable", true)
}

/// Each a text or a mapping, which a schema cannot say: admission looks at them (`admission.rs`).
fn probes() -> Value {
    list(anything())
        .at_most(32)
        .with("x-kubernetes-list-type", "atomic")
        .about(
            "What must work after the change as before: gateway, gateway:v6, dns, dns:NAME, apiServer, nodeReady, tcp:HOST:PORT, \
             http(s)://…, ping:ADDRESS; with ',timeout=5s' behind, or as {probe: …, timeout: 5s}. Default: gateway, dns, \
             apiServer, nodeReady. Empty: nothing.",
        )
}

fn status() -> Value {
    let counts = ["matching", "available", "progressing", "pending", "failing", "aborted", "away"];
    object([
        ("conditions", conditions()),
        ("observedGeneration", long()),
        ("maxUnavailable", integer().about("What spec.maxUnavailable comes to with the nodes there are.")),
        ("nodes", object(counts.map(|name| (name, integer())))),
        ("waves", object([("current", integer()), ("total", integer())])),
        (
            "held",
            list(object([("node", string()), ("reason", string())]))
                .with("x-kubernetes-list-type", "atomic")
                .about("The first few nodes that do not go on, and why."),
        ),
        ("unavailableNodeCountMap", map(integer()).about("Nodes that are being changed, by generation.")),
        ("unavailableNodeCount", integer()),
        ("lastUnavailableNodeCountUpdate", time()),
    ])
}
