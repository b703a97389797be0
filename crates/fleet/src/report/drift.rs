//! Whether a node is still as it was applied.

use linesman_api::condition::{Condition, Truth};
use linesman_api::conditions::enactment::DRIFTED;
use linesman_api::reasons::enactment as reasons;

use super::message;
use linesman_core::compare::Difference;

pub fn drift(differences: &[Difference]) -> Condition {
    match differences {
        [] => Condition::new(DRIFTED, Truth::False, reasons::IN_STEP, ""),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!("; {} more", rest.len()) };
            let message = format!("{}{more}", message::difference(first));
            Condition::new(DRIFTED, Truth::True, reasons::DRIFTED, message::short(&message))
        }
    }
}
