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
