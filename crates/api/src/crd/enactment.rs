//! NodeNetworkConfigurationEnactment

use serde_json::Value;

use super::schema::*;
use super::{Definition, column};
use crate::kinds;

pub fn crd() -> Value {
    Definition {
        kind: kinds::ENACTMENT,
        about: "One policy on one node: the operator's instruction, and what became of it.",
        fields: vec![("spec", spec()), ("status", status())],
        columns: vec![
            column("Status", "string", "type"),
            column("Status Age", "date", "lastTransitionTime"),
            column("Reason", "string", "reason"),
        ],
    }
    .build(|schema| schema.with("x-kubernetes-preserve-unknown-fields", true))
}

fn spec() -> Value {
    let policy = object([("name", short(63)), ("uid", short(64)), ("generation", long())]);
    let policy = policy.required(&["name", "uid", "generation"]);
    object([
        ("policy", policy.rule("self.name == oldSelf.name", "an enactment belongs to one policy for good")),
        ("desiredState", free().about("For this node: what single hosts want is merged in.")),
        ("capture", map(string())),
        ("options", options()),
        ("revert", boolean().about("Undo what the policy changed, instead of applying it.")),
        (
            "stage",
            word(&["Bound", "Claimed", "Released", "Expired"])
                .about("How far the operator lets it go. The agent begins only what is Released."),
        ),
        ("attempt", long().about("Counts the tries on this node; the status says which one it answers.")),
        ("releaseExpires", time().about("The agent may begin until then; of what is not released, when the last release ended. Only grows.")),
        ("previous", previous()),
    ])
    .required(&["policy", "stage"])
    .rule(
        "self.stage != 'Released' || has(self.releaseExpires)",
        "what is Released needs releaseExpires: no release holds for ever",
    )
    .about("Written by the operator alone.")
}

fn options() -> Value {
    object([
        ("priority", long()),
        ("onDelete", word(&["Retain", "Revert"])),
        ("drift", word(&["Ignore", "Report", "Correct"])),
        ("probes", list(string()).with("x-kubernetes-list-type", "atomic")),
        ("patience", long()),
    ])
}

fn previous() -> Value {
    object([("generation", long()), ("desiredState", free()), ("capture", map(string()))])
        .about("The last version that held on this node: where rollout.undo goes.")
}

fn status() -> Value {
    let info = || object([("version", string()), ("time", time())]);
    object([
        ("desiredState", free().about("As it was applied: captures filled in, secrets masked.")),
        ("desiredStateMetaInfo", info()),
        ("capturedStates", map(object([("state", free()), ("metaInfo", info())]))),
        ("policyGeneration", long()),
        ("attempt", long()),
        ("observedGeneration", long()),
        ("conditions", conditions()),
        ("features", list(string()).with("x-kubernetes-list-type", "set")),
        ("retryCount", map(integer())),
    ])
    .about("Written by the agent of the node; Pending and Aborted by the operator.")
}
