//! A conflict between two policies.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::Path;
use crate::secrets::shown;

/// One place where two policies want different things.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    pub path: Path,
    pub one: Side,
    pub other: Side,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    pub policy: String,
    pub wants: Value,
}

impl Conflict {
    /// The other one, seen from `policy`.
    pub fn other_policy(&self, policy: &str) -> &str {
        if self.one.policy == policy { &self.other.policy } else { &self.one.policy }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let print = |value: &Value| match shown(&self.path, value) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let (one, other) = (&self.one, &self.other);
        write!(
            f,
            "{}: {} wants {}, {} wants {}",
            self.path,
            one.policy,
            print(&one.wants),
            other.policy,
            print(&other.wants)
        )
    }
}
