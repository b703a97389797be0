//! What is published to the cluster: an enactment's conditions from how a change ended, a node's state from what was seen. Pure.
//!
//! The status of a policy comes with the decision about it: [`crate::rollout`].

mod drift;
mod enactment;
mod glob;
mod message;
mod node_state;
mod volatile;
mod within;

pub use drift::drift;
pub use enactment::{applying, ended, refused, retrying, unknown};
pub use glob::Glob;
pub use linesman_core::outcome::{Category, Outcome, Verdict};
pub use node_state::{AgentFacts, BUDGET, NodeStateReport, report, update};
