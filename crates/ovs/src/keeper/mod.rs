//! The keeper: looks, decides, acts, reports, and waits for something to happen.

mod announce;
mod connection;

use std::fs::{File, TryLockError};
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use linesman_daemon::{clock, systemd};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::control::{self, Control};
use crate::logs::{self, LogStyle};
use crate::metrics::Metrics;
use crate::probes::{self, Places, ProbeReport, Running};
use crate::report::{KeeperReport, readiness};
use crate::state_file::StateFile;
use crate::units::decide::{Decision, HostObservation, Options, decide};
use crate::units::history::History;
use crate::units::observe::Systemd;
use crate::units::observed::Unit;
use crate::units::processes::{Process, Processes};
use crate::units::{Action, Finding, act};
use crate::{Error, Result, http};
use announce::Announcements;
use connection::Connection;

/// Signals of systemd tell of changes; this is for what they do not tell.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// What a reader of standard output may take for the last entries.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// How a keeper is started.
#[derive(Clone, Debug)]
pub struct Config {
    pub options: Options,
    /// Probes, and metrics.
    pub listen: Option<SocketAddr>,
    pub state_dir: PathBuf,
    /// None: the journal's entries are not shown.
    pub logs: Option<LogStyle>,
    pub places: Places,
    /// Where settings come from, and whether there is a cluster to report to.
    pub source: control::Source,
    /// Of linesman.
    pub version: String,
}

type Acting = Pin<Box<dyn Future<Output = Vec<(Action, Result<(), act::Error>)>>>>;

#[derive(Debug)]
struct Keeper {
    config: Config,
    connection: Connection,
    history: History,
    history_file: StateFile,
    foreign: (Vec<Process>, bool),
    /// When the processes of the host were last read.
    scanned: Option<Instant>,
    announcements: Announcements,
    report: watch::Sender<KeeperReport>,
    running: watch::Sender<Running>,
    probes: watch::Receiver<ProbeReport>,
}

/// Runs until it is stopped. Open vSwitch stays as it is.
pub async fn run(config: Config) -> Result<()> {
    let mut stop = stop_signals()?;
    let _alone = only_one(&config.state_dir)?;
    let (probe_sender, mut probe_reports) = watch::channel(ProbeReport::default());
    let (running, running_receiver) = watch::channel(Running::default());
    let (report, report_receiver) = watch::channel(KeeperReport::default());
    let metrics = Rc::new(Metrics::new(&config.version));
    if let Some(address) = config.listen {
        http::serve(address, report_receiver.clone(), probe_reports.clone(), metrics.clone()).await?;
    }
    let (source, places) = (config.source.clone(), config.places.clone());
    let control = Control::new(source, &config.state_dir, places, metrics).await?;
    tokio::task::spawn_local(control.run(report_receiver, probe_reports.clone()));
    tokio::task::spawn_local(probes::run(config.places.clone(), running_receiver, probe_sender));
    let logs = config.logs.map(|style| {
        let logs = logs::Config { state_dir: config.state_dir.clone(), style };
        tokio::task::spawn_local(logs::run(logs, tokio::io::stdout(), stop.clone()))
    });
    systemd::watchdog();
    let mut keeper = Keeper::new(config, report, running, probe_reports.clone());
    let mut acting: Option<Acting> = None;
    let mut started = false;
    loop {
        let decision = keeper.turn().await;
        if !std::mem::replace(&mut started, true) {
            systemd::ready();
        }
        if acting.is_none() {
            acting = keeper.act(decision.actions);
        }
        let rest =
            decision.again_in.map_or(LOOK_AGAIN, |seconds| Duration::from_secs(seconds).min(LOOK_AGAIN));
        tokio::select! {
            outcomes = outcomes(&mut acting) => {
                acting = None;
                keeper.acted(outcomes);
            }
            () = keeper.connection.changed() => {}
            changed = probe_reports.changed() => if changed.is_err() {
                pending::<()>().await;
            },
            () = tokio::time::sleep(rest) => {}
            () = logs::stopped(&mut stop) => break,
        }
    }
    systemd::stopping();
    info!("stopping; Open vSwitch stays as it is");
    if let Some(logs) = logs {
        tokio::time::timeout(LAST_OUTPUT, logs).await.ok();
    }
    Ok(())
}

async fn outcomes(acting: &mut Option<Acting>) -> Vec<(Action, Result<(), act::Error>)> {
    match acting {
        Some(acting) => acting.await,
        None => pending().await,
    }
}

/// Two of them would undo what the other has written. Held as long as the file is open; where none can be made, nobody is kept
/// from working.
fn only_one(state_dir: &Path) -> Result<Option<File>> {
    let path = state_dir.join("ovs-keeper/lock");
    let opened = std::fs::create_dir_all(state_dir.join("ovs-keeper")).and_then(|()| File::create(&path));
    let file = match opened {
        Ok(file) => file,
        Err(error) => {
            warn!(
                "cannot open {}: {error}; another keeper on this host would not be noticed",
                path.display()
            );
            return Ok(None);
        }
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::NotAlone { path }),
        Err(TryLockError::Error(error)) => {
            warn!(
                "cannot lock {}: {error}; another keeper on this host would not be noticed",
                path.display()
            );
            Ok(None)
        }
    }
}

/// True once SIGTERM or SIGINT has come.
fn stop_signals() -> Result<watch::Receiver<bool>> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
    let (sender, stop) = watch::channel(false);
    tokio::task::spawn_local(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send(true).ok();
        sender.closed().await;
    });
    Ok(stop)
}

impl Keeper {
    fn new(
        config: Config,
        report: watch::Sender<KeeperReport>,
        running: watch::Sender<Running>,
        probes: watch::Receiver<ProbeReport>,
    ) -> Self {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let history_file = StateFile::history(&config.state_dir);
        let history = history_file.take::<History>().unwrap_or_default().of_boot(boot_id.trim());
        Self {
            config,
            connection: Connection::default(),
            history,
            history_file,
            foreign: (Vec::new(), false),
            scanned: None,
            announcements: Announcements::default(),
            report,
            running,
            probes,
        }
    }

    /// Load, decide, report.
    async fn turn(&mut self) -> Decision {
        let decision = match self.load().await {
            Ok(observation) => {
                self.remember(&observation);
                let decision = decide(&observation, &self.history, self.config.options);
                self.publish(&observation, &decision);
                decision
            }
            Err(error) => {
                let (finding, again_in) = self.connection.failed(&error);
                self.report.send_modify(|report| {
                    report.findings = vec![finding.clone()];
                    report.looked = Instant::now();
                });
                Decision { findings: vec![finding], again_in: Some(again_in), ..Decision::default() }
            }
        };
        let health = readiness(&self.report.borrow(), &self.probes.borrow(), Instant::now());
        self.announcements.findings(&decision.findings);
        self.announcements.health(&health);
        decision
    }

    async fn load(&mut self) -> Result<HostObservation, connection::Error> {
        let (units, host_stopping) = self.connection.units().await?;
        let all_run = Unit::DAEMONS
            .iter()
            .all(|daemon| units.iter().any(|unit| unit.unit == *daemon && unit.is_running()));
        // Reading all of /proc is no small thing on a large node.
        if !all_run || self.scanned.is_none_or(|scanned| scanned.elapsed() >= LOOK_AGAIN) {
            let processes = Processes::read(&self.config.places.proc);
            self.foreign.1 = processes.hidden;
            self.foreign.0 = processes.foreign();
            self.scanned = Some(Instant::now());
        }
        let (foreign, processes_hidden) = self.foreign.clone();
        let silent = self.probes.borrow_and_update().silent.clone();
        Ok(HostObservation { units, foreign, processes_hidden, host_stopping, silent, now: clock::now() })
    }

    fn remember(&mut self, observation: &HostObservation) {
        let before = self.history.clone();
        if !observation.foreign.is_empty() {
            self.history.foreign_seen = Some(observation.now);
        }
        for restart in self.history.observe(&observation.units, observation.now) {
            let crash = restart.crash.map(|exit| format!("; the process before {exit}")).unwrap_or_default();
            let times = if restart.count == 1 { String::new() } else { format!(" {} times", restart.count) };
            warn!(unit = restart.unit.name(), "{} was restarted{times}{crash}", restart.unit);
        }
        if self.history != before
            && let Err(error) = self.history_file.replace(&self.history)
        {
            warn!("{error}; restarts are not counted over a restart of linesman");
        }
    }

    fn publish(&self, observation: &HostObservation, decision: &Decision) {
        let is_running = |unit: &Unit| observation.unit(*unit).is_some_and(|observed| observed.is_running());
        let invocation = |unit: Unit| observation.unit(unit).and_then(|unit| unit.invocation_id.clone());
        let units =
            Unit::DAEMONS.into_iter().filter(is_running).map(|unit| (unit, invocation(unit))).collect();
        self.running.send_if_modified(|known| {
            let now = Running { units: Some(units) };
            let differs = *known != now;
            *known = now;
            differs
        });
        let dead = |unit: &Unit| {
            let is_dead = |finding: &Finding| {
                matches!(finding, Finding::Dead { may_start: true, .. } | Finding::Changing { .. })
            };
            decision.findings.iter().any(|finding| is_dead(finding) && finding.unit() == Some(*unit))
        };
        self.report.send_modify(|report| {
            let since = |unit: Unit| {
                let known = report.down.iter().find(|(down, _)| *down == unit);
                (unit, known.map_or(observation.now, |(_, since)| *since))
            };
            report.down = Unit::DAEMONS.into_iter().filter(dead).map(since).collect();
            report.units = observation.units.iter().map(|unit| self.history.report(unit)).collect();
            report.findings.clone_from(&decision.findings);
            report.looked = Instant::now();
        });
    }

    fn act(&self, actions: Vec<Action>) -> Option<Acting> {
        let systemd = self.connection.systemd().filter(|_| !actions.is_empty())?;
        Some(Box::pin(perform(systemd, actions)))
    }

    fn acted(&mut self, outcomes: Vec<(Action, Result<(), act::Error>)>) {
        for (action, outcome) in outcomes {
            let error = outcome.err().map(|error| error.to_string());
            match &error {
                None => info!("done: {action}"),
                Some(error) => warn!("cannot {action}: {error}"),
            }
            match action {
                Action::Start(unit) => self.history.attempted(unit, error, clock::now()),
                Action::Enable(unit) => self.history.enabled(unit, error.is_none(), clock::now()),
                Action::Kill(unit) => self.history.killed(unit, clock::now()),
            }
        }
    }
}

async fn perform(systemd: Systemd, actions: Vec<Action>) -> Vec<(Action, Result<(), act::Error>)> {
    let mut outcomes = Vec::new();
    for action in actions {
        info!("to do: {action}");
        outcomes.push((action, action.perform(&systemd).await));
    }
    outcomes
}
