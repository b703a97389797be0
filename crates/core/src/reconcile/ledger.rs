//! What is known of every policy of this host.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::captures::Captured;
use crate::compare::Difference;
use crate::policy::Policy;

/// By name of the policy. Survives restarts, so that a host in sync is left alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(pub BTreeMap<String, Entry>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// As it was written when it was last tried.
    pub policy: Policy,
    pub policy_state: PolicyState,
    /// Seconds since 1970.
    pub since: u64,
    /// The last state that was committed, captures filled in. Null while there is none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub applied_state: Value,
    /// What undoes everything that the policy changed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub revert_state: Value,
    /// What the captures of the applied state found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Captured>,
    /// Since when the host differs from the applied state, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drifted_since: Option<u64>,
    /// When drift was last corrected, oldest first.
    #[serde(default, skip_serializing_if = "CorrectionHistory::is_empty")]
    pub corrections: CorrectionHistory,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum PolicyState {
    /// Committed; drift is watched from here on.
    Applied,
    /// Applied, failed, rolled back: waits for another version or for `linesman retry`.
    RolledBack { reason: String },
    /// No changes were made; tried again automatically.
    Waiting { reason: String, attempts: u32, until: u64 },
    /// The policy is gone, and what it changed could not be reverted.
    RevertFailed { reason: String },
}

/// Corrections of drift, and when they pause: two writers that never agree would flap the network for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CorrectionHistory(pub Vec<u64>);

impl CorrectionHistory {
    const LIMIT: usize = 3;
    const WINDOW: u64 = 600;
    const PAUSE: u64 = 3600;

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn record(&mut self, now: u64) {
        self.0.push(now);
        let many = self.0.len().saturating_sub(Self::LIMIT);
        self.0.drain(..many);
    }

    /// A correction that failed starts the pause at once: it is not repeated over and over.
    pub fn record_failure(&mut self, now: u64) {
        self.0 = vec![now; Self::LIMIT];
    }

    /// Until when drift is only reported, if the last corrections came too quickly one after the other.
    pub fn paused_until(&self, now: u64) -> Option<u64> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        let too_many = self.0.len() >= Self::LIMIT && last.saturating_sub(*first) <= Self::WINDOW;
        let until = last.saturating_add(Self::PAUSE);
        (too_many && now < until).then_some(until)
    }
}

impl Entry {
    /// A policy that was here before: it is applied as if it were new, and what undoes it is known.
    pub fn returning(policy: &Policy, revert_state: Value, captured: Option<Captured>, now: u64) -> Self {
        let policy_state = PolicyState::Waiting { reason: "released again".into(), attempts: 0, until: 0 };
        let (policy, corrections) = (policy.clone(), CorrectionHistory::default());
        let applied_state = Value::Null;
        let drifted_since = None;
        Self {
            policy,
            policy_state,
            since: now,
            applied_state,
            revert_state,
            captured,
            drifted_since,
            corrections,
        }
    }

    /// Only along the transitions that are drawn.
    pub fn transition(&mut self, next: PolicyState) {
        debug_assert!(
            next.follows(Some(&self.policy_state)),
            "{} -> {}",
            self.policy_state.as_str(),
            next.as_str()
        );
        self.policy_state = next;
    }

    pub fn is_applied(&self) -> bool {
        self.policy_state == PolicyState::Applied
    }
}

impl Ledger {
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }

    /// Notes when drift begins and ends. `is_observed` says of which policies it is known now. True if something is
    /// new.
    pub fn note_drift(
        &mut self,
        drift: &BTreeMap<String, Vec<Difference>>,
        is_observed: impl Fn(&str) -> bool,
        now: u64,
    ) -> bool {
        let mut is_new = false;
        for (name, entry) in self.0.iter_mut().filter(|(name, _)| is_observed(name)) {
            let since = drift.contains_key(name).then(|| entry.drifted_since.unwrap_or(now));
            is_new |= since != entry.drifted_since;
            entry.drifted_since = since;
        }
        is_new
    }

    /// The applied states, under their policy's name.
    pub fn applied(&self) -> Vec<Policy> {
        let applied = self.0.values().filter(|entry| !entry.applied_state.is_null());
        applied
            .map(|entry| Policy { state: entry.applied_state.clone(), capture: None, ..entry.policy.clone() })
            .collect()
    }
}
