//! Start-up: socket, metrics, the lock of other handlers, the policies, what an earlier run left unfinished.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use linesman_daemon::{clock, systemd};
use linesman_engine::journal::Journal;
use linesman_engine::lock::HostLock;
use linesman_engine::probe::ClusterProbe;
use linesman_engine::recover;
use linesman_engine::transaction::Settings;
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use super::Agent;
use super::signals::Signals;
use crate::attempts::Attempts;
use crate::cluster::Cluster;
use crate::cluster::handler_lock::{self, HandlerLock};
use crate::directory::Directory;
use crate::host::Host;
use crate::metrics::Metrics;
use crate::socket::{self, Command};
use crate::sources::{self, Sources};
use crate::state_file::StateFile;
use crate::status::{HostCondition, Status};
use crate::{Config, Error, Result, Source, http};

/// How often state files that cannot be read are looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

pub struct Started {
    pub(super) agent: Agent,
    pub directory: Option<Directory>,
    pub commands: mpsc::Receiver<Command>,
    pub stop: Signals,
    pub socket: PathBuf,
    pub _lock: Option<HandlerLock>,
}

/// None: stopped before it could begin, as while another handler ran on this node.
pub async fn start(config: Config) -> Result<Option<Started>> {
    if let Source::Directory(dir) = &config.source {
        sources::read(dir).map_err(|e| Error::Directory { dir: dir.display().to_string(), source: e })?;
    }
    let mut stop = Signals::listen();
    let metrics = Rc::new(Metrics::new(config.version));
    let started = clock::rfc3339(clock::now());
    let (status, watched) = watch::channel(starting(&config, &started));
    let (command, commands) = mpsc::channel(16);
    let socket = socket::serve(&config.settings.run_dir, watched.clone(), command).await?;
    if let Some(address) = config.listen {
        http::serve(address, metrics.clone(), watched).await?;
    }
    systemd::watchdog();
    if !readable(&config.settings.state_dir, &status, &mut stop).await {
        return Ok(None);
    }
    let lock = match &config.source {
        Source::Cluster(cluster) => match alone(&cluster.handler_lock, &status, &mut stop).await? {
            Some(lock) => Some(lock),
            None => return Ok(None),
        },
        Source::Directory(_) => None,
    };
    let (directory, cluster) = match &config.source {
        Source::Directory(dir) => (Some(Directory::watch(dir)), None),
        Source::Cluster(cluster) => {
            (None, Some(Cluster::join(cluster, &config.settings.state_dir, metrics.clone()).await?))
        }
    };
    let state_file = StateFile::ledger(&config.settings.state_dir);
    let ledger = state_file.take()?;
    let attempts = Attempts::take(&config.settings.state_dir)?;
    let host = Host::default();
    let probes = cluster.as_ref().map(|cluster| cluster.probes.clone() as Arc<dyn ClusterProbe>);
    let config = Config { settings: Settings { cluster: probes, ..config.settings.clone() }, ..config };
    let mut agent = Agent {
        config,
        state_file,
        ledger,
        attempts,
        sources: Sources::default(),
        host,
        frozen: false,
        cluster,
        metrics,
        status,
        started,
        probed_at: None,
        unfinished: BTreeMap::new(),
    };
    agent.catch_up().await;
    systemd::ready();
    info!(policies = agent.sources.policies.len(), source = %agent.config.source, "ready");
    Ok(Some(Started { agent, directory, commands, stop, socket, _lock: lock }))
}

fn starting(config: &Config, started: &str) -> Status {
    Status {
        condition: HostCondition::Progressing,
        summary: "starting".into(),
        version: config.version.into(),
        pid: std::process::id(),
        started: started.into(),
        ..Status::default()
    }
}

/// Waits as long as there are state files of a newer version: an agent that ended would only be started again, and
/// nobody could ask it why it does nothing. False: stopped meanwhile.
async fn readable(state_dir: &Path, status: &watch::Sender<Status>, stop: &mut Signals) -> bool {
    let mut reported = false;
    while let Err(error) = StateFile::refuse_newer(state_dir) {
        if !reported {
            tracing::error!("{error}; the network stays as it is");
            status.send_modify(|status| {
                status.condition = HostCondition::Degraded;
                status.summary = error.to_string();
            });
            systemd::status(&error.to_string());
            systemd::ready();
            reported = true;
        }
        if let Ok(true) = tokio::time::timeout(LOOK_AGAIN, stop.received()).await {
            return false;
        }
    }
    if reported {
        status.send_modify(|status| {
            status.condition = HostCondition::Progressing;
            status.summary = "starting".into();
        });
    }
    true
}

/// Waits until no other handler runs on this node; none: stopped meanwhile.
async fn alone(
    path: &Path,
    status: &watch::Sender<Status>,
    stop: &mut Signals,
) -> Result<Option<HandlerLock>> {
    let failed = |e: std::io::Error| Error::HandlerLock { path: path.display().to_string(), source: e };
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

impl Agent {
    /// From the journal, the host, and the policies.
    async fn catch_up(&mut self) {
        self.finish_earlier().await;
        self.host.look().await;
        if let Some(cluster) = &mut self.cluster {
            let records = Journal::new(&self.config.settings.state_dir).records();
            let state = self.host.state();
            cluster.settle_earlier(&mut self.ledger, &mut self.attempts, &records, state);
        }
        self.settle_attempts();
        self.reload();
        self.report();
    }

    /// Learns how what an earlier run was about to do has ended. True if the ledger is another one now.
    pub(super) fn settle_attempts(&mut self) -> bool {
        if self.attempts.is_empty() {
            return false;
        }
        let records = Journal::new(&self.config.settings.state_dir).records();
        let entered = self.attempts.settle(&mut self.ledger, &records);
        let stored = !entered || self.store();
        if stored && self.attempts.is_empty() {
            self.attempts.end();
        }
        entered
    }

    /// Finishes what an earlier run of this agent, or a command, left unfinished.
    async fn finish_earlier(&mut self) {
        let settings = &self.config.settings;
        let journal = Journal::new(&settings.state_dir);
        let finished = match HostLock::take(&settings.run_dir) {
            Ok(_lock) => recover::finish_earlier(&journal, &settings.cluster).await,
            Err(e) => Err(e),
        };
        if let Err(e) = finished {
            warn!("{e}");
        }
    }
}
