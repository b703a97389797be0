//! The event that a changed status gives, and how soon the status is written.

use linesman_api::condition::Condition;
use linesman_api::conditions::PolicyCondition::{self, Available, Degraded, Ignored, Progressing};
use linesman_api::policy::{BlockedNode, PolicyStatus};
use linesman_api::reasons::{EventReason, PolicyReason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusUrgency {
    /// Nothing changed.
    Unchanged,
    Now,
    /// Only numbers differ: not written for every single node.
    Later,
}

/// An event on the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyEvent {
    pub warning: bool,
    pub reason: EventReason,
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

/// Follows from the change alone: whoever writes the status publishes it, once.
pub fn policy_event(old: &PolicyStatus, new: &PolicyStatus) -> Option<PolicyEvent> {
    let condition = truth(new)?;
    let is_new = summary(old) != summary(new);
    let again = is_new || is_edit(old, new);
    let kind = PolicyCondition::parse(&condition.kind)?;
    let cause = PolicyReason::parse(&condition.reason)?;
    let (warning, reason) = match (kind, cause) {
        (Degraded, PolicyReason::PoliciesConflict) if again => (true, EventReason::PoliciesConflict),
        (Degraded, PolicyReason::PolicyUnreadable) if again => (true, EventReason::Unreadable),
        (Degraded, PolicyReason::WriteRefused) if again => (true, EventReason::WriteRefused),
        (Degraded, _) if again || failing(new) > failing(old) => (true, EventReason::ReconcileFailed),
        (Progressing, PolicyReason::RolloutPaused) if again => (false, EventReason::RolloutPaused),
        (Progressing, PolicyReason::ConfigurationProgressing) if again => {
            (false, EventReason::RolloutStarted)
        }
        (Available, _) if is_new => (false, EventReason::RolloutFinished),
        (Ignored, _) if is_new => (false, EventReason::NoMatchingNode),
        _ => return None,
    };
    let mut message = condition.message.clone();
    let names_node = matches!(reason, EventReason::ReconcileFailed | EventReason::WriteRefused);
    let unnamed = |first: &&BlockedNode| names_node && !message.contains(&first.reason);
    if let Some(first) = new.blocked_nodes.first().filter(unnamed) {
        message += &format!("; {}: {}", first.node, first.reason);
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
    use linesman_api::policy::NodeCounts;

    use super::*;

    fn status(kind: PolicyCondition, reason: PolicyReason, generation: i64, failing: u64) -> PolicyStatus {
        PolicyStatus {
            conditions: vec![Condition::new(kind, Truth::True, reason, "as it is")],
            observed_generation: Some(generation),
            nodes: Some(NodeCounts { failing, ..NodeCounts::default() }),
            ..PolicyStatus::default()
        }
    }

    fn event_of(old: &PolicyStatus, new: &PolicyStatus) -> Option<(bool, EventReason)> {
        policy_event(old, new).map(|policy_event| (policy_event.warning, policy_event.reason))
    }

    #[test]
    fn what_matters_is_written_at_once_and_numbers_later() {
        let none = PolicyStatus::default();
        let going = status(Progressing, PolicyReason::ConfigurationProgressing, 1, 0);
        assert_eq!(urgency(&none, &going), StatusUrgency::Now);
        assert_eq!(urgency(&going, &going), StatusUrgency::Unchanged);
        let mut further = going.clone();
        further.conditions[0].message = "2 of 3".into();
        assert_eq!(urgency(&going, &further), StatusUrgency::Later);
        assert_eq!(
            urgency(&going, &status(Progressing, PolicyReason::ConfigurationProgressing, 2, 0)),
            StatusUrgency::Now
        );
        assert_eq!(
            urgency(&going, &status(Available, PolicyReason::SuccessfullyConfigured, 1, 0)),
            StatusUrgency::Now
        );
    }

    #[test]
    fn every_transition_of_a_rollout_gives_one_event() {
        let none = PolicyStatus::default();
        let going = status(Progressing, PolicyReason::ConfigurationProgressing, 1, 0);
        let done = status(Available, PolicyReason::SuccessfullyConfigured, 1, 0);
        let failed = |many| status(Degraded, PolicyReason::FailedToConfigure, 1, many);
        assert_eq!(event_of(&none, &going), Some((false, EventReason::RolloutStarted)));
        assert_eq!(event_of(&going, &going), None);
        assert_eq!(event_of(&going, &done), Some((false, EventReason::RolloutFinished)));
        assert_eq!(event_of(&going, &failed(1)), Some((true, EventReason::ReconcileFailed)));
        assert_eq!(event_of(&failed(1), &failed(1)), None);
        assert_eq!(event_of(&failed(1), &failed(2)), Some((true, EventReason::ReconcileFailed)));
        assert_eq!(
            event_of(&going, &status(Progressing, PolicyReason::RolloutPaused, 2, 0)),
            Some((false, EventReason::RolloutPaused))
        );
        assert_eq!(event_of(&done, &status(Available, PolicyReason::SuccessfullyConfigured, 2, 0)), None);
        assert_eq!(
            event_of(&none, &status(Degraded, PolicyReason::PoliciesConflict, 1, 0)),
            Some((true, EventReason::PoliciesConflict))
        );
        assert_eq!(
            event_of(&none, &status(Ignored, PolicyReason::NoMatchingNode, 1, 0)),
            Some((false, EventReason::NoMatchingNode))
        );
    }

    #[test]
    fn a_failure_names_its_first_node() {
        let mut failed = status(Degraded, PolicyReason::FailedToConfigure, 1, 1);
        failed.blocked_nodes =
            vec![BlockedNode { node: "w1".into(), reason: "the gateway does not answer".into() }];
        let event = policy_event(&PolicyStatus::default(), &failed).unwrap();
        assert_eq!(event.message, "as it is; w1: the gateway does not answer");
        failed.conditions[0].message = "w1: the gateway does not answer; trying again".into();
        let event = policy_event(&PolicyStatus::default(), &failed).unwrap();
        assert_eq!(event.message, failed.conditions[0].message, "said once");
    }
}
