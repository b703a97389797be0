//! What the operator remembers of one policy between two reconciliations. All of it can be lost: the cluster has what matters.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use linesman_api::time::Time;
use linesman_daemon::backoff::Backoff;
use linesman_fleet::rollout::{BlockedBy, Decision, NodePhase};
use linesman_fleet::sealed_secrets::{Secrets, UnavailableSecrets};

use crate::cache::Cache;
use crate::pause::Pause;
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
    /// Secrets that nodes need and that could not be read.
    secrets: Option<SecretsSetAside>,
    /// After an error: not before then, and the back-off that led there.
    retry: Option<(Instant, Backoff)>,
}

#[derive(Debug)]
struct NodeSetAside {
    reason: BlockedBy,
    pause: Pause,
}

#[derive(Debug)]
struct SecretsSetAside {
    unavailable: UnavailableSecrets,
    /// Of the policy: another version may need others.
    generation: i64,
    pause: Pause,
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
                || self.pauses().any(|pause| pause.is_due(now))
                || self.status_due.is_some_and(|due| due <= now)
                || self.wake.is_some_and(|wake| wake <= time))
    }

    fn pauses(&self) -> impl Iterator<Item = &Pause> {
        let secrets = self.secrets.iter().map(|secrets| &secrets.pause);
        self.set_aside.values().map(|node| &node.pause).chain(secrets)
    }

    /// When to reconcile though nothing changes.
    pub fn next(&self, now: Instant, time: Time) -> Option<Instant> {
        if let Some(until) = self.pending.until() {
            return Some(until);
        }
        let wake = self.wake.map(|wake| now + Duration::from_secs(wake.since(time)));
        let dirty = self.dirty.then_some(now);
        let again = self.pauses().filter_map(Pause::until).min();
        let first = [wake, self.status_due, dirty, again].into_iter().flatten().min();
        match self.retry {
            Some((at, _)) if at > now => Some(first.map_or(at, |first| first.max(at))),
            _ => first,
        }
    }

    /// At the same moment for which the nodes that are set aside were asked.
    pub fn decided(&mut self, decision: &Decision, now: Instant) {
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
        self.set_aside.values_mut().for_each(|node| node.pause.heed(now));
    }

    /// A policy that cannot be read waits for the next change.
    pub fn set_aside(&mut self) {
        (self.dirty, self.settled, self.wake, self.status_due) = (false, true, None, None);
        self.set_aside.clear();
        self.secrets = None;
    }

    /// The others go on without it, at once. Whether the reason is new.
    pub fn set_node_aside(&mut self, node: &str, reason: BlockedBy, now: Instant) -> bool {
        let before = self.set_aside.remove(node);
        let is_new = before.as_ref().is_none_or(|before| before.reason != reason);
        let mut pause = before.map_or(Pause::new(RETRY), |before| before.pause);
        pause.begin(now);
        self.set_aside.insert(node.into(), NodeSetAside { reason, pause });
        self.dirty = true;
        is_new
    }

    /// Nodes that need them wait. Whether any of them was read before.
    pub fn secrets_unavailable(&mut self, read: &Secrets, generation: i64, now: Instant) -> bool {
        let secrets = self.secrets.get_or_insert_with(|| {
            let mut pause = Pause::new(READ_SECRET);
            pause.begin(now);
            SecretsSetAside { unavailable: UnavailableSecrets::default(), generation, pause }
        });
        let before = secrets.unavailable.clone();
        secrets.unavailable.note(read);
        self.dirty = true;
        before != secrets.unavailable
    }

    /// Those that should be read again now.
    pub fn secrets_to_read(&mut self, generation: i64, now: Instant) -> Option<&UnavailableSecrets> {
        self.secrets.take_if(|secrets| secrets.generation != generation);
        let due = self.secrets.as_ref().filter(|secrets| secrets.pause.is_due(now));
        due.map(|secrets| &secrets.unavailable)
    }

    /// They were read again; none: the API server did not answer.
    pub fn secrets_read(&mut self, still: Option<UnavailableSecrets>, now: Instant) {
        let Some(secrets) = &mut self.secrets else { return };
        secrets.pause.begin(now);
        if let Some(still) = still {
            self.dirty |= still != secrets.unavailable;
            secrets.unavailable = still;
        }
        self.secrets.take_if(|secrets| secrets.unavailable.0.is_empty());
    }

    pub fn unavailable_secrets(&self) -> UnavailableSecrets {
        self.secrets.as_ref().map(|secrets| secrets.unavailable.clone()).unwrap_or_default()
    }

    /// Its enactment was written.
    pub fn node_accepted(&mut self, node: &str) {
        self.set_aside.remove(node);
    }

    /// Nodes that a decision leaves out, with the reason.
    pub fn nodes_set_aside(&self, now: Instant) -> BTreeMap<&str, &BlockedBy> {
        let waiting = self.set_aside.iter().filter(|(_, node)| node.pause.lasts(now));
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
    use linesman_fleet::sealed_secrets::{LookupError, Reference};

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
    }

    #[test]
    fn a_node_that_is_not_tried_again_wakes_nobody() {
        let (mut state, now, time) = (RolloutState::default(), Instant::now(), Time(100));
        state.set_node_aside("w1", BlockedBy::Refused("too long".into()), now);
        let later = now + FIRST_RETRY;
        state.decided(&nothing(), later);
        assert!(!state.is_due(later, time), "paused, or the node is gone");
        assert_eq!(state.next(later, time), None);
        state.set_node_aside("w1", BlockedBy::Refused("too long".into()), later);
        assert!(!state.nodes_set_aside(later + FIRST_RETRY).is_empty(), "the pause grows all the same");
    }

    fn nothing() -> Decision {
        Decision { actions: Vec::new(), status: Default::default(), nodes: Vec::new(), wake: None }
    }

    #[test]
    fn a_missing_secret_is_read_again_soon_until_it_is_there_or_not_needed() {
        let (mut state, now, time) = (RolloutState::default(), Instant::now(), Time(100));
        let reference = Reference { name: "eap".into(), key: "n1".into() };
        let error = LookupError::NotFound { secret: "nmstate/eap".into() };
        let read = Secrets([(reference.clone(), Err(error.clone()))].into());
        let missing = UnavailableSecrets([(reference, error)].into());
        assert!(state.secrets_unavailable(&read, 1, now), "that is new");
        assert!(!state.secrets_unavailable(&read, 1, now));
        let mut at = now;
        for pause in [1, 2, 4, 8, 10, 10] {
            state.decided(&nothing(), at);
            assert_eq!(state.unavailable_secrets(), missing, "its nodes wait all the time");
            assert!(!state.is_due(at, time) && state.secrets_to_read(1, at).is_none());
            at += Duration::from_secs(pause);
            assert_eq!(state.next(now, time), Some(at));
            assert!(state.is_due(at, time));
            assert_eq!(state.secrets_to_read(1, at), Some(&missing));
            let answer = (pause > 1).then(|| missing.clone());
            state.secrets_read(answer, at);
            assert!(!state.dirty, "nothing is new");
        }
        state.secrets_read(Some(UnavailableSecrets::default()), at);
        assert!(state.dirty && state.unavailable_secrets().0.is_empty());
        state.secrets_unavailable(&read, 1, now);
        assert!(
            state.secrets_to_read(2, now).is_none() && state.unavailable_secrets().0.is_empty(),
            "edited"
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
