//! What to do next.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ledger, PolicyState, refusals};
use crate::compare::Difference;
use crate::compose::in_order;
use crate::policy::{Drift, OnDelete, Policy};

/// Everything that the decision depends on.
#[derive(Debug)]
pub struct Situation<'a> {
    /// Those that could be read and are right in themselves.
    pub policies: &'a [Policy],
    /// Names whose file is there but wrong: such a policy is not gone.
    pub unreadable: &'a BTreeSet<String>,
    pub ledger: &'a Ledger,
    /// `linesman freeze` was run: nothing is changed.
    pub frozen: bool,
    /// Where the host differs from the applied states.
    pub drift: &'a BTreeMap<String, Vec<Difference>>,
    /// Seconds since 1970.
    pub now: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing to do until something changes or until then.
    Idle { until: Option<u64> },
    /// Their policy is gone, and what they configured stays.
    Forget(Vec<String>),
    /// Its policy is gone, and what it changed is reverted.
    Revert(String),
    /// All of them in one transaction; in the order in which they build on each other.
    Apply(Vec<String>),
    /// What somebody else changed is set to what these policies say.
    Correct(Vec<String>),
}

pub fn decide(situation: &Situation<'_>) -> Next {
    if situation.frozen {
        return Next::Idle { until: None };
    }
    let gone = gone(situation);
    let (revert, forget): (Vec<&str>, Vec<&str>) = gone.iter().partition(|name| {
        let entry = situation.ledger.get(name);
        entry.is_some_and(|e| e.policy.options.on_delete == OnDelete::Revert && !e.revert_state.is_null())
    });
    if !forget.is_empty() {
        return Next::Forget(forget.into_iter().map(str::to_owned).collect());
    }
    if let Some(name) = next_revert(situation, &revert) {
        return Next::Revert(name);
    }
    let pending = pending(situation);
    if !pending.is_empty() {
        return Next::Apply(pending);
    }
    let drifted = drifted(situation);
    if !drifted.is_empty() {
        return Next::Correct(drifted);
    }
    Next::Idle { until: wake(situation) }
}

/// What builds on others goes first, and these wait for it.
fn next_revert(situation: &Situation<'_>, gone: &[&str]) -> Option<String> {
    let entries = gone.iter().filter_map(|name| situation.ledger.get(name));
    let policies: Vec<&Policy> = entries.map(|entry| &entry.policy).collect();
    for policy in in_order(&policies).into_iter().rev() {
        match situation.ledger.get(&policy.name).map(|entry| &entry.policy_state) {
            Some(PolicyState::RevertFailed { .. }) => {}
            Some(PolicyState::Waiting { until, .. }) if *until > situation.now => return None,
            _ => return Some(policy.name.clone()),
        }
    }
    None
}

fn gone<'a>(situation: &Situation<'a>) -> Vec<&'a str> {
    let there =
        |name: &str| situation.policies.iter().any(|p| p.name == name) || situation.unreadable.contains(name);
    situation.ledger.0.keys().map(String::as_str).filter(|name| !there(name)).collect()
}

/// New or edited, and not one that already failed as it is.
fn pending(situation: &Situation<'_>) -> Vec<String> {
    let refused = refusals(situation.policies, situation.ledger);
    let due = |policy: &&Policy| match situation.ledger.get(&policy.name) {
        None => true,
        Some(entry) if entry.policy != **policy => true,
        Some(entry) => match &entry.policy_state {
            PolicyState::Applied | PolicyState::RolledBack { .. } => false,
            PolicyState::Waiting { until, .. } => *until <= situation.now,
            // The policy was recreated before it was reverted.
            PolicyState::RevertFailed { .. } => true,
        },
    };
    let due: Vec<&Policy> =
        situation.policies.iter().filter(|p| !refused.contains_key(&p.name)).filter(due).collect();
    in_order(&due).into_iter().map(|policy| policy.name.clone()).collect()
}

fn drifted(situation: &Situation<'_>) -> Vec<String> {
    let wanted = |name: &&String| {
        let entry = situation.ledger.get(name);
        entry.is_some_and(|e| {
            e.is_applied()
                && e.policy.options.drift == Drift::Correct
                && e.corrections.paused_until(situation.now).is_none()
        })
    };
    let drifted = situation.drift.iter().filter(|(_, differences)| !differences.is_empty());
    drifted.map(|(name, _)| name).filter(wanted).cloned().collect()
}

/// When the first waiting policy is due, or a pause between corrections is over.
fn wake(situation: &Situation<'_>) -> Option<u64> {
    let entries = situation.ledger.0.iter();
    let due = entries.filter_map(|(name, entry)| match entry.policy_state {
        PolicyState::Waiting { until, .. } => Some(until),
        PolicyState::Applied if situation.drift.contains_key(name) => {
            entry.corrections.paused_until(situation.now)
        }
        _ => None,
    });
    due.filter(|until| *until > situation.now).min()
}
