//! A conflict between two policies.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::is_secret;
use crate::path::{Path, PathStep};

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
        let secret = matches!(self.path.last(), Some(PathStep::Key(key)) if is_secret(key));
        let print = |value: &Value| match value {
            _ if secret => "(a secret)".to_string(),
            Value::String(text) => text.clone(),
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
