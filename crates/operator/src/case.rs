//! What the operator remembers of one policy between two looks. All of it can be lost: the cluster holds what matters.

use std::time::{Duration, Instant};

use linesman_api::time::Time;
use linesman_fleet::rollout::{BlockedBy, Decision, NodePhase};

use crate::echo::Echoes;
use crate::world::World;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub struct Case {
    /// Something happened since the last look.
    pub dirty: bool,
    /// No node waits for anything: what other policies do does not matter.
    pub settled: bool,
    pub echoes: Echoes,
    /// When the decision wants to be made again.
    pub wake: Option<Time>,
    /// When the status was written last, and when it may be again.
    pub written: Option<Instant>,
    pub due: Option<Instant>,
    /// After something went wrong: not before then.
    retry: Option<(Instant, Duration)>,
}

impl Case {
    /// One that nobody has looked at.
    pub fn fresh() -> Self {
        Self { dirty: true, ..Self::default() }
    }

    /// Whether something is still to come, though the policy be gone. Nobody looks at such a case any more: what it waits
    /// for must not wake the operator for ever.
    pub fn outlives(&mut self, world: &World, orphans: bool, now: Instant) -> bool {
        !self.echoes.heard(world, now) || (orphans && self.retry.is_some())
    }

    /// Whether it is time to look; `time` is the wall's clock.
    pub fn wants_a_look(&self, now: Instant, time: Time) -> bool {
        let rested = self.retry.is_none_or(|(at, _)| at <= now);
        rested
            && (self.dirty
                || self.due.is_some_and(|due| due <= now)
                || self.wake.is_some_and(|wake| wake <= time))
    }

    /// When it is worth looking though nothing happens.
    pub fn next(&self, now: Instant, time: Time) -> Option<Instant> {
        if let Some(until) = self.echoes.until() {
            return Some(until);
        }
        let wake = self.wake.map(|wake| now + Duration::from_secs(wake.since(time)));
        let dirty = self.dirty.then_some(now);
        let first = [wake, self.due, dirty].into_iter().flatten().min();
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
        (self.dirty, self.due) = (false, None);
    }

    pub fn went_well(&mut self) {
        self.retry = None;
    }

    /// How long nothing is tried.
    pub fn went_wrong(&mut self, now: Instant) -> Duration {
        let pause = self.retry.map_or(FIRST, |(_, pause)| (pause * 2).min(LONGEST));
        self.retry = Some((now + pause, pause));
        self.dirty = true;
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_rests_after_trouble_and_longer_each_time() {
        let (mut case, now, time) = (Case::fresh(), Instant::now(), Time(100));
        assert!(case.wants_a_look(now, time));
        assert_eq!(case.went_wrong(now), FIRST);
        assert!(!case.wants_a_look(now, time));
        assert_eq!(case.next(now, time), Some(now + FIRST));
        assert!(case.wants_a_look(now + FIRST, time));
        assert_eq!(case.went_wrong(now), FIRST * 2);
        case.went_well();
        assert_eq!(case.went_wrong(now), FIRST);
    }

    #[test]
    fn a_case_whose_policy_is_gone_comes_to_an_end() {
        let (mut case, now, world) = (Case::fresh(), Instant::now(), World::default());
        case.echoes.expect(crate::echo::Echo::Enactments(7), now);
        assert!(case.outlives(&world, false, now), "its enactment is still to go");
        assert!(
            !case.outlives(&world, false, now + Duration::from_secs(60)),
            "whether or not that was heard"
        );
        case.went_wrong(now);
        assert!(case.outlives(&world, true, now) && !case.outlives(&world, false, now));
    }

    #[test]
    fn a_case_wakes_by_the_clock_on_the_wall() {
        let (case, now) = (Case { wake: Some(Time(130)), ..Case::default() }, Instant::now());
        assert!(!case.wants_a_look(now, Time(129)) && case.wants_a_look(now, Time(130)));
        assert_eq!(case.next(now, Time(100)), Some(now + Duration::from_secs(30)));
        assert_eq!(case.next(now, Time(200)), Some(now));
    }
}
