//! What this keeper wrote, and so may remove.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::key::Target;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ledger {
    pub written: BTreeMap<Target, Written>,
    /// Changes for which ovs-vswitchd has to be restarted, and the process that it was then.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub awaiting_restart: BTreeMap<Target, String>,
}

/// One value that we wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Written {
    pub value: String,
    /// What was there before; what a log level or a unit goes back to. A key of the database is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// For how long it lasts (`Holds::run`).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// About to be written: a keeper that is killed in between must not take its own write, or its absence, for somebody else's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// How often it was written again because somebody else had changed it.
    #[serde(skip_serializing_if = "is_zero")]
    pub rewrites: u32,
    /// When it was last written, in seconds since 1970.
    pub at: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
