//! What is known of every policy that this host ever took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::Policy;

/// By name of the policy. Survives restarts, so that a settled host is left alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(pub BTreeMap<String, Entry>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// As it was written when it was last tried.
    pub policy: Policy,
    pub standing: Standing,
    /// Seconds since 1970.
    pub since: u64,
    /// What is kept: the last state that was committed, captures filled in. Null while there is none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub state: Value,
    /// What undoes everything that the policy changed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub back: Value,
    /// When drift was last corrected, oldest first.
    #[serde(default, skip_serializing_if = "Fight::is_none")]
    pub corrections: Fight,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Standing {
    /// Committed; kept from here on.
    Kept,
    /// Made, did not hold, taken back: waits for another version or for somebody who says `retry`.
    RolledBack { reason: String },
    /// Nothing was touched; tried again by itself.
    Waiting { reason: String, attempts: u32, until: u64 },
    /// The policy is gone, and what it changed could not be brought back.
    RevertFailed { reason: String },
}

/// Corrections of drift, and when they stop: two writers that never agree would flap the network for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fight(pub Vec<u64>);

impl Fight {
    const ROUNDS: usize = 3;
    const WINDOW: u64 = 600;
    const PAUSE: u64 = 3600;

    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    pub fn another(&mut self, now: u64) {
        self.0.push(now);
        let many = self.0.len().saturating_sub(Self::ROUNDS);
        self.0.drain(..many);
    }

    /// A correction that did not hold ends the fight at once: it is not made again and again.
    pub fn give_in(&mut self, now: u64) {
        self.0 = vec![now; Self::ROUNDS];
    }

    /// Until when drift is only reported, if the last rounds came too quickly one after the other.
    pub fn pause(&self, now: u64) -> Option<u64> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        let fought = self.0.len() >= Self::ROUNDS && last.saturating_sub(*first) <= Self::WINDOW;
        let until = last.saturating_add(Self::PAUSE);
        (fought && now < until).then_some(until)
    }
}

impl Entry {
    /// A policy that was here before: it is looked at as if it were new, and the way back is known.
    pub fn again(policy: &Policy, back: Value, now: u64) -> Self {
        let standing = Standing::Waiting { reason: "taken again".into(), attempts: 0, until: 0 };
        let (policy, corrections) = (policy.clone(), Fight::default());
        Self { policy, standing, since: now, state: Value::Null, back, corrections }
    }

    /// Only along the ways that are drawn.
    pub fn turn(&mut self, next: Standing) {
        debug_assert!(next.follows(Some(&self.standing)), "{} -> {}", self.standing.word(), next.word());
        self.standing = next;
    }

    pub fn is_kept(&self) -> bool {
        self.standing == Standing::Kept
    }
}

impl Ledger {
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }

    /// The states that are kept, under their policy's name.
    pub fn kept(&self) -> Vec<Policy> {
        let kept = self.0.values().filter(|entry| !entry.state.is_null());
        kept.map(|entry| Policy { state: entry.state.clone(), capture: None, ..entry.policy.clone() })
            .collect()
    }
}
