//! What people are told when the status of a policy changes, and how soon.

use linesman_api::condition::Condition;
use linesman_api::conditions::policy::{AVAILABLE, DEGRADED, IGNORED, PROGRESSING};
use linesman_api::policy::PolicyStatus;
use linesman_api::reasons::{event, policy as reasons};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusUrgency {
    /// Nothing is new.
    Unchanged,
    Now,
    /// Only numbers differ: now and then will do, so that a status is not written for every node.
    Later,
}

/// An event on the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyEvent {
    pub warning: bool,
    pub reason: &'static str,
    pub message: String,
}

/// Both with times.
pub fn urgency(old: &PolicyStatus, new: &PolicyStatus) -> StatusUrgency {
    if old == new {
        StatusUrgency::Unchanged
    } else if summary(old) != summary(new) || is_edit(old, new) || failing(new) > failing(old) {
        StatusUrgency::Now
    } else {
        StatusUrgency::Later
    }
}

/// Follows from the change alone: whoever writes the status tells this, once.
pub fn policy_event(old: &PolicyStatus, new: &PolicyStatus) -> Option<PolicyEvent> {
    let condition = truth(new)?;
    let is_new = summary(old) != summary(new);
    let again = is_new || is_edit(old, new);
    let (warning, reason) = match (condition.kind.as_str(), condition.reason.as_str()) {
        (DEGRADED, reasons::CONFLICT) if again => (true, event::CONFLICT),
        (DEGRADED, reasons::FAILED) if again || failing(new) > failing(old) => (true, event::FAILED),
        (PROGRESSING, reasons::PAUSED) if again => (false, event::PAUSED),
        (PROGRESSING, reasons::PROGRESSING) if again => (false, event::STARTED),
        (AVAILABLE, _) if is_new => (false, event::FINISHED),
        (IGNORED, _) if is_new => (false, event::IGNORED),
        _ => return None,
    };
    let mut message = condition.message.clone();
    if let Some(held) = new.held.first().filter(|_| reason == event::FAILED) {
        message += &format!("; {}: {}", held.node, held.reason);
    }
    Some(PolicyEvent { warning, reason, message })
}

fn truth(status: &PolicyStatus) -> Option<&Condition> {
    status.conditions.iter().find(|condition| condition.is_true())
}

fn summary(status: &PolicyStatus) -> Option<(&str, &str)> {
    truth(status).map(|condition| (condition.kind.as_str(), condition.reason.as_str()))
}

fn is_edit(old: &PolicyStatus, new: &PolicyStatus) -> bool {
    old.observed_generation != new.observed_generation
}

fn failing(status: &PolicyStatus) -> u64 {
    status.nodes.map_or(0, |nodes| nodes.failing)
}

#[cfg(test)]
mod tests {
    use linesman_api::condition::Truth;
    use linesman_api::policy::{Held, NodeCounts};

    use super::*;

    fn status(kind: &str, reason: &str, generation: i64, failing: u64) -> PolicyStatus {
        PolicyStatus {
            conditions: vec![Condition::new(kind, Truth::True, reason, "so it stands")],
            observed_generation: Some(generation),
            nodes: Some(NodeCounts { failing, ..NodeCounts::default() }),
            ..PolicyStatus::default()
        }
    }

    fn event_of(old: &PolicyStatus, new: &PolicyStatus) -> Option<(bool, &'static str)> {
        policy_event(old, new).map(|policy_event| (policy_event.warning, policy_event.reason))
    }

    #[test]
    fn what_matters_is_written_at_once_and_numbers_later() {
        let none = PolicyStatus::default();
        let going = status(PROGRESSING, reasons::PROGRESSING, 1, 0);
        assert_eq!(urgency(&none, &going), StatusUrgency::Now);
        assert_eq!(urgency(&going, &going), StatusUrgency::Unchanged);
        let mut further = going.clone();
        further.conditions[0].message = "2 of 3".into();
        assert_eq!(urgency(&going, &further), StatusUrgency::Later);
        assert_eq!(urgency(&going, &status(PROGRESSING, reasons::PROGRESSING, 2, 0)), StatusUrgency::Now);
        assert_eq!(urgency(&going, &status(AVAILABLE, reasons::CONFIGURED, 1, 0)), StatusUrgency::Now);
    }

    #[test]
    fn every_turn_of_a_rollout_gives_one_event() {
        let none = PolicyStatus::default();
        let going = status(PROGRESSING, reasons::PROGRESSING, 1, 0);
        let done = status(AVAILABLE, reasons::CONFIGURED, 1, 0);
        let failed = |many| status(DEGRADED, reasons::FAILED, 1, many);
        assert_eq!(event_of(&none, &going), Some((false, event::STARTED)));
        assert_eq!(event_of(&going, &going), None);
        assert_eq!(event_of(&going, &done), Some((false, event::FINISHED)));
        assert_eq!(event_of(&going, &failed(1)), Some((true, event::FAILED)));
        assert_eq!(event_of(&failed(1), &failed(1)), None);
        assert_eq!(event_of(&failed(1), &failed(2)), Some((true, event::FAILED)));
        assert_eq!(
            event_of(&going, &status(PROGRESSING, reasons::PAUSED, 2, 0)),
            Some((false, event::PAUSED))
        );
        assert_eq!(event_of(&done, &status(AVAILABLE, reasons::CONFIGURED, 2, 0)), None);
        assert_eq!(
            event_of(&none, &status(DEGRADED, reasons::CONFLICT, 1, 0)),
            Some((true, event::CONFLICT))
        );
        assert_eq!(event_of(&none, &status(IGNORED, reasons::NO_NODE, 1, 0)), Some((false, event::IGNORED)));
    }

    #[test]
    fn a_failure_names_its_first_node() {
        let mut failed = status(DEGRADED, reasons::FAILED, 1, 1);
        failed.held = vec![Held { node: "w1".into(), reason: "the gateway is silent".into() }];
        let event = policy_event(&PolicyStatus::default(), &failed).unwrap();
        assert_eq!(event.message, "so it stands; w1: the gateway is silent");
    }
}
