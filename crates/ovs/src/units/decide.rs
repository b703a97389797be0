//! What is to be done, decided from what was observed. Pure.

use std::time::Duration;

use super::act::Action;
use super::finding::{Finding, HungRestart};
use super::history::{History, LOOP_SECONDS};
use super::observed::{LoadState, ObservedUnit, Unit, UnitFileState};
use super::processes::Process;

/// A container that crashed is started again within seconds, and one that is replaced within half a minute.
pub const FOREIGN_GONE: u64 = 30;
/// Of `history`: between attempts.
const LONGEST_PAUSE: u64 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A daemon that does not answer is killed and restarted.
    pub restart_hung: bool,
    /// Once it has not answered for so long.
    pub hung_after: Duration,
}

/// Everything that a decision depends on beside what is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostObservation {
    pub units: Vec<ObservedUnit>,
    /// Daemons that belong to no unit of the host.
    pub foreign: Vec<Process>,
    pub processes_hidden: bool,
    pub host_stopping: bool,
    /// Daemons that run and do not answer, and since when.
    pub silent: Vec<(Unit, u64)>,
    /// Seconds since 1970.
    pub now: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    pub actions: Vec<Action>,
    pub findings: Vec<Finding>,
    /// When to decide again, in seconds, even if nothing happens until then.
    pub again_in: Option<u64>,
}

pub fn decide(observation: &HostObservation, history: &History, options: Options) -> Decision {
    let mut decision = Decision::default();
    if observation.host_stopping {
        decision.findings.push(Finding::HostStopping);
        return decision;
    }
    if Unit::DAEMONS.iter().all(|unit| !observation.is_installed(*unit)) {
        decision.findings.extend(observation.foreign_findings());
        decision.findings.push(Finding::NotInstalled);
        return decision;
    }
    let obstacles = decision.obstacles(observation, history);
    let may_start = obstacles.is_empty();
    decision.findings.extend(obstacles);
    for unit in Unit::DAEMONS {
        decision.findings.extend(observation.defect(unit));
    }
    let masked = |unit: &&Unit| observation.unit(**unit).is_some_and(ObservedUnit::is_masked);
    let masked = Unit::UMBRELLAS.iter().filter(masked).map(|unit| Finding::UnitMasked { unit: *unit });
    decision.findings.extend(masked);
    if may_start {
        decision.enable(observation, history);
    }
    decision.start(observation, history, may_start);
    decision.restart(observation, history, options);
    for unit in Unit::DAEMONS {
        let crash_loop = history.unit(unit).crash_loop();
        decision.findings.extend(crash_loop.map(|restarts| Finding::CrashLoop {
            unit,
            restarts,
            within_seconds: LOOP_SECONDS,
        }));
    }
    decision
}

impl HostObservation {
    pub fn unit(&self, unit: Unit) -> Option<&ObservedUnit> {
        self.units.iter().find(|observed| observed.unit == unit)
    }

    fn is_installed(&self, unit: Unit) -> bool {
        self.unit(unit).is_some_and(ObservedUnit::is_installed)
    }

    /// On its way up or down.
    fn is_changing(&self, unit: Unit) -> bool {
        self.unit(unit).is_some_and(|observed| !observed.is_running() && !observed.is_down())
    }

    /// The umbrella of this distribution, where systemd can start it.
    fn umbrella(&self) -> Option<&ObservedUnit> {
        let umbrellas = Unit::UMBRELLAS.iter().filter_map(|unit| self.unit(*unit));
        umbrellas.into_iter().find(|unit| unit.load_state == LoadState::Loaded)
    }

    fn foreign_findings(&self) -> impl Iterator<Item = Finding> {
        self.foreign.iter().map(|process| Finding::Containerised {
            process: process.name.clone(),
            pid: process.pid,
            cgroup: process.cgroup.clone(),
        })
    }

    /// Why systemd would not start this daemon.
    fn defect(&self, unit: Unit) -> Option<Finding> {
        let observed = self.unit(unit).filter(|observed| observed.is_installed());
        let Some(observed) = observed else { return Some(Finding::UnitMissing { unit }) };
        match &observed.load_state {
            LoadState::Loaded => None,
            LoadState::Masked => Some(Finding::UnitMasked { unit }),
            other => Some(Finding::UnitUnreadable { unit, load_state: other.clone() }),
        }
    }
}

impl Decision {
    /// Why nothing is started at all.
    fn obstacles(&mut self, observation: &HostObservation, history: &History) -> Vec<Finding> {
        let hidden = observation.processes_hidden.then_some(Finding::ProcessesHidden);
        let mut obstacles: Vec<Finding> = observation.foreign_findings().chain(hidden).collect();
        // In the future: the clock was set back, and tells nothing.
        let seen = history.foreign_seen.filter(|seen| *seen <= observation.now);
        let left = seen.map(|seen| seen.saturating_add(FOREIGN_GONE).saturating_sub(observation.now));
        if let Some(seconds) = left.filter(|left| *left > 0 && observation.foreign.is_empty()) {
            self.wait(seconds);
            obstacles.push(Finding::ContainerEnded { seconds });
        }
        obstacles
    }

    /// The umbrella brings the daemons up at boot; only without one are they enabled themselves.
    fn enable(&mut self, observation: &HostObservation, history: &History) {
        let umbrella: Vec<&ObservedUnit> = observation.umbrella().into_iter().collect();
        let daemons = || Unit::DAEMONS.iter().filter_map(|unit| observation.unit(*unit)).collect();
        for unit in if umbrella.is_empty() { daemons() } else { umbrella } {
            match unit.unit_file_state {
                _ if unit.load_state != LoadState::Loaded => {}
                UnitFileState::Disabled
                    if self.is_due(history.unit(unit.unit).enable_not_before, observation.now) =>
                {
                    self.actions.push(Action::Enable(unit.unit));
                }
                UnitFileState::Static | UnitFileState::Indirect => {
                    self.findings.push(Finding::NotEnabled { unit: unit.unit });
                }
                _ => {}
            }
        }
    }

    /// What does not run: with the umbrella, which brings up both in order, and where that has failed one by one.
    fn start(&mut self, observation: &HostObservation, history: &History, may_start: bool) {
        let mut due = Vec::new();
        for unit in Unit::DAEMONS.iter().filter_map(|unit| observation.unit(*unit)) {
            if unit.load_state != LoadState::Loaded || unit.is_running() {
                continue;
            }
            if !unit.is_down() {
                let sub_state = unit.sub_state.clone();
                self.findings.push(Finding::Changing { unit: unit.unit, sub_state });
                continue;
            }
            let remembered = history.unit(unit.unit);
            self.findings.push(Finding::Dead {
                unit: unit.unit,
                result: unit.result.clone(),
                exit: unit.exit,
                may_start,
                attempts: remembered.attempts,
                error: remembered.error,
            });
            if may_start && self.is_due(remembered.not_before, observation.now) {
                due.push(unit.unit);
            }
        }
        // It requires both daemons: it fails without one of them, and would cancel what others do to them at this moment.
        let at_rest =
            |daemon: &Unit| observation.defect(*daemon).is_none() && !observation.is_changing(*daemon);
        let may_start = may_start && Unit::DAEMONS.iter().all(at_rest);
        let umbrella = observation.umbrella().filter(|unit| may_start && unit.is_down());
        match umbrella {
            Some(unit) if self.is_due(history.unit(unit.unit).not_before, observation.now) => {
                self.actions.push(Action::Start(unit.unit));
            }
            _ => self.actions.extend(due.into_iter().map(Action::Start)),
        }
    }

    fn is_due(&mut self, not_before: u64, now: u64) -> bool {
        // More than any pause: the clock was set back.
        let wait = Some(not_before.saturating_sub(now)).filter(|wait| *wait <= LONGEST_PAUSE).unwrap_or(0);
        if wait > 0 {
            self.wait(wait);
        }
        wait == 0
    }

    fn wait(&mut self, seconds: u64) {
        self.again_in = Some(self.again_in.map_or(seconds, |other| other.min(seconds)));
    }

    /// Of what runs and does not answer. What has just been started may take its time.
    fn restart(&mut self, observation: &HostObservation, history: &History, options: Options) {
        for (unit, since) in &observation.silent {
            let running = observation.unit(*unit).filter(|unit| unit.is_running() && unit.main_pid.is_some());
            let Some(observed) = running else { continue };
            let since = observed.started_at.map_or(*since, |started| started.max(*since));
            let since = since.max(history.unit(*unit).killed_at);
            let left = (since + options.hung_after.as_secs()).saturating_sub(observation.now);
            let restart = match (options.restart_hung, left) {
                (false, _) => HungRestart::NotAllowed,
                (true, 0) => HungRestart::Now,
                (true, _) => HungRestart::Later,
            };
            match restart {
                HungRestart::Now => self.actions.push(Action::Kill(*unit)),
                HungRestart::Later => self.wait(left),
                HungRestart::NotAllowed => {}
            }
            self.findings.push(Finding::Hung { unit: *unit, restart });
        }
    }
}
