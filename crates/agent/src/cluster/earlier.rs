//! Releases whose outcome an earlier run of this agent did not publish: the journal has it.

use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Entry, Ledger, PolicyState};
use linesman_core::secrets::left_open;
use linesman_core::verify::verify;
use linesman_daemon::clock;
use linesman_engine::desired;
use linesman_engine::journal::Record;
use linesman_fleet::enactment::AcceptedRelease;
use serde_json::Value;

use super::Cluster;
use crate::act::Ready;
use crate::attempts::Attempts;

impl Cluster {
    /// Call when the journal has nothing unfinished. `state` is the host as it is now.
    pub fn settle_earlier(
        &mut self,
        ledger: &mut Ledger,
        attempts: &mut Attempts,
        records: &[Record],
        state: &Value,
    ) {
        for (name, release) in self.releases.0.iter_mut().filter(|(_, release)| !release.ended) {
            attempts.forget(name);
            let recorded = recorded_outcome(name, release, records);
            let touched = recorded.as_ref().is_some_and(|outcome| outcome.verdict != Verdict::Abandoned);
            if !touched && is_tried_again(release, ledger.get(name)) {
                continue;
            }
            tracing::info!(policy = name, "the agent was interrupted before it published the outcome");
            let found = recorded.or_else(|| unchanged(release, state));
            let outcome = match found {
                Some(outcome) => {
                    enter(ledger, name, release, &outcome);
                    outcome
                }
                None => release.after_a_crash(ledger.get(name)),
            };
            release.end(&outcome);
        }
        self.store();
    }
}

fn is_tried_again(release: &AcceptedRelease, entry: Option<&Entry>) -> bool {
    let same = |entry: &&Entry| release.policy.as_ref() == Some(&entry.policy);
    entry.filter(same).is_some_and(|entry| matches!(entry.policy_state, PolicyState::Waiting { .. }))
}

/// From the newest record of this very release.
fn recorded_outcome(name: &str, release: &AcceptedRelease, records: &[Record]) -> Option<Outcome> {
    let since = clock::rfc3339(release.accepted_at);
    let own = |record: &&Record| record.started >= since && record.concerns(name, release.revert);
    records.iter().rev().find(own)?.outcome.clone()
}

/// No changes were needed, so the journal has no record; or the record was pruned.
fn unchanged(release: &AcceptedRelease, state: &Value) -> Option<Outcome> {
    let policy = release.policy.as_ref().filter(|policy| !release.revert && policy.capture.is_none())?;
    let wanted = desired::canonical(&left_open(&policy.state)).ok().filter(|_| !state.is_null())?;
    verify(&wanted, state, state).is_empty().then(Outcome::unchanged)
}

/// Whether the ledger has no outcome of it yet.
fn is_open(entry: &Entry, policy: &Policy) -> bool {
    entry.policy != *policy || matches!(entry.policy_state, PolicyState::Waiting { .. })
}

fn enter(ledger: &mut Ledger, name: &str, release: &AcceptedRelease, outcome: &Outcome) {
    let untouched = outcome.verdict == Verdict::Abandoned;
    match &release.policy {
        _ if untouched => {}
        _ if release.revert && outcome.succeeded() => {
            ledger.0.remove(name);
        }
        _ if release.revert => {}
        Some(policy) if ledger.get(name).is_none_or(|entry| is_open(entry, policy)) => {
            let ready = release.plan.clone().map(|plan| Ready::again(policy, plan));
            crate::ledger::enter(ledger, policy, ready.as_ref(), outcome);
        }
        _ => {}
    }
}
