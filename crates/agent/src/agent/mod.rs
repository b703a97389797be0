//! The daemon: starts, reconciles, then waits for something to happen.

mod commands;
mod interrupted;
mod reconcile;
mod report;
mod signals;
mod start;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use linesman_core::reconcile::Ledger;
use linesman_daemon::systemd;
use linesman_engine::observe::live::Depth;
use tokio::sync::watch;
use tracing::info;

use crate::attempts::Attempts;
use crate::cluster::Cluster;
use crate::host::Host;
use crate::metrics::Metrics;
use crate::sources::Sources;
use crate::state_file::StateFile;
use crate::status::Status;
use crate::{Config, Result};
use interrupted::Unfinished;
use start::Started;

#[derive(Debug)]
struct Agent {
    config: Config,
    state_file: StateFile,
    ledger: Ledger,
    attempts: Attempts,
    sources: Sources,
    host: Host,
    /// Whether it was frozen when it last looked.
    frozen: bool,
    cluster: Option<Cluster>,
    metrics: Rc<Metrics>,
    status: watch::Sender<Status>,
    started: String,
    /// When it last tried the probes of the host while nothing was going on.
    probed_at: Option<Instant>,
    /// Changes that were begun, and that could not be finished so far.
    unfinished: BTreeMap<String, Unfinished>,
}

/// Runs until it is stopped.
pub async fn run(config: Config) -> Result<()> {
    let Some(started) = Box::pin(start::start(config)).await? else { return Ok(()) };
    let Started { mut agent, mut directory, mut commands, mut stop, socket, _lock } = started;
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
            depth = agent.host.changed() => agent.observed(depth).await,
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

async fn sleep(rest: Option<Duration>) {
    match rest {
        Some(rest) => tokio::time::sleep(rest).await,
        None => std::future::pending().await,
    }
}

impl Agent {
    async fn observed(&mut self, depth: Option<Depth>) {
        match depth {
            Some(Depth::Kernel) => self.metrics.looked("kernel"),
            Some(Depth::Full) => self.metrics.looked("full"),
            None => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    }
}
