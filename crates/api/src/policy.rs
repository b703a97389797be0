//! NodeNetworkConfigurationPolicy: the desired network state of many nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::condition::Condition;
use crate::options::{Drift, OnDelete, Options};
use crate::selector::{Labels, Selector, has_all};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicySpec {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: Labels,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_label_selector: Option<Selector>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, String>,
    /// None: nothing is applied, and that succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostOverlay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrPercent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::options::probes")]
    pub probes: Option<Vec<String>>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_delete: Option<OnDelete>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_config_pool_selector: Option<Selector>,
}

impl PolicySpec {
    pub fn selects(&self, labels: &Labels) -> bool {
        has_all(labels, &self.node_selector)
            && self.node_label_selector.as_ref().is_none_or(|selector| selector.matches(labels))
    }

    pub fn options(&self) -> Options {
        Options {
            priority: self.priority.unwrap_or_default(),
            on_delete: self.on_delete.unwrap_or_default(),
            drift: self.drift.unwrap_or_default(),
            probes: self.probes.clone(),
            patience: self.patience,
        }
    }
}

/// How a policy is applied to its nodes. Any edit is a new generation: failed nodes are tried again, configured ones are left
/// alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rollout {
    /// No further node starts.
    #[serde(skip_serializing_if = "is_false")]
    pub paused: bool,
    /// No further node starts, and the rest counts as aborted.
    #[serde(skip_serializing_if = "is_false")]
    pub abort: bool,
    /// Nodes that have this version return to the previous one.
    #[serde(skip_serializing_if = "is_false")]
    pub undo: bool,
    /// Nodes that are changed first; the others wait until all of these are configured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub canary: Vec<String>,
    /// Nodes that are not ready or are cordoned are changed only when they no longer are.
    #[serde(skip_serializing_if = "is_false")]
    pub wait_for_ready: bool,
    /// The number of failed nodes that stops the rollout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_failures: Option<i64>,
    /// Seconds after a node was configured in which it must not become not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soak: Option<u64>,
}

/// What overrides the desired state on one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostOverlay {
    #[serde(rename = "match")]
    pub matching: HostMatch,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<Value>,
}

/// Exactly one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostMatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac_address: Option<String>,
}

/// `3` or `"30%"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrPercent {
    Int(i64),
    Text(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyStatus {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `spec.maxUnavailable` as a number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves: Option<Waves>,
    /// The first few nodes that failed or do not proceed, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_nodes: Vec<BlockedNode>,
    /// Nodes that failed at this generation, also if they left the policy since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_nodes: Vec<String>,
    /// The first few nodes that were configured less than `rollout.soak` ago.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soaking_nodes: Vec<String>,
    /// As kubernetes-nmstate shows it; derived, and never read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unavailable_node_count_map: BTreeMap<String, u64>,
    /// Of old versions of kubernetes-nmstate; never written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable_node_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_unavailable_node_count_update: Option<Time>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCounts {
    pub matching: u64,
    pub available: u64,
    pub progressing: u64,
    pub pending: u64,
    pub failing: u64,
    pub aborted: u64,
    /// Not ready, cordoned or without an agent; configured when they become ready.
    pub not_ready: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Waves {
    pub current: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockedNode {
    pub node: String,
    pub reason: String,
}

fn is_false(b: &bool) -> bool {
    !b
}
