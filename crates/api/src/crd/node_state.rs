//! NodeNetworkState

use serde_json::Value;

use super::Definition;
use super::schema::*;
use crate::kinds;

pub fn crd() -> Value {
    let status = object([
        (
            "currentState",
            free().about("currentState is the network state of the node, as an NMState document."),
        ),
        (
            "omitted",
            list(short(4096)).at_most(1024).with("x-kubernetes-list-type", "atomic").about(
                "omitted lists what currentState leaves out. It is empty when currentState is complete.",
            ),
        ),
        (
            "lastSuccessfulUpdateTime",
            time().about("lastSuccessfulUpdateTime is when currentState was last updated."),
        ),
        (
            "hostNetworkManagerVersion",
            string().about("hostNetworkManagerVersion is the version of NetworkManager on the node."),
        ),
        (
            "handlerNmstateVersion",
            string().about("handlerNmstateVersion is the version of NMState that the agent was built with."),
        ),
        (
            "handlerNetworkManagerVersion",
            string().about(
                "handlerNetworkManagerVersion is the version of NetworkManager that the agent talks to.",
            ),
        ),
        (
            "sealingKey",
            public_key().about(
                "sealingKey is the X25519 public key of the agent, in base64. The operator encrypts the values of Secrets for this \
                 node to it. The private key does not leave the node.",
            ),
        ),
        (
            "firstBoot",
            first_boot().about("firstBoot is what became of the document that the node was installed with."),
        ),
        ("conditions", conditions("Available and Failing")),
    ])
    .about("status is the observed network state, written by the agent on the node.");
    Definition {
        kind: kinds::NODE_STATE,
        about: "NodeNetworkState is the network state of one node, as the agent on the node observes it.",
        fields: vec![("status", status)],
        columns: vec![],
    }
    .build(|schema| schema)
}

fn first_boot() -> Value {
    object([
        (
            "state",
            short(64).about(
                "state is Applied, Failed (the next boot tries again), NotLive (changed since it was applied, or not applied yet), \
                 Superseded (policies declare its interfaces), Ambiguous (the documents of several hosts match) or Withdrawn.",
            ),
        ),
        ("message", short(4096).about("message says why.")),
        ("document", short(256).about("document is the name of the file that was selected for the node.")),
        ("hash", short(128).about("hash is the SHA-256 of that file.")),
        (
            "appliedHash",
            short(128).about("appliedHash is the SHA-256 of the file that the node was last brought to."),
        ),
        ("since", time().about("since is when the node entered this state.")),
    ])
}
