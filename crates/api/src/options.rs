//! What a policy says beside its state.

use serde::{Deserialize, Serialize};

/// Everything has the default that kubernetes-nmstate behaves by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Among policies that do not build on each other, the higher one goes first.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: i64,
    pub on_delete: OnDelete,
    pub drift: Drift,
    /// In the spelling of `linesman apply --probe`; none given: what the host itself suggests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Vec<String>>,
    /// How long probes may take to pass after the change, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDelete {
    /// What the policy made stays.
    #[default]
    Retain,
    /// What the policy changed goes back to what it was.
    Revert,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drift {
    Ignore,
    #[default]
    Report,
    /// Put back what somebody else changed, but do not fight over it.
    Correct,
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}
