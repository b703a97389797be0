//! Restarts ovs-vswitchd for settings that it reads at its start only, on one node of a cluster at a time.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use linesman_api::names::{KEEPER_MANAGER, OVS_RESTART_LEASE};
use linesman_ovsdb::unixctl;
use zbus::Connection;

use super::key::Daemon;
use super::reconcile::Host;
use super::unit_properties;

/// Of the Lease: a node that is switched off in the middle holds the others up for so long.
const DURATION: Duration = Duration::from_secs(300);
const ANSWER: Duration = Duration::from_secs(5);
/// ovs-vswitchd has answered by then, or something is wrong with it.
const PATIENCE: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(250);

/// What is done about settings that need a restart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Restart {
    /// None is needed, or none allowed.
    #[default]
    None,
    /// Another node restarts its own, or the API server does not answer.
    Waiting,
    /// ovs-vswitchd was restarted, and answers.
    Done,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the Lease for restarts of ovs-vswitchd cannot be had: {0}")]
    Lease(#[from] kube::Error),
    #[error("the API server does not answer about the Lease for restarts of ovs-vswitchd")]
    NoAnswer,
    #[error("systemd does not restart ovs-vswitchd: {0}")]
    Systemd(#[from] zbus::Error),
    #[error("systemd has not restarted ovs-vswitchd within {} s; other nodes wait", PATIENCE.as_secs())]
    NotRestarted,
    #[error("ovs-vswitchd does not answer {} s after its restart: {source}; other nodes wait", PATIENCE.as_secs())]
    Silent { source: unixctl::Error },
}

/// Whose turn it is to restart.
#[derive(Debug)]
pub enum Turn {
    /// A host of its own.
    Standalone,
    Cluster(Box<LeaseTurn>),
}

impl Turn {
    pub fn in_cluster(client: Client, namespace: &str, node: &str) -> Self {
        let api = Api::namespaced(client, namespace);
        Self::Cluster(Box::new(LeaseTurn { api, node: node.into(), seen: None, ours: false }))
    }

    pub(super) async fn restart(&mut self, bus: &Connection, host: &Host) -> Result<Restart, Error> {
        if !self.begin().await? {
            return Ok(Restart::Waiting);
        }
        let before = vswitchd(host).pid().ok();
        unit_properties::restart_vswitchd(bus).await?;
        wait_for_another(before, host).await?;
        self.end().await?;
        Ok(Restart::Done)
    }

    async fn begin(&mut self) -> Result<bool, Error> {
        match self {
            Self::Standalone => Ok(true),
            Self::Cluster(lease) => bounded(lease.take()).await,
        }
    }

    /// A turn that was begun ends only when nothing awaits a restart any more.
    pub(super) async fn end(&mut self) -> Result<(), Error> {
        match self {
            Self::Cluster(lease) if lease.ours => bounded(lease.give_back()).await,
            _ => Ok(()),
        }
    }
}

async fn bounded<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Error> {
    Ok(tokio::time::timeout(ANSWER, request).await.map_err(|_| Error::NoAnswer)??)
}

fn vswitchd(host: &Host) -> unixctl::Daemon {
    unixctl::Daemon::new(&host.run_dir, Daemon::OvsVswitchd.as_str())
}

/// The process that was there answers for a moment after systemd has accepted the job.
async fn wait_for_another(before: Option<u32>, host: &Host) -> Result<(), Error> {
    let deadline = Instant::now() + PATIENCE;
    let daemon = vswitchd(host);
    loop {
        match daemon.call("version", &[], ANSWER).await {
            Ok(_) if daemon.pid().ok() != before => return Ok(()),
            Err(source) if Instant::now() >= deadline => return Err(Error::Silent { source }),
            Ok(_) if Instant::now() >= deadline => return Err(Error::NotRestarted),
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

#[derive(Debug)]
pub struct LeaseTurn {
    api: Api<Lease>,
    node: String,
    /// The Lease as last seen, and since when it has been so, by our own clock.
    seen: Option<(Option<LeaseSpec>, Instant)>,
    ours: bool,
}

impl LeaseTurn {
    async fn take(&mut self) -> kube::Result<bool> {
        let lease = self.api.get_opt(OVS_RESTART_LEASE).await?;
        if let Some(lease) = &lease
            && !self.is_free(lease, Instant::now())
        {
            return Ok(false);
        }
        let node = self.node.clone();
        self.ours = self.write(lease, &node).await?;
        Ok(self.ours)
    }

    fn is_free(&mut self, lease: &Lease, now: Instant) -> bool {
        let since = match &self.seen {
            Some((seen, since)) if *seen == lease.spec => *since,
            _ => now,
        };
        self.seen = Some((lease.spec.clone(), since));
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default();
        holder.is_empty() || holder == self.node || now.saturating_duration_since(since) >= DURATION
    }

    async fn give_back(&mut self) -> kube::Result<()> {
        if let Some(lease) = self.api.get_opt(OVS_RESTART_LEASE).await? {
            let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
            if holder == Some(self.node.as_str()) {
                self.write(Some(lease), "").await?;
            }
        }
        self.ours = false;
        Ok(())
    }

    /// Only for the version that was read: of two nodes that try, one is refused.
    async fn write(&self, before: Option<Lease>, holder: &str) -> kube::Result<bool> {
        let exists = before.is_some();
        let fresh = || Lease {
            metadata: ObjectMeta { name: Some(OVS_RESTART_LEASE.into()), ..ObjectMeta::default() },
            spec: None,
        };
        let mut lease = before.unwrap_or_else(fresh);
        let now = MicroTime(Timestamp::now());
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(holder.into()),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            ..LeaseSpec::default()
        });
        let params = PostParams { field_manager: Some(KEEPER_MANAGER.into()), ..PostParams::default() };
        let written = match exists {
            true => self.api.replace(OVS_RESTART_LEASE, &params, &lease).await,
            false => self.api.create(&params, &lease).await,
        };
        match written {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_already_exists() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
