//! The status of a policy that the operator cannot read or write for. Nothing that goes wrong with one object is only logged.

use linesman_api::conditions::PolicyCondition::{self, Degraded};
use linesman_api::policy::PolicyStatus;
use linesman_api::reasons::PolicyReason;

use super::facts::PolicyFacts;
use super::status::Summary;

/// `before` is the status that the policy has: what is known of its nodes stays.
pub fn unreadable(policy: &PolicyFacts, before: &PolicyStatus, error: &str) -> PolicyStatus {
    let message = format!(
        "the operator cannot read the policy: {error}; correct the policy, its nodes stay as they are until then"
    );
    degraded(before.clone(), policy, PolicyReason::PolicyUnreadable, message)
}

/// The API server refuses the policy's finalizer or its status: as little as possible is written.
pub fn write_refused(policy: &PolicyFacts, error: &str) -> PolicyStatus {
    let message =
        format!("the API server refuses what the operator writes to the policy: {error}; trying again");
    degraded(PolicyStatus::default(), policy, PolicyReason::WriteRefused, message)
}

fn degraded(
    status: PolicyStatus,
    policy: &PolicyFacts,
    reason: PolicyReason,
    message: String,
) -> PolicyStatus {
    let summary = Summary { condition: Degraded, reason, message };
    let conditions = PolicyCondition::ALL.iter().map(|kind| summary.of(*kind, policy.generation)).collect();
    PolicyStatus { conditions, observed_generation: Some(policy.generation), ..status }
}

#[cfg(test)]
mod tests {
    use linesman_api::condition::find;

    use super::*;

    #[test]
    fn a_policy_that_cannot_be_read_says_why_and_keeps_what_is_known() {
        let policy = PolicyFacts { generation: 4, ..PolicyFacts::default() };
        let before = PolicyStatus { max_unavailable: Some(2), ..PolicyStatus::default() };
        let status = unreadable(&policy, &before, "spec.patience: wrong");
        assert_eq!((status.observed_generation, status.max_unavailable), (Some(4), Some(2)));
        let degraded = find(&status.conditions, Degraded).filter(|condition| condition.is_true()).unwrap();
        assert_eq!(degraded.reason, "PolicyUnreadable");
        assert!(
            degraded.message.contains("spec.patience: wrong; correct the policy"),
            "{}",
            degraded.message
        );
    }
}
