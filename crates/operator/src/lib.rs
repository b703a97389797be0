//! The cluster's side: rollouts of policies through nodes.
//!
//! load (`watch`, `cache`) -> decide (`linesman_fleet::rollout`, pure) -> act (`writer`) -> report (`report`), again whenever something
//! changed. Several may run: the one that has the Lease acts, the others watch and stand by.

mod cache;
mod enactment_object;
mod events;
mod facts;
mod fault;
mod http;
mod leadership;
mod lease;
pub mod metrics;
mod operator;
mod pause;
mod pending_writes;
mod report;
mod reported_state;
mod rollout_state;
mod run;
mod secrets;
mod watch;
mod writer;

use std::net::SocketAddr;
use std::path::PathBuf;

pub use run::run;

/// The command line of an operator.
#[derive(Clone, Debug)]
pub struct Config {
    pub kubeconfig: Option<PathBuf>,
    /// Where agents and operators run, and where the Lease is.
    pub namespace: String,
    /// Its name among the operators, in the Lease.
    pub identity: String,
    /// The address of metrics and health.
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
        "cannot serve metrics at {address}: {source}; choose another address with --listen, or use --listen none"
    )]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("cannot listen to signals: {0}")]
    Signals(#[source] std::io::Error),
    #[error("the API server refused ({kind}): {source}")]
    Api { kind: &'static str, source: Box<kube::Error> },
    #[error("the API server did not answer ({kind}) in time")]
    Timeout { kind: &'static str },
    #[error("this operator no longer leads")]
    NotLeading,
    #[error("{}", name_taken(name, owner.as_ref()))]
    NameTaken { name: String, owner: Option<(String, String)> },
    #[error("the policy {policy} no longer exists")]
    PolicyGone { policy: String },
}

impl Error {
    /// Why the API server refuses this very object, however often it is sent: too long, too large, not allowed. None: the
    /// request did not get that far.
    fn about_object(&self) -> Option<String> {
        if let Self::NameTaken { .. } = self {
            return Some(self.to_string());
        }
        let status = self.answer()?;
        let about = matches!(status.code, 400..=499 if !matches!(status.code, 401 | 409 | 429));
        // What etcd or its client finds too large is an internal error.
        (about || status.code == 500).then(|| status.message.clone())
    }

    /// Whether the object is no longer the one that was seen.
    fn is_refusal(&self) -> bool {
        self.is_already_exists()
            || self.answer().is_some_and(|status| status.is_conflict() || status.is_not_found())
    }

    fn is_already_exists(&self) -> bool {
        self.answer().is_some_and(kube::core::Status::is_already_exists)
    }

    fn answer(&self) -> Option<&kube::core::Status> {
        let Self::Api { source, .. } = self else { return None };
        match &**source {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }
}

/// NODE.POLICY is not unique where both have dots in their names.
fn name_taken(name: &str, owner: Option<&(String, String)>) -> String {
    match owner {
        Some((policy, node)) => format!(
            "its name, {name}, is that of the policy {policy} on the node {node}; create this policy under another name"
        ),
        None => format!("its name, {name}, is that of an enactment without labels; delete that one"),
    }
}
