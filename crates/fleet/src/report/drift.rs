//! Whether a node is still as it was applied.

use linesman_api::condition::{Condition, Truth};
use linesman_api::conditions::EnactmentCondition::Drifted;
use linesman_api::reasons::EnactmentReason;

use super::message;
use linesman_core::compare::Difference;

pub fn drift(differences: &[Difference]) -> Condition {
    match differences {
        [] => Condition::new(Drifted, Truth::False, EnactmentReason::InSync, ""),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!("; {} more", rest.len()) };
            let message = format!("{}{more}", message::difference(first));
            Condition::new(Drifted, Truth::True, EnactmentReason::HostDrifted, message::short(&message))
        }
    }
}
