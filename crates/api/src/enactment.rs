//! NodeNetworkConfigurationEnactment: one policy on one node. The spec is the operator's instruction, the status the
//! agent's answer.

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
    pub stage: Stage,
    /// Counts the operator's tries on this node; the status says which one it answers.
    pub attempt: i64,
    /// The agent may begin until then; of what is not released, when the last release ended. Only grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_expires: Option<Time>,
    /// The last version that held on this node: what `rollout.undo` goes back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
}

impl EnactmentSpec {
    /// Whether the agent may begin. It says so in the status first, with the resourceVersion that it read: a release
    /// that was withdrawn in between is not begun.
    pub fn may_begin(&self, now: Time) -> bool {
        self.stage == Stage::Released && self.release_expires.is_some_and(|until| now < until)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyRef {
    pub name: String,
    pub uid: String,
    pub generation: i64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The node knows what is to come, and waits.
    #[default]
    Bound,
    /// Has a slot, but may not begin. Becomes a release only in the eyes of somebody who sees this claim beside all earlier
    /// ones: so two operators at once cannot overdraw the limit.
    Claimed,
    /// May begin until `releaseExpires`.
    Released,
    /// Did not end in time, and counts as failed. What the agent reports later is taken.
    Expired,
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
    /// As it was applied on this node: captures filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_state_meta_info: Option<MetaInfo>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub captured_states: BTreeMap<String, CapturedState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_generation: Option<i64>,
    /// `spec.attempt` of the instruction that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<i64>,
    /// `metadata.generation` of this enactment when this was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
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
