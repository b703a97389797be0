//! Whether the daemons answer: the database, the switch, and what the switch makes of the database.
//!
//! Each probe has a deadline of its own and connections of its own, so that none waits for another, or for whoever moves data.

mod database;
mod switch;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::units::observed::Unit;
use database::DatabaseProbe;

/// With [`DEADLINE`], a daemon that hangs is found out within five seconds.
const INTERVAL: Duration = Duration::from_secs(2);
pub const DEADLINE: Duration = Duration::from_millis(1500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProbeKind {
    /// ovsdb-server answers a query.
    Database,
    /// ovs-vswitchd answers on its control socket.
    Switch,
    /// ovs-vswitchd has caught up with the configuration in the database (`cur_cfg` has reached `next_cfg`).
    Configuration,
}

impl ProbeKind {
    pub const ALL: [Self; 3] = [Self::Database, Self::Switch, Self::Configuration];

    pub fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Switch => "switch",
            Self::Configuration => "configuration",
        }
    }

    /// The daemon that does not answer if it fails.
    pub fn unit(self) -> Unit {
        match self {
            Self::Database => Unit::OvsdbServer,
            Self::Switch | Self::Configuration => Unit::OvsVswitchd,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum ProbeFailure {
    /// The process is there and says nothing.
    #[error("no answer within {} ms{}", DEADLINE.as_millis(), process_state(.state.as_deref()))]
    Silent { state: Option<String> },
    #[error("{0}")]
    Refused(String),
    #[error("the configuration is at {current}, and {wanted} is wanted since {seconds} s or more")]
    Behind { current: i64, wanted: i64, seconds: u64 },
    #[error("waiting for ovs-vswitchd to confirm configuration {wanted}; it is at {current}")]
    Unconfirmed { current: i64, wanted: i64 },
    #[error("not probed: {unit} is not running")]
    NotRunning { unit: Unit },
    #[error("not probed yet")]
    NotYet,
}

fn process_state(state: Option<&str>) -> String {
    state.map(|state| format!("; the process is {state}")).unwrap_or_default()
}

#[derive(Clone, Debug)]
pub struct ProbeReport {
    pub results: [(ProbeKind, Result<(), ProbeFailure>); 3],
    /// Since when, in seconds since 1970, a daemon has been silent.
    pub silent: Vec<(Unit, u64)>,
    pub finished: Instant,
}

impl Default for ProbeReport {
    fn default() -> Self {
        let results = ProbeKind::ALL.map(|kind| (kind, Err(ProbeFailure::NotYet)));
        Self { results, silent: Vec::new(), finished: Instant::now() }
    }
}

impl ProbeReport {
    pub fn result(&self, kind: ProbeKind) -> &Result<(), ProbeFailure> {
        let [database, switch, configuration] = &self.results;
        match kind {
            ProbeKind::Database => &database.1,
            ProbeKind::Switch => &switch.1,
            ProbeKind::Configuration => &configuration.1,
        }
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.results == other.results && self.silent == other.silent
    }
}

/// What the probes need to know of the units: which daemons run, and in which invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// None: systemd has not said yet.
    pub units: Option<Vec<(Unit, Option<String>)>>,
}

impl Running {
    fn invocation(&self, unit: Unit) -> Result<Option<&str>, ProbeFailure> {
        let units = self.units.as_ref().ok_or(ProbeFailure::NotYet)?;
        let found = units.iter().find(|(running, _)| *running == unit);
        found.map(|(_, invocation)| invocation.as_deref()).ok_or(ProbeFailure::NotRunning { unit })
    }
}

/// Where the daemons of the host can be reached.
#[derive(Clone, Debug)]
pub struct Places {
    /// `/run/openvswitch`: sockets and pidfiles.
    pub run_dir: PathBuf,
    pub proc: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self { run_dir: "/run/openvswitch".into(), proc: "/proc".into() }
    }
}

impl Places {
    pub fn database(&self) -> PathBuf {
        self.run_dir.join("db.sock")
    }
}

/// Probes every two seconds and whenever a daemon has started or ended. Every round is published; a receiver is woken only by
/// what differs.
pub async fn run(places: Places, mut running: watch::Receiver<Running>, reports: watch::Sender<ProbeReport>) {
    let mut database = DatabaseProbe::new(&places);
    let mut timer = tokio::time::interval(INTERVAL);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut silent_since: Vec<(Unit, u64)> = Vec::new();
    loop {
        tokio::select! {
            _ = timer.tick() => {}
            changed = running.changed() => if changed.is_err() {
                return;
            }
        }
        let now_running = running.borrow_and_update().clone();
        let (switch, (answers, configuration)) =
            tokio::join!(switch::probe(&places, &now_running), database.probe(&now_running));
        let results = [
            (ProbeKind::Database, answers),
            (ProbeKind::Switch, switch),
            (ProbeKind::Configuration, configuration),
        ];
        let now = linesman_daemon::clock::now();
        silent_since = silent(&results, &silent_since, now);
        let report = ProbeReport { results, silent: silent_since.clone(), finished: Instant::now() };
        reports.send_if_modified(|known| {
            let differs = !known.says_the_same(&report);
            *known = report;
            differs
        });
    }
}

fn silent(
    results: &[(ProbeKind, Result<(), ProbeFailure>)],
    before: &[(Unit, u64)],
    now: u64,
) -> Vec<(Unit, u64)> {
    let silent = results.iter().filter(|(kind, result)| {
        *kind != ProbeKind::Configuration && matches!(result, Err(ProbeFailure::Silent { .. }))
    });
    let since = |unit: Unit| before.iter().find(|(known, _)| *known == unit).map_or(now, |(_, since)| *since);
    silent.map(|(kind, _)| (kind.unit(), since(kind.unit()))).collect()
}

/// What the kernel says of a process that gives no answer.
fn state_of(proc: &Path, pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
    let state = stat.rsplit_once(')')?.1.split_whitespace().next()?;
    Some(match state {
        "T" => "stopped (SIGSTOP)".into(),
        "t" => "stopped by a debugger".into(),
        "D" => "in uninterruptible sleep".into(),
        "R" => "running".into(),
        "S" => "asleep".into(),
        "Z" => "a zombie".into(),
        other => format!("in state {other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_counted_from_its_beginning() {
        let silence = || Err(ProbeFailure::Silent { state: None });
        let results = |switch| [(ProbeKind::Database, Ok(())), (ProbeKind::Switch, switch)];
        let first = silent(&results(silence()), &[], 100);
        assert_eq!(first, [(Unit::OvsVswitchd, 100)]);
        assert_eq!(silent(&results(silence()), &first, 102), [(Unit::OvsVswitchd, 100)]);
        assert_eq!(silent(&results(Ok(())), &first, 104), []);
    }

    #[test]
    fn nothing_is_said_of_units_before_systemd_has() {
        let unit = Unit::OvsVswitchd;
        assert_eq!(Running::default().invocation(unit), Err(ProbeFailure::NotYet));
        let none = Running { units: Some(Vec::new()) };
        assert_eq!(none.invocation(unit), Err(ProbeFailure::NotRunning { unit }));
    }

    #[test]
    fn a_failure_says_what_the_process_does() {
        let stopped = ProbeFailure::Silent { state: Some("stopped (SIGSTOP)".into()) };
        assert_eq!(stopped.to_string(), "no answer within 1500 ms; the process is stopped (SIGSTOP)");
        assert!(state_of(Path::new("/proc"), std::process::id()).is_some());
    }
}
