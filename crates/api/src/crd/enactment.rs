//! NodeNetworkConfigurationEnactment

use serde_json::Value;

use super::schema::*;
use super::{Definition, column};
use crate::kinds;
use crate::limits::SEALED_SECRETS;

pub fn crd() -> Value {
    Definition {
        kind: kinds::ENACTMENT,
        about: "NodeNetworkConfigurationEnactment is the application of one NodeNetworkConfigurationPolicy to one node. \
                The operator creates it and writes its spec; the agent on the node reports the result in its status.",
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
    object([
        ("policy", policy()),
        (
            "desiredState",
            free().about(
                "desiredState is the NMState document for this node: spec.desiredState of the policy merged with the entry of \
                 spec.hosts that matches the node.",
            ),
        ),
        ("capture", map(string()).about("capture is copied from spec.capture of the policy.")),
        ("options", options()),
        (
            "revert",
            boolean().about("revert makes the agent revert what the policy changed on the node, instead of applying it."),
        ),
        (
            "purpose",
            word(&["Rollout", "Repeat", "Undo"]).about(
                "purpose is why the node is instructed. Rollout: the node does not have this version yet. Repeat: the node has \
                 it, and its options changed or it is corrected. Undo: rollout.undo returns the node to it. Defaults to Rollout.",
            ),
        ),
        (
            "stage",
            word(&["Bound", "Claimed", "Released", "Expired"]).about(
                "stage is how far the rollout has come on this node. Bound: the node waits for its turn. Claimed: the node has \
                 a place within maxUnavailable, but may not start yet. Released: the agent applies the enactment. Expired: the \
                 agent did not report in time, which counts as a failure.",
            ),
        ),
        (
            "attempt",
            long().about(
                "attempt counts how often the operator has tried to apply the policy to this node. status.attempt is the \
                 attempt that the status belongs to.",
            ),
        ),
        (
            "releaseExpires",
            time().about(
                "releaseExpires is the time by which the agent must have reported after a release. In other stages it is the \
                 time of the last release. It never decreases.",
            ),
        ),
        (
            "notReadySince",
            time().about(
                "notReadySince is set if the node was not ready when it was released: since when, as its condition Ready says.",
            ),
        ),
        (
            "failedSoak",
            time().about(
                "failedSoak is when the node became not ready within rollout.soak after this attempt had succeeded. The node \
                 counts as failed until the policy is edited.",
            ),
        ),
        (
            "matchedMac",
            short(64).about(
                "matchedMac is the MAC address by which an entry of spec.hosts of the policy matched the node. While this enactment \
                 exists, the address matches no other node.",
            ),
        ),
        ("sealedSecrets", sealed_secrets()),
        ("previous", previous()),
    ])
    .required(&["policy", "stage"])
    .rule("self.stage != 'Released' || has(self.releaseExpires)", "releaseExpires is required when stage is Released")
    .about("spec is what the agent on the node should do. Only the operator writes it.")
}

fn sealed_secrets() -> Value {
    object([
        (
            "key",
            public_key().about("key is the public key of the node: status.sealingKey of its NodeNetworkState at the release."),
        ),
        (
            "message",
            short(SEALED_SECRETS).about(
                "message contains the values, encrypted with HPKE (RFC 9180) and bound to this node, policy and release. In base64.",
            ),
        ),
    ])
    .required(&["key", "message"])
    .about(
        "sealedSecrets are the values of the Secrets that desiredState refers to, read by the operator for this release. Only the \
         agent on this node can decrypt them.",
    )
}

fn policy() -> Value {
    object([
        ("name", short(63).about("name is the name of the policy.")),
        ("uid", short(64).about("uid is the UID of the policy.")),
        (
            "generation",
            long().about("generation is the metadata.generation of the policy that desiredState comes from."),
        ),
    ])
    .required(&["name", "uid", "generation"])
    .rule("self.name == oldSelf.name", "policy.name is immutable")
    .about("policy identifies the policy that is applied.")
}

fn options() -> Value {
    object([
        ("priority", long().about("priority is copied from the policy.")),
        ("onDelete", word(&["Retain", "Revert"]).about("onDelete is copied from the policy.")),
        ("drift", word(&["Ignore", "Report", "Correct"]).about("drift is copied from the policy.")),
        (
            "probes",
            list(string())
                .with("x-kubernetes-list-type", "atomic")
                .about("probes are the probes of the policy, each in its short form."),
        ),
        ("patience", long().about("patience is copied from the policy, in seconds.")),
    ])
    .about("options are the settings of the policy that the agent needs.")
}

fn previous() -> Value {
    object([
        ("generation", long().about("generation is the metadata.generation of the policy at that time.")),
        ("desiredState", free().about("desiredState is the NMState document that was applied.")),
        ("capture", map(string()).about("capture is the capture that was used.")),
    ])
    .about(
        "previous is the last version of the policy that was applied to this node successfully. rollout.undo returns the node \
         to it.",
    )
}

fn meta_info(of: &str) -> Value {
    object([
        ("version", string().about("version is the version of the document.")),
        ("time", time().about("time is when the document was generated.")),
    ])
    .about(&format!("{of} describes the origin of the document."))
}

fn status() -> Value {
    let captured = object([
        ("state", free().about("state is the captured NMState document.")),
        ("metaInfo", meta_info("metaInfo")),
    ]);
    object([
        (
            "desiredState",
            free().about("desiredState is the NMState document as it was applied: captures are resolved, secrets are masked."),
        ),
        ("desiredStateMetaInfo", meta_info("desiredStateMetaInfo")),
        ("capturedStates", small_map(256, captured).about("capturedStates are the results of the captures, by name.")),
        (
            "policyGeneration",
            long().about("policyGeneration is the metadata.generation of the policy that this status belongs to."),
        ),
        ("attempt", long().about("attempt is the spec.attempt that this status belongs to.")),
        (
            "observedGeneration",
            long().about("observedGeneration is the metadata.generation of this enactment that the agent has acted on."),
        ),
        ("conditions", conditions("Available, Failing, Progressing, Pending, Aborted and Drifted")),
        (
            "requestsRelease",
            short(63).about(
                "requestsRelease is why the agent asks to be released again. Drifted: drift must be corrected. RecordLost: the \
                 agent has lost its record of the policy. ConflictEnded: the policy that this one conflicted with is gone.",
            ),
        ),
        (
            "features",
            list(short(256))
                .at_most(256)
                .with("x-kubernetes-list-type", "set")
                .about("features are the NMState features that the desired state uses."),
        ),
        ("retryCount", small_map(256, integer()).about("retryCount is the number of retries, by generation of the policy.")),
    ])
    .about("status is reported by the agent on the node. The operator writes the conditions Pending and Aborted.")
}
