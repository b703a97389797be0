//! What the keeper remembers of the units: restarts, also those that systemd hides, and its own attempts to start them.

use std::collections::BTreeMap;
use std::time::Duration;

use linesman_daemon::backoff::Backoff;
use serde::{Deserialize, Serialize};

use super::observed::{Exit, ObservedUnit, Restart, Unit, UnitReport};

const PAUSES: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
const ENABLE_PAUSE: u64 = 60;
/// Whoever has run for so long is well again.
const SETTLED: u64 = 60;
/// So many restarts within this time are a crash loop.
pub const LOOP_RESTARTS: usize = 3;
pub const LOOP_SECONDS: u64 = 300;

/// On disk, so that restarts count that happen while no keeper runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Counters start again with the host.
    #[serde(default)]
    boot_id: String,
    #[serde(default)]
    units: BTreeMap<Unit, UnitHistory>,
    /// When a daemon was last seen that belongs to no unit of the host.
    #[serde(default)]
    pub foreign_seen: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitHistory {
    #[serde(default)]
    invocation_id: Option<String>,
    #[serde(default)]
    systemd_restarts: u32,
    #[serde(default)]
    pub restarts: u32,
    /// When the last ones were seen, in seconds since 1970; old ones are dropped.
    #[serde(default)]
    recent: Vec<u64>,
    #[serde(default)]
    pub last_restart: Option<Restart>,
    /// How the main process ended that is to be replaced.
    #[serde(default)]
    ended: Option<Exit>,
    #[serde(skip)]
    pub attempts: u32,
    #[serde(skip)]
    pub not_before: u64,
    /// Why the last start failed.
    #[serde(skip)]
    pub error: Option<String>,
    /// When it may be enabled again after that failed.
    #[serde(skip)]
    pub enable_not_before: u64,
    /// When its main process was last killed by the keeper.
    #[serde(skip)]
    pub killed_at: u64,
}

/// A restart that was seen just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRestart {
    pub unit: Unit,
    pub count: u32,
    pub crash: Option<Exit>,
}

impl History {
    /// Forgets what was before this boot of the host.
    #[must_use]
    pub fn of_boot(self, boot_id: &str) -> Self {
        if self.boot_id == boot_id { self } else { Self { boot_id: boot_id.into(), ..Self::default() } }
    }

    pub fn unit(&self, unit: Unit) -> UnitHistory {
        self.units.get(&unit).cloned().unwrap_or_default()
    }

    /// Compares with the last observation. What runs no process has nothing to restart.
    pub fn observe(&mut self, units: &[ObservedUnit], now: u64) -> Vec<SeenRestart> {
        units
            .iter()
            .filter(|unit| unit.unit.is_daemon())
            .filter_map(|unit| self.units.entry(unit.unit).or_default().observe(unit, now))
            .collect()
    }

    /// A start has been attempted; the next attempt waits.
    pub fn attempted(&mut self, unit: Unit, error: Option<String>, now: u64) {
        let history = self.units.entry(unit).or_default();
        history.attempts = history.attempts.saturating_add(1);
        history.not_before = now + PAUSES.after(history.attempts).as_secs();
        history.error = error;
    }

    /// A file system that cannot be written stays so for a while.
    pub fn enabled(&mut self, unit: Unit, done: bool, now: u64) {
        let pause = if done { 0 } else { ENABLE_PAUSE };
        self.units.entry(unit).or_default().enable_not_before = now + pause;
    }

    pub fn killed(&mut self, unit: Unit, now: u64) {
        self.units.entry(unit).or_default().killed_at = now;
    }

    pub fn report(&self, observed: &ObservedUnit) -> UnitReport {
        let history = self.unit(observed.unit);
        let UnitHistory { restarts, last_restart, .. } = history;
        UnitReport { observed: observed.clone(), restarts, last_restart }
    }
}

impl UnitHistory {
    fn observe(&mut self, unit: &ObservedUnit, now: u64) -> Option<SeenRestart> {
        self.recent.retain(|at| at + LOOP_SECONDS > now);
        let running = unit.is_running();
        if running && unit.started_at.is_some_and(|at| at + SETTLED <= now) {
            (self.attempts, self.not_before, self.error) = (0, 0, None);
        }
        if !running && unit.exit.is_some() {
            self.ended = unit.exit;
        }
        let count = self.restarts_since(unit);
        self.systemd_restarts = unit.systemd_restarts;
        if unit.invocation_id.is_some() {
            self.invocation_id.clone_from(&unit.invocation_id);
        }
        if count == 0 {
            return None;
        }
        let crash = self.ended.take().filter(|exit| !exit.is_orderly());
        self.restarts = self.restarts.saturating_add(count);
        self.recent.extend((0..count).map(|_| now));
        self.last_restart = Some(Restart { at: now, crash });
        Some(SeenRestart { unit: unit.unit, count, crash })
    }

    /// systemd's own counter tells of restarts between two looks; where it starts again at zero, or where a restart is
    /// propagated from another unit and not counted at all, only the InvocationID differs.
    fn restarts_since(&self, unit: &ObservedUnit) -> u32 {
        let (Some(before), Some(now)) = (&self.invocation_id, &unit.invocation_id) else { return 0 };
        if before == now {
            return 0;
        }
        unit.systemd_restarts.saturating_sub(self.systemd_restarts).max(1)
    }

    /// How many restarts there were lately, if too many.
    pub fn crash_loop(&self) -> Option<usize> {
        (self.recent.len() >= LOOP_RESTARTS).then_some(self.recent.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::observed::{ActiveState, LoadState, UnitFileState};

    fn unit(invocation: &str, systemd_restarts: u32, active_state: ActiveState) -> ObservedUnit {
        ObservedUnit {
            unit: Unit::OvsVswitchd,
            load_state: LoadState::Loaded,
            active_state,
            sub_state: String::new(),
            unit_file_state: UnitFileState::Static,
            main_pid: Some(7),
            invocation_id: Some(invocation.into()),
            started_at: Some(1000),
            systemd_restarts,
            result: "success".into(),
            exit: None,
            memory_current: None,
        }
    }

    #[test]
    fn a_restart_is_seen_though_systemd_counts_none() {
        let mut history = History::default();
        assert_eq!(history.observe(&[unit("a", 0, ActiveState::Active)], 1000), []);
        assert_eq!(history.observe(&[unit("a", 0, ActiveState::Active)], 1001), []);
        let seen = history.observe(&[unit("b", 0, ActiveState::Active)], 1002);
        assert_eq!(seen, [SeenRestart { unit: Unit::OvsVswitchd, count: 1, crash: None }]);
        assert_eq!(history.unit(Unit::OvsVswitchd).restarts, 1);
    }

    #[test]
    fn restarts_between_two_looks_are_counted_by_systemd() {
        let mut history = History::default();
        history.observe(&[unit("a", 1, ActiveState::Active)], 1000);
        assert_eq!(history.observe(&[unit("b", 4, ActiveState::Active)], 1002)[0].count, 3);
        assert_eq!(history.unit(Unit::OvsVswitchd).crash_loop(), Some(3));
        history.observe(&[unit("b", 4, ActiveState::Active)], 1002 + LOOP_SECONDS);
        assert_eq!(history.unit(Unit::OvsVswitchd).crash_loop(), None);
    }

    #[test]
    fn a_restart_tells_how_the_process_before_it_ended() {
        let mut history = History::default();
        history.observe(&[unit("a", 0, ActiveState::Active)], 1000);
        let dead = ObservedUnit { exit: Some(Exit::Killed(9)), ..unit("a", 0, ActiveState::Failed) };
        history.observe(&[dead], 1001);
        assert_eq!(
            history.observe(&[unit("b", 0, ActiveState::Active)], 1002)[0].crash,
            Some(Exit::Killed(9))
        );
        let report = history.report(&unit("b", 0, ActiveState::Active));
        assert_eq!(report.last_restart, Some(Restart { at: 1002, crash: Some(Exit::Killed(9)) }));
    }

    #[test]
    fn what_another_keeper_saw_counts_until_the_host_boots() {
        let mut history = History::default().of_boot("1");
        history.observe(&[unit("a", 0, ActiveState::Active)], 1000);
        let text = serde_json::to_string(&history).unwrap();
        let mut later = serde_json::from_str::<History>(&text).unwrap().of_boot("1");
        assert_eq!(later.observe(&[unit("b", 0, ActiveState::Active)], 1010).len(), 1);
        let mut booted = serde_json::from_str::<History>(&text).unwrap().of_boot("2");
        assert_eq!(booted.observe(&[unit("b", 0, ActiveState::Active)], 1010), []);
    }

    #[test]
    fn attempts_are_further_and_further_apart_and_forgotten_once_the_unit_has_settled() {
        let mut history = History::default();
        let dead = || unit("a", 0, ActiveState::Failed);
        history.observe(&[dead()], 100);
        for (now, next) in [(100, 101), (101, 103), (103, 107)] {
            history.attempted(Unit::OvsVswitchd, None, now);
            assert_eq!(history.unit(Unit::OvsVswitchd).not_before, next);
        }
        history.observe(&[unit("b", 0, ActiveState::Active)], 1000 + SETTLED - 1);
        assert_eq!(history.unit(Unit::OvsVswitchd).attempts, 3);
        history.observe(&[unit("b", 0, ActiveState::Active)], 1000 + SETTLED);
        assert_eq!(history.unit(Unit::OvsVswitchd).attempts, 0);
    }
}
