//! NodeNetworkState: the network of a node as its agent sees it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::condition::Condition;
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStateStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_state: Option<Value>,
    /// What `currentState` leaves out, in words; empty when it is complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_successful_update_time: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_network_manager_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler_nmstate_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler_network_manager_version: Option<String>,
    /// The public key to which the operator seals the values of Secrets for this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealing_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_boot: Option<FirstBootStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// What became of the document that the node was installed with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FirstBootStatus {
    pub state: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The name of its file, and SHA-256 of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Of the document that the node was last brought to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}
