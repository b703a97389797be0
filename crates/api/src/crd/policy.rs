//! NodeNetworkConfigurationPolicy

use serde_json::Value;

use super::schema::*;
use super::{Definition, column};
use crate::kinds;
use crate::names::POLICY_NAME_LENGTH;

pub fn crd() -> Value {
    Definition {
        kind: kinds::POLICY,
        about: "NodeNetworkConfigurationPolicy is the desired network state of the nodes that it selects.",
        fields: vec![("spec", spec()), ("status", status())],
        columns: vec![column("Status", "string", "type"), column("Reason", "string", "reason")],
    }
    .build(|schema| {
        schema.rule(
            &format!("size(self.metadata.name) <= {POLICY_NAME_LENGTH}"),
            "the name of a policy must be no more than 63 characters, because it is used as a label value",
        )
    })
}

fn spec() -> Value {
    object([
        (
            "nodeSelector",
            labels().about("nodeSelector is the set of labels that a node must have. Defaults to every node."),
        ),
        (
            "nodeLabelSelector",
            selector("nodeLabelSelector selects nodes by labels and expressions. A node must match both nodeSelector and nodeLabelSelector."),
        ),
        (
            "capture",
            map(string()).about("capture defines NMState captures, by name. They are evaluated on each node, and desiredState can refer to them."),
        ),
        (
            "desiredState",
            free().about("desiredState is the NMState document to apply. Without it the policy changes nothing and succeeds."),
        ),
        ("hosts", hosts()),
        ("maxUnavailable", max_unavailable()),
        ("rollout", rollout()),
        ("probes", probes()),
        (
            "patience",
            number(1, 3600).about(
                "patience is how long the probes may take to pass after the change, in seconds. If they do not pass, the change \
                 is rolled back. Defaults to 20, and to more if the change itself is slow (spanning tree, LACP, DHCP). Of policies \
                 that are applied together the longest counts.",
            ),
        ),
        (
            "priority",
            number(-1_000_000, 1_000_000).about(
                "priority orders policies that do not depend on each other on a node: higher values are applied first. Defaults \
                 to 0.",
            ),
        ),
        (
            "onDelete",
            word(&["Retain", "Revert"]).about(
                "onDelete is what happens when the policy is deleted or no longer selects a node. Retain leaves the \
                 configuration in place; Revert restores what the policy changed. Defaults to Retain.",
            ),
        ),
        (
            "drift",
            word(&["Ignore", "Report", "Correct"]).about(
                "drift is what happens when something else changes what the policy configured. Report sets the condition \
                 Drifted on the enactment; Correct also applies the policy again. Defaults to Report.",
            ),
        ),
        (
            "machineConfigPoolSelector",
            selector("machineConfigPoolSelector is not supported by this version; a policy that sets it is rejected."),
        ),
    ])
    // Silently dropped, it would apply a policy to all nodes at once.
    .rule(
        "!has(self.machineConfigPoolSelector)",
        "machineConfigPoolSelector is not supported by this version; remove it",
    )
    .about("spec is the desired network state and how it is rolled out.")
}

fn hosts() -> Value {
    let matching = object([
        ("node", short(253).about("node is the name of the Node object.")),
        ("hostname", short(253).about("hostname is the value of the node's label kubernetes.io/hostname.")),
        (
            "macAddress",
            short(17).about("macAddress is the MAC address of any NIC of the node, such as 52:54:00:12:34:56.").rule(
                "self.matches('^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$')",
                "macAddress must be six pairs of hexadecimal digits separated by colons, such as 52:54:00:12:34:56",
            ),
        ),
    ])
    .rule(
        "(has(self.node) ? 1 : 0) + (has(self.hostname) ? 1 : 0) + (has(self.macAddress) ? 1 : 0) == 1",
        "exactly one of node, hostname and macAddress must be set",
    )
    .about("match selects the host by exactly one of node, hostname and macAddress.");
    let host = object([
        ("match", matching),
        (
            "desiredState",
            free().about(
                "desiredState is merged into spec.desiredState for this host: interfaces by name, routes and rules are added, \
                 other values are replaced, null removes a value.",
            ),
        ),
    ]);
    list(host.required(&["match", "desiredState"]))
        .at_most(4096)
        .with("x-kubernetes-list-type", "atomic")
        .about("hosts overrides spec.desiredState for single hosts, for example to set their addresses. At most one entry may match a node.")
}

fn max_unavailable() -> Value {
    int_or_string()
        .about(
            "maxUnavailable is the maximum number of nodes that are changed at the same time. It can be a number (3) or a \
             percentage of the selected nodes (30%), which is rounded up; more than all nodes counts as all. A node on which \
             the policy failed counts until the policy is edited. Defaults to 50%.",
        )
        .rule(
            "type(self) == int ? self >= 0 : self.matches('^([0-9]{1,9}|[0-9]{1,3}%)$')",
            "maxUnavailable must be a number of nodes (3) or a percentage ('30%')",
        )
}

fn rollout() -> Value {
    object([
        ("paused", boolean().about("paused stops the rollout before the next node. Nodes that are being changed finish.")),
        ("abort", boolean().about("abort stops the rollout for good: nodes that have not started are reported as aborted.")),
        ("undo", boolean().about("undo returns the nodes that have this version of the policy to the previous version.")),
        (
            "canary",
            list(short(253)).at_most(64).with("x-kubernetes-list-type", "set").about(
                "canary lists nodes that are changed first. The other nodes wait until all canaries are configured; if a canary \
                 fails, the rollout stops.",
            ),
        ),
        (
            "waitForReady",
            boolean().about(
                "waitForReady lets nodes that are not ready or are cordoned wait until they are ready and uncordoned. By default, \
                 they are changed like other nodes if their agent runs.",
            ),
        ),
        (
            "maxFailures",
            number(1, 100_000)
                .about(
                    "maxFailures is the number of failed nodes that stops the rollout. Defaults to the value of maxUnavailable. If it \
                     is greater, the rollout continues after maxUnavailable failures, one node at a time.",
                ),
        ),
        (
            "soak",
            number(0, 3600).about(
                "soak is how long a node is watched after it was configured, in seconds. A node that becomes not ready in this \
                 time counts as failed. The next nodes do not wait for it. Defaults to 60.",
            ),
        ),
    ])
    .rule(
        "!(has(self.abort) && self.abort && has(self.undo) && self.undo)",
        "abort and undo must not both be set: abort leaves the nodes as they are, undo returns them to the previous version",
    )
    .about("rollout controls how the policy is applied to its nodes.")
    // What server-side apply makes of `rollout: {}` when the fields in it were its own.
    .with("nullable", true)
}

/// Each a string or a mapping, which a schema cannot say: admission checks them (`admission.rs`).
fn probes() -> Value {
    list(anything())
        .at_most(32)
        .with("x-kubernetes-list-type", "atomic")
        .about(
            "probes are the connectivity checks that must pass after the change if they passed before it; otherwise the change is \
             rolled back. A probe is gateway, gateway:v6, dns, dns:NAME, apiServer, nodeReady, tcp:HOST:PORT, http(s)://…, or \
             ping:ADDRESS, optionally followed by ',timeout=5s', of at most 60s. The long form is {probe: …, timeout: 5s}. Defaults \
             to gateway, dns, apiServer and nodeReady. An empty list disables the probes of this policy; policies that are \
             applied together must pass the probes of all of them.",
        )
}

fn status() -> Value {
    object([
        ("conditions", conditions("Available, Degraded, Progressing and Ignored")),
        (
            "observedGeneration",
            long().about("observedGeneration is the metadata.generation that this status belongs to."),
        ),
        ("maxUnavailable", integer().about("maxUnavailable is spec.maxUnavailable as a number of nodes.")),
        ("nodes", counts()),
        ("waves", waves()),
        ("blockedNodes", blocked_nodes()),
        (
            "failedNodes",
            list(string()).with("x-kubernetes-list-type", "atomic").about(
                "failedNodes lists the nodes that failed at this generation, at most 100, also those that the policy no longer \
                 selects. They count as failed and are not tried again until the policy is edited.",
            ),
        ),
        (
            "soakingNodes",
            list(string()).with("x-kubernetes-list-type", "atomic").about(
                "soakingNodes lists the first 10 nodes that were configured less than rollout.soak ago.",
            ),
        ),
        (
            "unavailableNodeCountMap",
            map(integer()).about(
                "unavailableNodeCountMap is the number of nodes being changed, by generation of the policy.",
            ),
        ),
        ("unavailableNodeCount", integer().about("unavailableNodeCount is deprecated and never set.")),
        (
            "lastUnavailableNodeCountUpdate",
            time().about("lastUnavailableNodeCountUpdate is deprecated and never set."),
        ),
    ])
    .about("status is the progress of the rollout. Only the operator writes it.")
}

fn counts() -> Value {
    object([
        ("matching", "matching is the number of nodes that the policy selects."),
        ("available", "available is the number of nodes that are configured."),
        ("progressing", "progressing is the number of nodes that are being changed."),
        ("pending", "pending is the number of nodes that wait for their turn."),
        ("failing", "failing is the number of nodes on which the policy failed."),
        ("aborted", "aborted is the number of nodes that will not be changed because the rollout stopped."),
        (
            "notReady",
            "notReady is the number of nodes that have no running agent or that rollout.waitForReady lets wait. They are \
             configured when they become ready.",
        ),
    ]
    .map(|(name, about)| (name, integer().about(about))))
    .about("nodes counts the nodes of the policy by their state.")
}

fn waves() -> Value {
    object([
        ("current", integer().about("current is the number of the current wave.")),
        ("total", integer().about("total is the number of waves.")),
    ])
    .about("waves is the progress of the rollout in groups of maxUnavailable nodes.")
}

fn blocked_nodes() -> Value {
    let blocked = object([
        ("node", string().about("node is the name of the node.")),
        ("reason", string().about("reason is why the node failed or does not proceed.")),
    ]);
    list(blocked)
        .with("x-kubernetes-list-type", "atomic")
        .about("blockedNodes lists the first 10 nodes that failed or do not proceed, and why.")
}
