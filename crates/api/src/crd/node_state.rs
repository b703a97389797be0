//! NodeNetworkState

use serde_json::Value;

use super::Definition;
use super::schema::*;
use crate::kinds;

pub fn crd() -> Value {
    let status = object([
        ("currentState", free().about("An NMState document.")),
        (
            "omitted",
            list(string())
                .with("x-kubernetes-list-type", "atomic")
                .about("What currentState leaves out; empty when it is complete."),
        ),
        ("lastSuccessfulUpdateTime", time()),
        ("hostNetworkManagerVersion", string()),
        ("handlerNmstateVersion", string()),
        ("handlerNetworkManagerVersion", string()),
        ("conditions", conditions()),
    ]);
    Definition {
        kind: kinds::NODE_STATE,
        about: "The network of a node as its agent sees it.",
        fields: vec![("status", status)],
        columns: vec![],
    }
    .build(|schema| schema)
}
