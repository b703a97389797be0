//! A policy: a desired state with a name, and what its author wants beside it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use linesman_api::options::{Drift, OnDelete, Options};

/// A desired state that is kept, not just applied once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub name: String,
    /// The desired state, in canonical form where policies are composed for a host.
    pub state: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Value>,
    #[serde(default)]
    pub options: Options,
}
