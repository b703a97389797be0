//! Outcomes into the ledger.

use std::time::Duration;

use linesman_core::inverse::younger;
use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Policy;
use linesman_core::reconcile::{CorrectionHistory, Entry, Ledger, PolicyState};
use linesman_daemon::backoff::Backoff;
use linesman_daemon::clock;
use serde_json::Value;

use crate::act::{Ready, reason};

/// After an attempt that made no changes.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(5), Duration::from_secs(300));

/// What becomes of what a policy configured when it is forgotten.
pub fn after_removal(entry: Option<&Entry>) -> &'static str {
    match entry {
        Some(entry) if entry.applied_state.is_null() => "it had changed nothing",
        _ => "its configuration stays on the host",
    }
}

/// A revert that did not begin is tried again later; one that was rolled back would fail again.
pub fn revert_failed(entry: &mut Entry, outcome: &Outcome) {
    let reason = reason(outcome);
    entry.transition(match (outcome.verdict, &entry.policy_state) {
        (Verdict::Abandoned, PolicyState::Waiting { attempts, .. }) => waiting(reason, attempts + 1),
        (Verdict::Abandoned, _) => waiting(reason, 1),
        _ => PolicyState::RevertFailed { reason },
    });
}

/// Why the last attempt of a policy that is tried again changed nothing.
pub fn last_failure(ledger: &Ledger, name: &str) -> Option<String> {
    match &ledger.get(name)?.policy_state {
        PolicyState::Waiting { reason, attempts: 1.., .. } => Some(reason.clone()),
        _ => None,
    }
}

/// The policy is not tried again before the operator releases it again.
pub fn await_release(ledger: &mut Ledger, name: &str) {
    let state = ledger.0.get_mut(name).map(|entry| &mut entry.policy_state);
    if let Some(PolicyState::Waiting { reason, .. }) = state {
        *reason = format!("{reason}; waits for a new release");
    }
}

fn waiting(reason: String, attempts: u32) -> PolicyState {
    PolicyState::Waiting { reason, attempts, until: clock::now() + BACKOFF.after(attempts).as_secs() }
}

/// `ready` is absent if the policy could not be prepared.
pub fn enter(ledger: &mut Ledger, policy: &Policy, ready: Option<&Ready>, outcome: &Outcome) {
    let former = ledger.0.remove(&policy.name);
    let (former_state, former_revert_state, mut corrections) =
        former.as_ref().map_or((Value::Null, Value::Null, CorrectionHistory::default()), |e| {
            (e.applied_state.clone(), e.revert_state.clone(), e.corrections.clone())
        });
    let former_drift = former.as_ref().and_then(|e| e.drifted_since);
    let former_captured = former.as_ref().and_then(|e| e.captured.clone());
    let edited = former.as_ref().is_none_or(|e| e.policy != *policy);
    let before = former.map(|e| e.policy_state);
    let attempts = match &before {
        Some(PolicyState::Waiting { attempts, .. }) if !edited => attempts + 1,
        _ => 1,
    };
    let untouched = outcome.verdict == Verdict::Abandoned;
    let captured = match ready {
        // A version without captures does not make one that has them again resolve them on the host that it changed.
        Some(ready) if outcome.succeeded() => ready.captured.clone().or(former_captured),
        _ => former_captured,
    };
    let (policy_state, applied_state, revert_state) = match ready {
        Some(ready) if outcome.succeeded() => {
            let revert_state = if former_revert_state.is_null() {
                ready.revert_state.clone()
            } else {
                younger(&former_revert_state, &ready.revert_state)
            };
            (PolicyState::Applied, ready.recorded_state.clone(), revert_state)
        }
        // A correction that failed, since another writer changes the same: the policy stays applied, drift is only reported.
        _ if outcome.verdict == Verdict::RolledBack && !edited && before == Some(PolicyState::Applied) => {
            corrections.record_failure(clock::now());
            (PolicyState::Applied, former_state, former_revert_state)
        }
        _ if !untouched => {
            (PolicyState::RolledBack { reason: reason(outcome) }, former_state, former_revert_state)
        }
        _ => (waiting(reason(outcome), attempts), former_state, former_revert_state),
    };
    debug_assert!(policy_state.follows(before.as_ref()), "{before:?} -> {policy_state:?}");
    let drifted_since = former_drift.filter(|_| !edited && !outcome.succeeded());
    let corrections = if edited { CorrectionHistory::default() } else { corrections };
    let entry = Entry {
        policy: policy.clone(),
        policy_state,
        since: clock::now(),
        applied_state,
        revert_state,
        captured,
        drifted_since,
        corrections,
    };
    ledger.0.insert(policy.name.clone(), entry);
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::captures::Captured;
    use linesman_core::outcome::Category;
    use linesman_core::policy::Options;
    use serde_json::json;

    fn policy(mtu: u64) -> Policy {
        let state = json!({ "interfaces": [{ "name": "eth1", "mtu": mtu }] });
        Policy { name: "a".into(), state, capture: None, options: Options::default() }
    }

    fn ready(mtu: u64, before: u64) -> Ready {
        let revert_state =
            json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up", "mtu": before }] });
        Ready {
            policy: policy(mtu),
            state: policy(mtu).state,
            recorded_state: policy(mtu).state,
            revert_state,
            captured: None,
        }
    }

    #[test]
    fn an_edited_policy_still_reverts_to_the_state_before_its_first_version() {
        let mut ledger = Ledger::default();
        let done = Outcome::committed();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &done);
        enter(&mut ledger, &policy(4000), Some(&ready(4000, 9000)), &done);
        let entry = ledger.get("a").unwrap();
        assert_eq!(entry.revert_state["interfaces"][0]["mtu"], 1500);
        assert_eq!(entry.applied_state["interfaces"][0]["mtu"], 4000);
    }

    #[test]
    fn captures_are_kept_over_a_version_without_any() {
        let mut ledger = Ledger::default();
        let found = json!({ "base": { "interfaces": [{ "name": "eth1" }] } });
        let captured = Captured::keep(&json!({ "base": "" }), found, &json!({}), &json!({}), None);
        let with = Ready { captured: Some(captured.clone()), ..ready(9000, 1500) };
        enter(&mut ledger, &policy(9000), Some(&with), &Outcome::committed());
        enter(&mut ledger, &policy(4000), Some(&ready(4000, 9000)), &Outcome::committed());
        assert_eq!(ledger.get("a").unwrap().captured, Some(captured));
    }

    #[test]
    fn what_failed_leaves_the_former_version_applied() {
        let mut ledger = Ledger::default();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &Outcome::committed());
        let bad = Outcome { reason: Some("cut off".into()), ..Outcome::new(Verdict::RolledBack) };
        enter(&mut ledger, &policy(4000), Some(&ready(4000, 9000)), &bad);
        let entry = ledger.get("a").unwrap();
        assert_eq!(entry.policy_state, PolicyState::RolledBack { reason: "cut off".into() });
        assert_eq!(entry.applied_state["interfaces"][0]["mtu"], 9000);
    }

    #[test]
    fn a_failed_correction_is_not_repeated_over_and_over() {
        let mut ledger = Ledger::default();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &Outcome::committed());
        let bad = Outcome { reason: Some("mtu".into()), ..Outcome::new(Verdict::RolledBack) };
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &bad);
        let entry = ledger.get("a").unwrap();
        assert!(entry.is_applied());
        assert!(entry.corrections.paused_until(clock::now()).is_some());
    }

    #[test]
    fn a_correction_that_could_not_be_rolled_back_is_no_detail() {
        let mut ledger = Ledger::default();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &Outcome::committed());
        let bad = Outcome {
            reason: Some("mtu".into()),
            remaining: vec!["eth1 has no address".into()],
            ..Outcome::new(Verdict::Incomplete)
        };
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &bad);
        let entry = ledger.get("a").unwrap();
        let reason = "mtu; the rollback is incomplete: eth1 has no address".to_owned();
        assert_eq!(entry.policy_state, PolicyState::RolledBack { reason });
        assert_eq!(entry.applied_state["interfaces"][0]["mtu"], 9000, "what undoes it is still known");
    }

    #[test]
    fn waits_grow_until_the_policy_is_edited() {
        let mut ledger = Ledger::default();
        let attempts = |ledger: &Ledger| match &ledger.get("a").unwrap().policy_state {
            PolicyState::Waiting { attempts, .. } => *attempts,
            other => panic!("{other:?}"),
        };
        for expected in 1..4 {
            enter(
                &mut ledger,
                &policy(1),
                None,
                &Outcome::abandoned(Category::Environment, "no NetworkManager"),
            );
            assert_eq!(attempts(&ledger), expected);
        }
        enter(&mut ledger, &policy(2), None, &Outcome::abandoned(Category::Input, "no such port"));
        assert_eq!(attempts(&ledger), 1);
    }
}
