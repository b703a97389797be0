//! What the operator remembers of one policy between two reconciliations. All of it can be lost: the cluster has what matters.

use std::time::{Duration, Instant};

use linesman_api::time::Time;
use linesman_daemon::backoff::Backoff;
use linesman_fleet::rollout::{BlockedBy, Decision, NodePhase};

use crate::cache::Cache;
use crate::pending_writes::PendingWrites;

const FIRST_RETRY: Duration = Duration::from_secs(1);
const RETRY: Backoff = Backoff::new(FIRST_RETRY, Duration::from_secs(60));

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
    /// After an error: not before then, and the back-off that led there.
    retry: Option<(Instant, Backoff)>,
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
        let first = [wake, self.status_due, dirty].into_iter().flatten().min();
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
    fn a_rollout_wakes_by_the_wall_clock() {
        let (state, now) =
            (RolloutState { wake: Some(Time(130)), ..RolloutState::default() }, Instant::now());
        assert!(!state.is_due(now, Time(129)) && state.is_due(now, Time(130)));
        assert_eq!(state.next(now, Time(100)), Some(now + Duration::from_secs(30)));
        assert_eq!(state.next(now, Time(200)), Some(now));
    }
}
