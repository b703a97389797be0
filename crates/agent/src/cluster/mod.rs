//! The agent in a cluster: enactments in, outcomes and the state of the node out.
//!
//! The operator decides, the agent acts. Only this node's enactments are watched; accepted releases are on disk before
//! anything is changed (`accepted-releases.json`), so that the outcome reaches the cluster after a crash, a reboot or a lost
//! connection.

mod client;
mod earlier;
mod enactments;
mod feed;
pub mod handler_lock;
mod inbox;
mod pace;
mod pending_updates;
mod probes;
mod publishing;
mod reachability;
mod releases;
mod requests;
mod secrets;
mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use linesman_api::time::Time;
use linesman_daemon::clock;
use linesman_daemon::sealing::PrivateKey;
use linesman_engine::{desired, nm};
use linesman_fleet::enactment::AcceptedReleases;
use linesman_fleet::report::{AgentFacts, Glob};
use serde_json::Value;
use tracing::warn;

use crate::metrics::Metrics;
use crate::state_file::StateFile;
use client::ClusterClient;
pub use client::Error;
use enactments::Enactments;
use pending_updates::PendingUpdates;
use probes::ClusterProbes;
use states::States;

#[derive(Clone, Debug)]
pub struct Config {
    pub node: String,
    /// None: as a Pod finds it, or KUBECONFIG.
    pub kubeconfig: Option<PathBuf>,
    /// Interfaces that the NodeNetworkState leaves out.
    pub filter: Vec<Glob>,
    /// kubernetes-nmstate's lock file.
    pub handler_lock: PathBuf,
    /// Of the Secrets that policies refer to.
    pub namespace: String,
}

#[derive(Debug)]
pub struct Cluster {
    client: ClusterClient,
    /// Opens the values of Secrets.
    private_key: PrivateKey,
    /// Of these Secrets.
    namespace: String,
    enactments: Enactments,
    states: States,
    updates: PendingUpdates,
    state_file: StateFile,
    releases: AcceptedReleases,
    metrics: Rc<Metrics>,
    pub probes: Arc<ClusterProbes>,
    /// Status updates that were sent and not yet seen by the watch.
    sent: BTreeMap<String, Value>,
    /// Releases that were accepted and not used since, and when.
    begun: BTreeMap<String, tokio::time::Instant>,
    /// Releases whose start was reported without an answer, by their end: it may have arrived.
    unanswered: BTreeMap<String, Option<Time>>,
    /// Drift that waits for a release to be corrected, and since when.
    corrections: BTreeMap<String, tokio::time::Instant>,
    /// Policies that were refused because of others that no longer conflict.
    ended_conflicts: BTreeSet<String>,
    /// No release is accepted before then, after the API server did not answer.
    patience: Option<tokio::time::Instant>,
}

impl Cluster {
    pub async fn join(config: &Config, state_dir: &Path, metrics: Rc<Metrics>) -> crate::Result<Self> {
        let client = ClusterClient::new(config.kubeconfig.as_deref(), &config.node).await?;
        let private_key = secrets::private_key(state_dir)?;
        let facts = AgentFacts {
            network_manager: match nm::Nm::connect().await {
                Ok(nm) => nm.version().await.ok(),
                Err(_) => None,
            },
            nmstate: Some(desired::NMSTATE_VERSION.into()),
            sealing_key: Some(private_key.public().to_string()),
            first_boot: None,
        };
        let state_file = StateFile::accepted_releases(state_dir);
        let mut releases: AcceptedReleases = state_file.take()?;
        releases.forget_expired(Time(clock::now()));
        Ok(Self {
            enactments: Enactments::watch(&client),
            states: States::watch(
                &client,
                StateFile::refresh_requests(state_dir),
                config.filter.clone(),
                facts,
            )?,
            updates: PendingUpdates::start(client.clone()),
            client,
            private_key,
            namespace: config.namespace.clone(),
            state_file,
            metrics,
            probes: Arc::new(ClusterProbes::new(config.kubeconfig.clone(), &config.node)),
            releases,
            sent: BTreeMap::new(),
            begun: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            corrections: BTreeMap::new(),
            ended_conflicts: BTreeSet::new(),
            patience: None,
        })
    }

    /// Whether the state of the node was requested, changed or not.
    pub fn is_asked(&self) -> bool {
        self.states.is_forced()
    }

    pub fn api_server_error(&self) -> Option<&str> {
        self.enactments.api_server.error.as_deref()
    }

    /// A change touched the paths of this host: connections that began at an address that is gone would hang.
    pub fn renew_connections(&self) {
        self.client.renewal.renew();
    }

    pub fn store(&self) {
        if let Err(e) = self.state_file.write(&self.releases) {
            warn!("{e}; an outcome may not reach the cluster after a crash");
        }
    }
}
