//! Whether a node is still as it was applied.

use linesman_api::condition::{Condition, Truth};
use linesman_api::conditions::EnactmentCondition::Drifted;
use linesman_api::reasons::EnactmentReason;

use super::message;
use linesman_core::compare::Difference;

/// None while the node is as it was applied: kubernetes-nmstate has no such condition, and its users expect exactly its five.
pub fn drift(differences: &[Difference]) -> Option<Condition> {
    let (first, rest) = differences.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!("; {} more", rest.len()) };
    let message = format!("{}{more}", message::difference(first));
    Some(Condition::new(Drifted, Truth::True, EnactmentReason::HostDrifted, message::short(&message)))
}
