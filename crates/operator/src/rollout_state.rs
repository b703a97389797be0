//! What the operator remembers of one policy between two reconciliations. All of it can be lost: the cluster has what matters.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use linesman_api::time::Time;
use linesman_daemon::backoff::Backoff;
use linesman_fleet::rollout::{BlockedBy, Decision, NodePhase};

use crate::cache::Cache;
use crate::pending_writes::PendingWrites;

const FIRST_RETRY: Duration = Duration::from_secs(1);
const RETRY: Backoff = Backoff::new(FIRST_RETRY, Duration::from_secs(60));
/// Of a Secret that somebody is about to create. To watch Secrets, the operator would have to be allowed to list them.
const READ_SECRET: Backoff = Backoff::new(FIRST_RETRY, Duration::from_secs(10));

#[derive(Debug, Default)]
pub struct RolloutState {
    /// Something changed since the last decision.
    pub dirty: bool,
    /// No node waits for anything: what other policies do does not matter.
    pub settled: bool,
    pub pending: PendingWrites,
    /// When the decision must be made again though nothing changes.
    pub wake: Option<Time>,
    /// When the status was last written, and when it may be written again.
    pub status_written: Option<Instant>,
    pub status_due: Option<Instant>,
    /// Nodes whose enactment cannot be written.
    set_aside: BTreeMap<String, NodeSetAside>,
    /// After an error: not before then, and the back-off that led there.
    retry: Option<(Instant, Backoff)>,
}

#[derive(Debug)]
struct NodeSetAside {
    reason: BlockedBy,
    /// It is tried again then.
    until: Instant,
    backoff: Backoff,
}

impl RolloutState {
    /// Of a policy that was not decided on yet.
    pub fn undecided() -> Self {
        Self { dirty: true, ..Self::default() }
    }

    /// Whether it is still needed though the policy is gone. Such a policy is not reconciled any more: its state must not wake
    /// the operator for ever.
    pub fn outlives_policy(&mut self, cache: &Cache, orphans: bool, now: Instant) -> bool {
        !self.pending.are_seen(cache, now) || (orphans && self.retry.is_some())
    }

    /// Whether to reconcile; `time` is the wall clock.
    pub fn is_due(&self, now: Instant, time: Time) -> bool {
        let may_retry = self.retry.as_ref().is_none_or(|(at, _)| *at <= now);
        may_retry
            && (self.dirty
                || self.set_aside.values().any(|node| node.until <= now)
                || self.status_due.is_some_and(|due| due <= now)
                || self.wake.is_some_and(|wake| wake <= time))
    }

    /// When to reconcile though nothing changes.
    pub fn next(&self, now: Instant, time: Time) -> Option<Instant> {
        if let Some(until) = self.pending.until() {
            return Some(until);
        }
        let wake = self.wake.map(|wake| now + Duration::from_secs(wake.since(time)));
        let dirty = self.dirty.then_some(now);
        let again = self.set_aside.values().map(|node| node.until).min();
        let first = [wake, self.status_due, dirty, again].into_iter().flatten().min();
        match self.retry {
            Some((at, _)) if at > now => Some(first.map_or(at, |first| first.max(at))),
            _ => first,
        }
    }

    pub fn decided(&mut self, decision: &Decision) {
        let ended = |phase: &NodePhase| {
            // One that failed may have lacked what another policy makes.
            matches!(
                phase,
                NodePhase::Done | NodePhase::Unaffected | NodePhase::Blocked(BlockedBy::NoPreviousVersion)
            )
        };
        self.settled = decision.nodes.iter().all(|(_, phase)| ended(phase));
        self.wake = decision.wake;
        (self.dirty, self.status_due) = (false, None);
    }

    /// A policy that cannot be read waits for the next change.
    pub fn set_aside(&mut self) {
        (self.dirty, self.settled, self.wake, self.status_due) = (false, true, None, None);
        self.set_aside.clear();
    }

    /// The others go on without it, at once.
    pub fn set_node_aside(&mut self, node: &str, reason: BlockedBy, now: Instant) {
        let first = if matches!(reason, BlockedBy::SecretUnavailable(_)) { READ_SECRET } else { RETRY };
        let mut backoff = self.set_aside.remove(node).map_or(first, |before| before.backoff);
        let until = now + backoff.failed();
        self.set_aside.insert(node.into(), NodeSetAside { reason, until, backoff });
        self.dirty = true;
    }

    /// Its enactment was written.
    pub fn node_accepted(&mut self, node: &str) {
        self.set_aside.remove(node);
    }

    /// Nodes that a decision leaves out, with the reason.
    pub fn nodes_set_aside(&self, now: Instant) -> BTreeMap<&str, &BlockedBy> {
        let waiting = self.set_aside.iter().filter(|(_, node)| node.until > now);
        waiting.map(|(name, node)| (name.as_str(), &node.reason)).collect()
    }

    pub fn succeeded(&mut self) {
        self.retry = None;
    }

    /// The pause until the next attempt.
    pub fn failed(&mut self, now: Instant) -> Duration {
        let mut backoff = self.retry.take().map_or(RETRY, |(_, backoff)| backoff);
        let pause = backoff.failed();
        self.retry = Some((now + pause, backoff));
        self.dirty = true;
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending_writes::PendingWrite;

    #[test]
    fn the_pause_after_errors_grows_and_ends_with_success() {
        let (mut state, now, time) = (RolloutState::undecided(), Instant::now(), Time(100));
        assert!(state.is_due(now, time));
        assert_eq!(state.failed(now), FIRST_RETRY);
        assert!(!state.is_due(now, time));
        assert_eq!(state.next(now, time), Some(now + FIRST_RETRY));
        assert!(state.is_due(now + FIRST_RETRY, time));
        assert_eq!(state.failed(now), FIRST_RETRY * 2);
        state.succeeded();
        assert_eq!(state.failed(now), FIRST_RETRY);
    }

    #[test]
    fn the_state_of_a_deleted_policy_is_dropped_in_the_end() {
        let (mut state, now, cache) = (RolloutState::undecided(), Instant::now(), Cache::default());
        state.pending.expect(PendingWrite::Enactments(7), now);
        assert!(state.outlives_policy(&cache, false, now), "the deletion of its enactment is not seen yet");
        let later = now + Duration::from_secs(60);
        assert!(!state.outlives_policy(&cache, false, later), "whether or not that was seen");
        state.failed(now);
        assert!(state.outlives_policy(&cache, true, now) && !state.outlives_policy(&cache, false, now));
    }

    #[test]
    fn a_refused_node_is_left_out_until_it_is_tried_again() {
        let (mut state, now, time) = (RolloutState::default(), Instant::now(), Time(100));
        let reason = BlockedBy::Refused("too long".into());
        state.set_node_aside("w1", reason.clone(), now);
        assert!(state.is_due(now, time), "the others go on");
        assert_eq!(state.nodes_set_aside(now), [("w1", &reason)].into());
        state.dirty = false;
        assert!(!state.is_due(now, time));
        assert_eq!(state.next(now, time), Some(now + FIRST_RETRY));
        let later = now + FIRST_RETRY;
        assert!(state.is_due(later, time) && state.nodes_set_aside(later).is_empty());
        state.set_node_aside("w1", reason, later);
        assert!(!state.nodes_set_aside(later + FIRST_RETRY).is_empty(), "the pause grows");
        state.node_accepted("w1");
        assert!(state.nodes_set_aside(later).is_empty());
        let secret = || BlockedBy::SecretUnavailable("none".into());
        (0..20).for_each(|_| state.set_node_aside("w1", secret(), now));
        assert!(
            state.nodes_set_aside(now + Duration::from_secs(10)).is_empty(),
            "a new Secret is found soon"
        );
    }

    #[test]
    fn a_rollout_wakes_by_the_wall_clock() {
        let (state, now) =
            (RolloutState { wake: Some(Time(130)), ..RolloutState::default() }, Instant::now());
        assert!(!state.is_due(now, Time(129)) && state.is_due(now, Time(130)));
        assert_eq!(state.next(now, Time(100)), Some(now + Duration::from_secs(30)));
        assert_eq!(state.next(now, Time(200)), Some(now));
    }
}
