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
    pub fn of(policy: &'a PolicyFacts, candidates: &[Candidate<'a>], limit: usize) -> Self {
        let rollout = policy.spec.rollout.clone().unwrap_or_default();
        let named: Vec<&str> = match (&policy.spec.rollout, policy.deleting || rollout.undo) {
            (Some(rollout), false) => rollout.canary.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let canaries: BTreeSet<&str> =
            candidates.iter().map(|c| c.node.name.as_str()).filter(|name| named.contains(name)).collect();
        let not_done =
            |c: &&Candidate<'a>| c.phase != NodePhase::Done && canaries.contains(c.node.name.as_str());
        let awaited = candidates.iter().filter(not_done).map(|c| c.node.name.as_str()).collect();
        let closed = if rollout.paused {
            Some(BlockedBy::Paused)
        } else if rollout.abort && !policy.deleting {
            Some(BlockedBy::Stopped(StopReason::Aborted))
        } else {
            failures(candidates, &canaries, rollout.max_failures, limit).map(BlockedBy::Stopped)
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
    canaries: &BTreeSet<&str>,
    max_failures: Option<i64>,
    limit: usize,
) -> Option<StopReason> {
    let failed: Vec<&str> = candidates
        .iter()
        .filter(|c| matches!(c.phase, NodePhase::Failed(_)))
        .map(|c| c.node.name.as_str())
        .collect();
    if let Some(canary) = failed.iter().find(|name| canaries.contains(*name)) {
        return Some(StopReason::CanaryFailed { canary: canary.to_string() });
    }
    let limit = max_failures.map_or(limit, |most| usize::try_from(most).unwrap_or_default().max(1));
    (failed.len() >= limit).then_some(StopReason::TooManyFailures { limit })
}
