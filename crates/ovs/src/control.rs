//! Applies the settings and reports: what follows from documents, units, probes and the database. It waits for nobody, and the
//! keeper's loop does not wait for it.

mod problems;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use linesman_api::open_vswitch::{OpenVSwitchStatus, Versions};
use linesman_api::time::Time;
use linesman_daemon::clock;
use linesman_daemon::renewal::Renewal;
use linesman_ovsdb::{Client, Membership, Remote, Snapshot, unixctl};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::probes::{Places, ProbeReport};
use crate::report::KeeperReport;
use crate::settings::refusal::Refusal;
use crate::settings::{Documents, Feed, Host, Outcome, Restart, Settings, Turn};
use crate::status::{DatabaseFacts, Observation, Publisher, PublisherSettings, build, events, published};
use crate::units::observed::Unit;

/// For what is not told: log levels that somebody sets by hand, metrics, memory.
const AGAIN: Duration = Duration::from_secs(60);
/// What failed, or waits for its turn, is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// Two rounds of probes.
const FIRST_PROBES: Duration = Duration::from_secs(6);
const ANSWER: Duration = Duration::from_secs(2);
/// Of refusals at once: the status has more of them.
const MOST_LOGGED: usize = 20;

#[derive(Debug, Clone)]
pub enum Source {
    /// A file of settings, or a directory of them.
    File(PathBuf),
    Cluster {
        kubeconfig: Option<PathBuf>,
        namespace: String,
        node: String,
        /// Removes the start-up taint of the node when Open vSwitch is ready.
        remove_taint: bool,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Cluster(#[from] linesman_daemon::cluster::Error),
    #[error("cannot use the socket of the database: {0}")]
    Database(#[from] linesman_ovsdb::Error),
}

/// What wakes it: the same again changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause {
    documents: Option<Documents>,
    runs: Vec<(Unit, Option<String>)>,
    keys: BTreeMap<String, String>,
}

pub struct Control {
    host: Host,
    places: Places,
    feed: Feed,
    /// None: what was written earlier cannot be read, so nothing can be said of whose a key is.
    settings: Option<Settings>,
    publisher: Option<Publisher>,
    metrics: Rc<Metrics>,
    documents: Option<Documents>,
    cause: Option<Cause>,
    outcome: Option<Outcome>,
    status: Option<OpenVSwitchStatus>,
    failures: Vec<String>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Control {
    pub async fn new(
        source: Source,
        state_dir: &Path,
        places: Places,
        metrics: Rc<Metrics>,
    ) -> Result<Self, Error> {
        let remote = Remote::unix(places.database());
        let client = Client::builder([remote], "Open_vSwitch").membership(Membership::Unchecked);
        let database = client.monitor(DatabaseFacts::monitor()).start()?;
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let run_dir = places.run_dir.clone();
        let host = Host { database, run_dir, bus: None, boot_id: boot_id.trim().into() };
        let (feed, turn, publisher, status) = match source {
            Source::File(path) => (Feed::file(&path), Turn::Standalone, None, None),
            Source::Cluster { kubeconfig, namespace, node, remove_taint } => {
                let renewal = Renewal::default();
                let client =
                    linesman_daemon::cluster::connect_renewable(kubeconfig.as_deref(), &renewal).await?;
                let feed = Feed::cluster(client.clone(), renewal, &namespace, &node);
                let turn = Turn::in_cluster(client.clone(), &namespace, &node);
                let known = tokio::time::timeout(ANSWER, published(&client, &node)).await;
                let known = known.ok().and_then(Result::ok).flatten();
                let publisher = PublisherSettings { client, node, remove_taint };
                (feed, turn, Some(Publisher::start(publisher, known.clone())), known)
            }
        };
        let settings = Settings::open(state_dir, turn).inspect_err(|error| {
            tracing::error!("{error}; until then no settings are applied, and those that are set stay");
        });
        let settings = settings.ok();
        let (documents, cause, outcome, failures) = (None, None, None, Vec::new());
        Ok(Self {
            host,
            places,
            feed,
            settings,
            publisher,
            metrics,
            documents,
            cause,
            outcome,
            status,
            failures,
        })
    }

    /// For ever.
    pub async fn run(
        mut self,
        mut report: watch::Receiver<KeeperReport>,
        mut probes: watch::Receiver<ProbeReport>,
    ) {
        // It was made with a monitor.
        let Some(mut replica) = self.host.database.replica() else { return };
        let mut again = Instant::now();
        // A keeper that is restarted must not report a healthy host as unavailable until its first probes are back.
        let patience = Instant::now() + FIRST_PROBES;
        let mut probed_once = false;
        loop {
            let snapshot = replica.snapshot();
            let units = report.borrow_and_update().clone();
            let probed = probes.borrow_and_update().clone();
            if !units.units.is_empty() || !units.findings.is_empty() {
                self.settle(&units, &snapshot, Instant::now() >= again).await;
                probed_once |= probed.results.iter().all(|(_, result)| result.is_ok());
                if probed_once || Instant::now() >= patience {
                    self.tell(&units, &probed, &snapshot).await;
                }
            }
            if Instant::now() >= again {
                self.measure().await;
                again = Instant::now() + if self.is_unfinished() { RETRY } else { AGAIN };
            } else if self.is_unfinished() {
                again = again.min(Instant::now() + RETRY);
            }
            tokio::select! {
                documents = self.feed.changed() => self.documents = Some(documents),
                changed = report.changed() => if changed.is_err() { return },
                changed = probes.changed() => if changed.is_err() { return },
                changed = replica.changed() => if changed.is_err() { return },
                () = tokio::time::sleep_until(again) => {}
                () = tokio::time::sleep_until(patience), if !probed_once && Instant::now() < patience => {}
            }
        }
    }

    fn is_unfinished(&self) -> bool {
        let waits = |outcome: &Outcome| !outcome.failures.is_empty() || outcome.restart == Restart::Waiting;
        self.outcome.as_ref().is_some_and(waits)
    }

    /// One round of settings, if there is a cause.
    async fn settle(&mut self, report: &KeeperReport, snapshot: &Snapshot, due: bool) {
        let runs = report.units.iter().map(|unit| (unit.observed.unit, unit.observed.invocation_id.clone()));
        let cause = Cause { documents: self.documents.clone(), runs: runs.collect(), keys: keys(snapshot) };
        let Some(documents) = &self.documents else { return };
        if self.cause.as_ref() == Some(&cause) && !due {
            return;
        }
        self.cause = Some(cause);
        let Some(settings) = &mut self.settings else { return };
        if self.host.bus.is_none() {
            self.host.bus = zbus::Connection::system().await.ok();
        }
        let units: Vec<_> = report.units.iter().map(|unit| unit.observed.clone()).collect();
        let outcome = settings.reconcile(documents, &units, &self.host).await;
        self.log(&outcome);
        if self.host.bus.as_ref().is_some_and(|_| !outcome.failures.is_empty()) {
            // It may be the bus that was restarted.
            self.host.bus = None;
        }
        self.metrics.settings(&outcome);
        self.outcome = Some(outcome);
    }

    /// What is new is said once.
    fn log(&mut self, outcome: &Outcome) {
        outcome.changed.iter().for_each(|change| tracing::info!("setting {change}"));
        outcome.notes.iter().for_each(|note| tracing::info!("setting {note}"));
        let known = self.outcome.take().unwrap_or_default();
        let known: BTreeSet<&Refusal> = known.refusals.iter().collect();
        let new: Vec<&Refusal> = outcome.refusals.iter().filter(|refusal| !known.contains(refusal)).collect();
        for refusal in new.iter().take(MOST_LOGGED) {
            tracing::warn!(reason = refusal.cause.as_str(), "{refusal}");
        }
        if let Some(more) = new.len().checked_sub(MOST_LOGGED).filter(|more| *more > 0) {
            tracing::warn!("{more} more settings are refused");
        }
        for failure in outcome.failures.iter().filter(|failure| !self.failures.contains(failure)) {
            tracing::warn!("{failure}; trying again");
        }
        self.failures.clone_from(&outcome.failures);
    }

    async fn tell(&mut self, report: &KeeperReport, probes: &ProbeReport, snapshot: &Snapshot) {
        self.metrics.units(&report.units);
        let database = DatabaseFacts::read(snapshot);
        if let Some(facts) = &database {
            self.metrics.configuration(facts.next_cfg, facts.cur_cfg);
        }
        let Some(publisher) = &self.publisher else { return };
        let problems = problems::problems(report, probes);
        let database = database.filter(|_| probes.result(crate::probes::ProbeKind::Database).is_ok());
        let observation = Observation {
            units: report.units.clone(),
            versions: self.versions().await,
            database,
            settings: self.outcome.clone(),
            problems,
        };
        let previous = self.status.clone().unwrap_or_default();
        let status = build(&previous, &observation, Time(clock::now()));
        if self.status.as_ref() != Some(&status) {
            let events = events(self.status.as_ref(), &status, self.outcome.as_ref());
            publisher.publish(status.clone(), events);
            self.status = Some(status);
        }
        // Events tell of a round once.
        if let Some(outcome) = &mut self.outcome {
            outcome.changed.clear();
        }
    }

    async fn versions(&self) -> Versions {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        Versions {
            ovs: version(&self.places, "ovs-vswitchd").await,
            ovsdb_server: version(&self.places, "ovsdb-server").await,
            kernel: kernel.map(|release| release.trim().to_owned()),
            schema: None,
        }
    }

    async fn measure(&self) {
        if let Err(error) = self.metrics.read_vswitchd(&self.places.run_dir).await {
            tracing::debug!("ovs-vswitchd cannot be measured: {error}");
        }
    }
}

/// `ovs-vswitchd (Open vSwitch) 3.5.0`; a daemon that hangs has none.
async fn version(places: &Places, daemon: &str) -> Option<String> {
    let text = unixctl::Daemon::new(&places.run_dir, daemon).call("version", &[], ANSWER).await.ok()?;
    text.lines().next()?.rsplit(' ').next().map(str::to_owned)
}

fn keys(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let row = snapshot.table("Open_vSwitch").and_then(|rows| rows.iter().next());
    let Some((_, row)) = row else { return BTreeMap::new() };
    let mut keys = BTreeMap::new();
    for column in ["other_config", "external_ids"] {
        for (key, value) in row.text_map(column).into_iter().flatten() {
            keys.insert(format!("{column}:{key}"), value.to_owned());
        }
    }
    keys
}
