//! The cluster's side: rollouts of policies through nodes.
//!
//! load (`watch`, `world`) -> decide (`linesman_fleet::rollout`, pure) -> act (`act`) -> report (`report`), again whenever something
//! changed. Several may run: the one that has the Lease acts, the others watch and are ready.

mod act;
mod case;
mod clock;
mod echo;
mod events;
mod facts;
mod fault;
mod lease;
pub mod metrics;
mod nics;
mod operator;
mod pages;
mod report;
mod run;
mod say;
mod shelf;
mod watch;
mod world;

use std::net::SocketAddr;
use std::path::PathBuf;

pub use run::run;

/// What an operator is told when it starts.
#[derive(Clone, Debug)]
pub struct Config {
    pub kubeconfig: Option<PathBuf>,
    /// Where agents and operators run, and where the Lease is.
    pub namespace: String,
    /// Who this is among the operators.
    pub identity: String,
    /// Metrics and health.
    pub listen: Option<SocketAddr>,
    /// Seconds that a node has to report after its release.
    pub release_for: u64,
    pub version: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Cluster(#[from] linesman_daemon::cluster::Error),
    #[error(
        "cannot serve metrics at {address}: {why}; choose another address with --listen, or `--listen none`"
    )]
    Listen { address: SocketAddr, why: String },
    #[error("cannot listen to signals: {0}")]
    Signals(std::io::Error),
    #[error("the API server refused ({kind}): {error}")]
    Api { kind: &'static str, error: Box<kube::Error> },
    #[error("the API server did not answer ({kind}) in time")]
    Slow { kind: &'static str },
    #[error("this operator does not lead any more")]
    NotLeading,
    #[error("the policy {policy} is gone")]
    Forgotten { policy: String },
}

impl Error {
    /// Whether the object is no longer what was seen.
    fn is_refusal(&self) -> bool {
        match self {
            Self::Api { error, .. } => match &**error {
                kube::Error::Api(status) => {
                    status.is_conflict() || status.is_already_exists() || status.is_not_found()
                }
                _ => false,
            },
            _ => false,
        }
    }
}
