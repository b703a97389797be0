//! What an earlier life of this agent began and did not answer for: the journal knows how it ended.

use linesman_core::keep::{Entry, Ledger, Standing};
use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Policy;
use linesman_core::secrets::left_open;
use linesman_core::verify::verify;
use linesman_engine::desired;
use linesman_engine::journal::Record;
use linesman_fleet::enact::{Order, Planned};
use linesman_fleet::report;
use serde_json::Value;

use super::{Cluster, ending};
use crate::act::{self, Attempt, Ready};
use crate::{clock, say};

impl Cluster {
    /// Call when the journal has nothing unfinished. `state` is the host as it is now.
    pub fn settle_earlier(&mut self, ledger: &mut Ledger, records: &[Record], state: &Value) {
        for (name, order) in self.orders.0.iter_mut().filter(|(_, order)| !order.ended) {
            let recorded = outcome(name, order, records);
            let touched = recorded.as_ref().is_some_and(|outcome| outcome.verdict != Verdict::Abandoned);
            if !touched && is_tried_again(order, ledger.get(name)) {
                continue;
            }
            say::info(format!("policy {name}: an earlier agent did not say how it ended"));
            let found = recorded.or_else(|| holds(order, state));
            let ending = match found {
                Some(outcome) => {
                    let attempt = Attempt::Ended(Box::new(outcome));
                    enter(ledger, name, order, &attempt);
                    ending(&attempt)
                }
                None => order.after_a_crash(ledger.get(name)),
            };
            order.answer(report::ended(&ending, order.revert), true);
        }
        self.store();
    }
}

fn is_tried_again(order: &Order, entry: Option<&Entry>) -> bool {
    let same = |entry: &&Entry| order.policy.as_ref() == Some(&entry.policy);
    entry.filter(same).is_some_and(|entry| matches!(entry.standing, Standing::Waiting { .. }))
}

/// By the newest record of this very instruction.
fn outcome(name: &str, order: &Order, records: &[Record]) -> Option<Outcome> {
    let since = clock::written(order.taken);
    let own = |record: &&Record| record.started >= since && record.concerns(name, order.revert);
    records.iter().rev().find(own)?.outcome.clone()
}

/// Nothing had to be done, so the journal was not asked; or it has forgotten.
fn holds(order: &Order, state: &Value) -> Option<Outcome> {
    let policy = order.policy.as_ref().filter(|policy| !order.revert && policy.capture.is_none())?;
    let wanted = desired::canonical(&left_open(&policy.state)).ok().filter(|_| !state.is_null())?;
    verify(&wanted, state, state).is_empty().then(Outcome::unchanged)
}

/// Whether the ledger did not hear how it ended.
fn is_open(entry: &Entry, policy: &Policy) -> bool {
    entry.policy != *policy || matches!(entry.standing, Standing::Waiting { .. })
}

fn enter(ledger: &mut Ledger, name: &str, order: &Order, attempt: &Attempt) {
    let untouched = matches!(attempt, Attempt::Ended(outcome) if outcome.verdict == Verdict::Abandoned);
    match &order.policy {
        _ if untouched => {}
        _ if order.revert && attempt.succeeded() => {
            ledger.0.remove(name);
        }
        _ if order.revert => {}
        Some(policy) if ledger.get(name).is_none_or(|entry| is_open(entry, policy)) => {
            let ready = order.plan.clone().map(|Planned { state, back }| Ready {
                policy: policy.clone(),
                kept: state.clone(),
                state,
                back,
            });
            act::enter(ledger, policy, ready.as_ref(), attempt);
        }
        _ => {}
    }
}
