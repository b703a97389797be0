//! The loop: load, decide, act, report; then wait for something to happen.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use linesman_core::outcome::Outcome;
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Ledger, Next, PolicyState, Situation, decide};
use linesman_core::secrets::Secrets;
use linesman_daemon::clock;
use linesman_engine::journal::Journal;
use linesman_engine::lock::HostLock;
use linesman_engine::observe::live::Depth;
use linesman_engine::probe::ClusterProbe;
use linesman_engine::recover;
use linesman_engine::transaction::{Session, Settings, Step};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::act::{self, Ready, reason};
use crate::cluster::Cluster;
use crate::cluster::handler_lock::{self, HandlerLock};
use crate::directory::Directory;
use crate::host::Host;
use crate::metrics::Metrics;
use crate::socket::{self, Command};
use crate::sources::{self, Sources};
use crate::state_file::StateFile;
use crate::status::{self, Status};
use crate::{Config, Error, Result, Source, freeze, http, progress, systemd};

/// Another writer may be in the middle of a change: drift is corrected if it is still there after this time.
const SETTLE_TIME: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Agent {
    config: Config,
    state_file: StateFile,
    ledger: Ledger,
    sources: Sources,
    host: Host,
    cluster: Option<Cluster>,
    metrics: Rc<Metrics>,
    status: watch::Sender<Status>,
    started: String,
}

/// Runs until it is stopped.
pub async fn run(config: Config) -> Result<()> {
    let sources = match &config.source {
        Source::Directory(dir) => sources::read(dir)
            .map_err(|e| Error::Directory { dir: dir.display().to_string(), why: e.to_string() })?,
        Source::Cluster(_) => Sources::default(),
    };
    let mut stop = Signals::listen();
    let metrics = Rc::new(Metrics::new(config.version));
    let started = clock::rfc3339(clock::now());
    let (status, watched) = watch::channel(Status {
        condition: status::HostCondition::Progressing,
        summary: "starting".into(),
        version: config.version.into(),
        pid: std::process::id(),
        started: started.clone(),
        ..Status::default()
    });
    let (command, mut commands) = mpsc::channel(16);
    let socket = socket::serve(&config.settings.run_dir, watched.clone(), command).await?;
    if let Some(address) = config.listen {
        http::serve(address, metrics.clone(), watched).await?;
    }
    systemd::watchdog();
    let _lock = match &config.source {
        Source::Cluster(cluster) => match alone(&cluster.handler_lock, &status, &mut stop).await? {
            Some(lock) => Some(lock),
            None => return Ok(()),
        },
        Source::Directory(_) => None,
    };
    let (mut directory, cluster) = match &config.source {
        Source::Directory(dir) => (Some(Directory::watch(dir)), None),
        Source::Cluster(cluster) => {
            (None, Some(Cluster::join(cluster, &config.settings.state_dir, metrics.clone()).await?))
        }
    };
    let state_file = StateFile::ledger(&config.settings.state_dir);
    let ledger = state_file.read()?;
    let host = Host::default();
    let probes = cluster.as_ref().map(|cluster| cluster.probes.clone() as Arc<dyn ClusterProbe>);
    let config = Config { settings: Settings { cluster: probes, ..config.settings.clone() }, ..config };
    let mut agent = Agent { config, state_file, ledger, sources, host, cluster, metrics, status, started };
    agent.finish_earlier().await;
    agent.host.look().await;
    if let Some(cluster) = &mut agent.cluster {
        let records = Journal::new(&agent.config.settings.state_dir).records();
        cluster.settle_earlier(&mut agent.ledger, &records, agent.host.state());
    }
    agent.reload();
    agent.report();
    systemd::ready();
    info!(policies = agent.sources.policies.len(), source = %agent.config.source, "ready");
    loop {
        let rest = agent.settle().await;
        let changed = async {
            match (&mut directory, &mut agent.cluster) {
                (Some(directory), _) => directory.changed().await,
                (None, Some(cluster)) => cluster.changed().await,
                (None, None) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changed => agent.reload(),
            depth = agent.host.changed() => agent.looked(depth).await,
            Some(command) = commands.recv() => agent.obey(command),
            () = sleep(rest) => {}
            stopped = stop.received() => {
                if stopped {
                    break;
                }
                agent.reload();
            }
        }
    }
    systemd::stopping();
    info!("stopping; the network stays as it is");
    std::fs::remove_file(socket).ok();
    Ok(())
}

/// Waits until no other handler runs on this node; none: stopped meanwhile.
async fn alone(
    path: &Path,
    status: &watch::Sender<Status>,
    stop: &mut Signals,
) -> Result<Option<HandlerLock>> {
    let failed =
        |e: std::io::Error| Error::HandlerLock { path: path.display().to_string(), why: e.to_string() };
    let file = match handler_lock::take(path).map_err(failed)? {
        Ok(lock) => return Ok(Some(lock)),
        Err(file) => file,
    };
    let summary = format!(
        "another handler, such as kubernetes-nmstate's, runs on this node (it holds {}); waiting until it ends",
        path.display()
    );
    warn!("{summary}");
    status.send_modify(|status| status.summary = summary);
    systemd::ready();
    let mut wait = std::pin::pin!(handler_lock::wait(file));
    loop {
        tokio::select! {
            lock = &mut wait => return lock.map(Some).map_err(failed),
            stopped = stop.received() => if stopped {
                return Ok(None);
            }
        }
    }
}

async fn sleep(rest: Option<Duration>) {
    match rest {
        Some(rest) => tokio::time::sleep(rest).await,
        None => std::future::pending().await,
    }
}

impl Agent {
    /// Load, decide, act, report, until there is nothing to do; returns how long to rest at most.
    async fn settle(&mut self) -> Option<Duration> {
        loop {
            self.host.compare(&self.ledger);
            self.report();
            let frozen = freeze::read(&self.config.settings.state_dir).is_some();
            self.accept_releases(frozen).await;
            let situation = Situation {
                policies: &self.sources.policies,
                unreadable: &self.sources.unreadable(),
                ledger: &self.ledger,
                frozen,
                drift: &self.host.drift,
                now: clock::now(),
            };
            match decide(&situation) {
                Next::Idle { until } => {
                    self.publish_to_cluster().await;
                    return until.map(|u| Duration::from_secs(u.saturating_sub(clock::now()).max(1)));
                }
                Next::Forget(names) => {
                    for name in names {
                        info!(policy = name, "removed; its configuration stays on the host");
                        self.ledger.0.remove(&name);
                    }
                    self.store();
                }
                Next::Revert(name) => self.revert(&name).await,
                Next::Apply(names) => self.apply(&names).await,
                Next::Correct(names) => self.correct(&names).await,
            }
        }
    }

    /// In a cluster: forgets what is gone, and accepts what was released to this node.
    async fn accept_releases(&mut self, frozen: bool) {
        let Some(cluster) = &mut self.cluster else { return };
        let mut news = cluster.forget(&mut self.ledger);
        if !frozen {
            news |= cluster.accept_releases(&mut self.ledger).await;
        }
        if news {
            self.sources = cluster.sources(&self.ledger);
            self.store();
        }
    }

    /// In a cluster: the status of the enactments, and the state of the node.
    async fn publish_to_cluster(&mut self) {
        let Some(cluster) = &mut self.cluster else { return };
        for status in status::policies(&self.sources, &self.ledger, &self.host.drift, clock::now()) {
            if let (status::PolicyPhase::Refused, Some(why)) = (status.phase, &status.reason) {
                cluster.contradicted(&status.name, why);
            }
        }
        let freeze = freeze::read(&self.config.settings.state_dir);
        cluster.publish_statuses(&self.ledger, &self.host.drift, freeze.as_ref());
        // What a transaction has just made is looked at again in full before it is shown.
        if self.host.observation_error.is_none() && (self.host.is_settled() || cluster.is_asked()) {
            cluster.publish_node_state(self.host.state()).await;
        }
    }

    async fn apply(&mut self, names: &[String]) {
        let named = |name: &String| self.sources.policies.iter().find(|p| p.name == *name).cloned();
        let policies: Vec<Policy> = names.iter().filter_map(named).collect();
        let secrets = match &self.cluster {
            Some(cluster) => cluster.secrets(&policies).await,
            None => Secrets::default(),
        };
        let session = match act::begin(&self.config.settings).await {
            Ok(session) => session,
            Err(outcome) => {
                warn!(policies = names.join(", "), "{}", reason(&outcome));
                for policy in &policies {
                    self.note(policy, None, &outcome);
                }
                return self.store();
            }
        };
        let mut ready = Vec::new();
        for (policy, result) in act::prepare(&policies, &secrets, session.loaded()) {
            match result {
                Ok(one) => ready.push(one),
                Err(outcome) => self.enter(&policy, None, &outcome),
            }
        }
        if let Some(cluster) = &mut self.cluster {
            cluster.planned(&ready);
        }
        let all: Vec<&Ready> = ready.iter().collect();
        if !all.is_empty() {
            let outcome = self.together(session, &all, &secrets).await;
            if all.len() > 1 && act::has_culprit(&outcome) {
                warn!(
                    policies = names.join(", "),
                    "applied together: {}; applying them one by one",
                    reason(&outcome)
                );
                for one in &all {
                    let outcome = match act::begin(&self.config.settings).await {
                        Ok(session) => self.together(session, &[one], &secrets).await,
                        Err(outcome) => outcome,
                    };
                    self.enter(&one.policy, Some(one), &outcome);
                }
            } else {
                for one in &all {
                    self.enter(&one.policy, Some(one), &outcome);
                }
            }
        }
        self.host.verified(&self.ledger, names);
        self.store();
    }

    async fn together(&mut self, session: Session, ready: &[&Ready], secrets: &Secrets) -> Outcome {
        let status = self.status.clone();
        let probes = self.cluster.as_ref().map(|cluster| cluster.probes.clone());
        let mut on_step = |what: &str, step: &_| {
            if let (Some(probes), Step::Applying) = (&probes, step) {
                probes.assume_ready(false);
            }
            publish_progress(&status, what, progress::step(step));
        };
        let outcome = act::together(session, ready, secrets, &self.config.settings, &mut on_step).await;
        if let Some(cluster) = &self.cluster {
            cluster.probes.assume_ready(false);
        }
        self.metrics.outcome(&outcome);
        outcome
    }

    fn enter(&mut self, policy: &Policy, ready: Option<&Ready>, outcome: &Outcome) {
        progress::log_outcome(&policy.name, outcome);
        self.note(policy, ready, outcome);
    }

    fn note(&mut self, policy: &Policy, ready: Option<&Ready>, outcome: &Outcome) {
        act::enter(&mut self.ledger, policy, ready, outcome);
        // The ledger is on disk before the outcome is published.
        if self.cluster.is_some() {
            self.store();
        }
        if let Some(cluster) = &mut self.cluster {
            let attempts = match self.ledger.get(&policy.name).map(|e| &e.policy_state) {
                Some(PolicyState::Waiting { attempts, .. }) => *attempts,
                _ => 1,
            };
            cluster.enter(&policy.name, ready, outcome, attempts);
            self.sources = cluster.sources(&self.ledger);
        }
    }

    async fn revert(&mut self, name: &str) {
        let Some(entry) = self.ledger.get(name).cloned() else { return };
        let applied = self.ledger.applied();
        if let Some(cluster) = &self.cluster {
            cluster.probes.assume_ready(false);
        }
        let status = self.status.clone();
        let mut on_step = |what: &str, step: &_| publish_progress(&status, what, progress::step(step));
        let outcome = act::revert(&entry, &applied, &self.config.settings, &mut on_step).await;
        self.metrics.outcome(&outcome);
        if outcome.succeeded() {
            info!(policy = name, "removed; its changes were reverted");
            self.ledger.0.remove(name);
        } else if let Some(entry) = self.ledger.0.get_mut(name) {
            let reason = reason(&outcome);
            warn!(policy = name, "removed, but its changes could not be reverted: {reason}");
            entry.transition(PolicyState::RevertFailed { reason });
        }
        self.store();
        if let Some(cluster) = &mut self.cluster {
            cluster.enter(name, None, &outcome, 1);
            self.sources = cluster.sources(&self.ledger);
        }
        self.host.verified(&self.ledger, &[]);
        self.report();
    }

    /// Corrects drift that is still there after `SETTLE_TIME`.
    async fn correct(&mut self, names: &[String]) {
        tokio::time::sleep(SETTLE_TIME).await;
        self.host.look().await;
        self.host.compare(&self.ledger);
        let drifted: Vec<String> =
            names.iter().filter(|n| self.host.drift.contains_key(*n)).cloned().collect();
        if drifted.is_empty() {
            return;
        }
        for name in &drifted {
            let first = self.host.drift.get(name).and_then(|d| d.first()).map(ToString::to_string);
            warn!(policy = name, "drifted: {}", first.unwrap_or_default());
            if let Some(entry) = self.ledger.0.get_mut(name) {
                entry.corrections.record(clock::now());
                self.metrics.corrections.inc();
            }
        }
        self.apply(&drifted).await;
    }

    fn reload(&mut self) {
        let dir = match (&self.cluster, &self.config.source) {
            (Some(cluster), _) => {
                self.sources = cluster.sources(&self.ledger);
                return;
            }
            (None, Source::Directory(dir)) => dir.clone(),
            (None, Source::Cluster(_)) => return,
        };
        match sources::read(&dir) {
            Ok(sources) => {
                for (name, why) in &sources.wrong {
                    if self.sources.wrong.get(name) != Some(why) {
                        warn!(policy = name, "cannot be read:\n{why}");
                    }
                }
                self.sources = sources;
                // What one policy lacked another may have brought.
                for entry in self.ledger.0.values_mut() {
                    if let PolicyState::Waiting { until, .. } = &mut entry.policy_state {
                        *until = 0;
                    }
                }
            }
            Err(e) => warn!("cannot read {}: {e}; the applied policies stay", dir.display()),
        }
    }

    async fn looked(&mut self, depth: Option<Depth>) {
        match depth {
            Some(Depth::Kernel) => self.metrics.looked("kernel"),
            Some(Depth::Full) => self.metrics.looked("full"),
            None => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Look(answer) => {
                self.reload();
                self.report();
                answer.send(()).ok();
            }
            Command::Retry(name, answer) => {
                let mut retried = Vec::new();
                // In a cluster a new try is the operator's: whoever wants one edits the policy.
                let alone = self.cluster.is_none();
                self.ledger.0.retain(|known, entry| {
                    let meant = name.as_ref().is_none_or(|name| name == known);
                    let corrected = !entry.corrections.is_empty();
                    if !meant || (!corrected && (entry.is_applied() || !alone)) {
                        return true;
                    }
                    retried.push(known.clone());
                    entry.corrections = linesman_core::reconcile::CorrectionHistory::default();
                    if !entry.is_applied() && alone {
                        entry.transition(PolicyState::Waiting {
                            reason: "retried".into(),
                            attempts: 0,
                            until: 0,
                        });
                    }
                    true
                });
                self.store();
                answer.send(retried).ok();
            }
        }
    }

    /// Finishes what an earlier run of this agent, or a command, left unfinished.
    async fn finish_earlier(&mut self) {
        let finished = match HostLock::take(&self.config.settings.run_dir) {
            Ok(_lock) => recover::finish_earlier(&Journal::new(&self.config.settings.state_dir)).await,
            Err(e) => Err(e),
        };
        if let Err(e) = finished {
            warn!("{e}");
        }
    }

    fn store(&mut self) {
        if let Err(e) = self.state_file.write(&self.ledger) {
            warn!("{e}; after a restart all policies are compared with the host again");
        }
        self.report();
    }

    fn report(&mut self) {
        let policies = status::policies(&self.sources, &self.ledger, &self.host.drift, clock::now());
        let frozen = freeze::read(&self.config.settings.state_dir);
        let (condition, summary) =
            status::summarise(&policies, frozen.as_ref(), self.host.observation_error.as_deref());
        let api_server_error =
            self.cluster.as_ref().and_then(|cluster| cluster.api_server_error().map(str::to_owned));
        let status = Status {
            condition,
            summary,
            policies,
            frozen,
            observation_error: self.host.observation_error.clone(),
            api_server_error,
            version: self.config.version.into(),
            pid: std::process::id(),
            started: self.started.clone(),
            observed: match self.host.observed {
                0 => "never".into(),
                seconds => clock::rfc3339(seconds),
            },
        };
        self.metrics.status(&status, self.host.observed);
        publish(&self.status, status);
    }
}

/// Notifies only of changes; that an observation found nothing new is none.
fn publish(sender: &watch::Sender<Status>, status: Status) {
    let changed = sender.send_if_modified(|known| {
        let same = Status { observed: known.observed.clone(), ..status.clone() } == *known;
        *known = status;
        !same
    });
    if changed {
        systemd::status(&sender.borrow().summary);
    }
}

/// In the middle of a transaction only the summary changes.
fn publish_progress(sender: &watch::Sender<Status>, what: &str, step: &str) {
    sender.send_modify(|status| {
        status.condition = status::HostCondition::Progressing;
        status.summary = format!("{what}: {step}");
    });
    systemd::status(&sender.borrow().summary);
}

/// SIGTERM and SIGINT stop, SIGHUP reads everything again.
#[derive(Debug)]
struct Signals {
    stop: mpsc::Receiver<bool>,
}

impl Signals {
    fn listen() -> Self {
        let (send, stop) = mpsc::channel(4);
        for (kind, ends) in
            [(SignalKind::terminate(), true), (SignalKind::interrupt(), true), (SignalKind::hangup(), false)]
        {
            let send = send.clone();
            if let Ok(mut signals) = signal(kind) {
                tokio::task::spawn_local(async move {
                    while signals.recv().await.is_some() {
                        send.send(ends).await.ok();
                    }
                });
            }
        }
        Self { stop }
    }

    /// True: stop; false: read again.
    async fn received(&mut self) -> bool {
        match self.stop.recv().await {
            Some(ends) => ends,
            None => std::future::pending().await,
        }
    }
}
