//! NodeNetworkConfigurationEnactment: one policy on one node. The operator writes the spec, the agent the status.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::condition::Condition;
use crate::options::Options;
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnactmentSpec {
    pub policy: PolicyRef,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, String>,
    pub options: Options,
    /// Undo what the policy changed, instead of applying it. Never inferred from something that is missing.
    #[serde(skip_serializing_if = "is_false")]
    pub revert: bool,
    /// Why the node is instructed: tells whether it had this version already.
    #[serde(skip_serializing_if = "is_rollout")]
    pub purpose: Purpose,
    pub stage: Stage,
    /// Counts the operator's attempts on this node; `status.attempt` is the one that the status belongs to.
    pub attempt: i64,
    /// The operator sets `Expired` then. Always later than that of the release before: so an agent recognises a new release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_expires: Option<Time>,
    /// Set if the node was not ready when it was released: since when, as its object said. Only ever compared for equality: whether
    /// the node was ready in between is known without its clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_ready_since: Option<Time>,
    /// When the node became not ready, soon after this attempt had succeeded: it counts as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_soak: Option<Time>,
    /// The MAC address by which an entry of `hosts` matched the node: it stays with this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_mac: Option<String>,
    /// The values of the Secrets that `desired_state` refers to, for this node and this release alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_secrets: Option<SealedSecrets>,
    /// The last version that was applied successfully: what `rollout.undo` returns to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyRef {
    pub name: String,
    pub uid: String,
    pub generation: i64,
}

/// Only the node can open it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SealedSecrets {
    /// The public key of the node, as its NodeNetworkState had it.
    pub key: String,
    pub message: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The node waits for its turn.
    #[default]
    Bound,
    /// Has a slot, but may not start. Only an operator that sees this claim together with all earlier ones releases it: so two
    /// operators at once cannot exceed the limit.
    Claimed,
    /// May start. The agent first writes so to the status, for the version that it read: a release that was withdrawn in
    /// between is not started.
    Released,
    /// Did not finish in time, and counts as failed. A later report of the agent is accepted.
    Expired,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// A version that the node does not have.
    #[default]
    Rollout,
    /// The version that the node has: its options changed, or it is corrected.
    Repeat,
    /// The version before, as `rollout.undo` asks for.
    Undo,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Previous {
    pub generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnactmentStatus {
    /// As it was applied on this node: captures are resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state_meta_info: Option<MetaInfo>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub captured_states: BTreeMap<String, CapturedState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_generation: Option<i64>,
    /// `spec.attempt` that this status belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<i64>,
    /// `metadata.generation` of this enactment that the agent acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Why the agent asks to be released again, a `ReleaseRequest`: it changes nothing by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_release: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub retry_count: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapturedState {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_info: Option<MetaInfo>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetaInfo {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

fn is_false(b: &bool) -> bool {
    !b
}

fn is_rollout(purpose: &Purpose) -> bool {
    *purpose == Purpose::Rollout
}
