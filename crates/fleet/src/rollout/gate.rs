//! What stops all nodes of a policy at once: a pause, an abort, too many failures, a canary.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::facts::PolicyFacts;
use super::phase::{BlockedBy, NodePhase, StopReason};

#[derive(Debug)]
pub struct Gate<'a> {
    closed: Option<BlockedBy>,
    canaries: BTreeSet<&'a str>,
    awaited: Vec<&'a str>,
}

impl<'a> Gate<'a> {
    /// `gone` are nodes that failed and left the policy since.
    pub fn of(policy: &'a PolicyFacts, candidates: &[Candidate<'a>], gone: &[&str], limit: usize) -> Self {
        let rollout = policy.spec.rollout.clone().unwrap_or_default();
        let named: Vec<&str> = match (&policy.spec.rollout, policy.deleting || rollout.undo) {
            (Some(rollout), false) => rollout.canary.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let canaries: BTreeSet<&str> = named.iter().copied().collect();
        let is_canary = |c: &Candidate<'a>| canaries.contains(c.node.name.as_str());
        let not_done = |c: &&Candidate<'a>| c.phase != NodePhase::Done && is_canary(c);
        let mut awaited: Vec<&str> =
            candidates.iter().filter(not_done).map(|c| c.node.name.as_str()).collect();
        // A canary that is not there has shown nothing; a single node that is configured has.
        if !candidates.iter().any(|c| c.phase == NodePhase::Done) {
            let is_missing = |name: &&str| !candidates.iter().any(|c| c.node.name == **name);
            awaited.extend(named.iter().copied().filter(is_missing));
        }
        let closed = if rollout.paused {
            Some(BlockedBy::Paused)
        } else if rollout.abort && !policy.deleting {
            Some(BlockedBy::Stopped(StopReason::Aborted))
        } else {
            failures(candidates, gone, &canaries, rollout.max_failures, limit).map(BlockedBy::Stopped)
        };
        Self { closed, canaries, awaited }
    }

    pub fn blocks(&self, node: &str) -> Option<BlockedBy> {
        if self.closed.is_some() {
            return self.closed.clone();
        }
        let waits = !self.awaited.is_empty() && !self.canaries.contains(node);
        waits.then_some(BlockedBy::Canary)
    }

    pub fn closed_by(&self) -> Option<&BlockedBy> {
        self.closed.as_ref()
    }

    /// Canaries that are not configured yet.
    pub fn awaited(&self) -> &[&'a str] {
        &self.awaited
    }
}

fn failures(
    candidates: &[Candidate<'_>],
    gone: &[&str],
    canaries: &BTreeSet<&str>,
    max_failures: Option<i64>,
    limit: usize,
) -> Option<StopReason> {
    let failed: Vec<&str> = candidates
        .iter()
        .filter(|c| matches!(c.phase, NodePhase::Failed(_)))
        .map(|c| c.node.name.as_str())
        .chain(gone.iter().copied())
        .collect();
    if let Some(canary) = failed.iter().find(|name| canaries.contains(*name)) {
        return Some(StopReason::CanaryFailed { canary: canary.to_string() });
    }
    let limit = max_failures.map_or(limit, |most| usize::try_from(most).unwrap_or_default().max(1));
    (failed.len() >= limit).then_some(StopReason::TooManyFailures { limit })
}
