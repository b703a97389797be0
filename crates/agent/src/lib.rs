//! The daemon of a node: policies in, outcomes and the state of the host out.
//!
//! Standalone, the policies are the files of a directory; in a cluster, they come with this node's enactments. Everything runs on one thread; what takes long (the
//! transaction, looking at the host) is awaited, so that the socket, the metrics and the watchdog go on meanwhile.

mod act;
mod agent;
mod attempts;
pub mod cluster;
mod directory;
pub mod first_boot;
pub mod freeze;
mod host;
mod http;
mod ledger;
pub mod metrics;
mod progress;
pub mod socket;
mod sources;
mod state_file;
pub mod status;

use std::net::SocketAddr;
use std::path::PathBuf;

pub use agent::run;
use linesman_engine::transaction::Settings;
pub use state_file::StateFile;

/// How an agent is started.
#[derive(Clone, Debug)]
pub struct Config {
    pub source: Source,
    pub settings: Settings,
    /// Metrics and health; on the loopback address by default.
    pub listen: Option<SocketAddr>,
    pub version: &'static str,
}

/// Where the policies come from.
#[derive(Clone, Debug)]
pub enum Source {
    Directory(PathBuf),
    Cluster(cluster::Config),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory(dir) => write!(f, "{}", dir.display()),
            Self::Cluster(config) => write!(f, "the cluster, for node {}", config.node),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Host(#[from] linesman_engine::Error),
    #[error(
        "cannot read the policies in {dir}: {source}; create the directory, or specify another one with --policy-dir"
    )]
    Directory { dir: String, source: std::io::Error },
    #[error("another linesman agent is running on this host (it answers at {path})")]
    Another { path: String },
    #[error("cannot open {path}: {source}")]
    Socket { path: String, source: std::io::Error },
    #[error(
        "cannot serve metrics at {address}: {source}; choose another address with --listen, or `--listen none`"
    )]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Kernel(#[from] linesman_engine::netlink::Error),
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    #[error(
        "cannot open the lock of other handlers, {path}: {source}; specify another file with --handler-lock"
    )]
    HandlerLock { path: String, source: std::io::Error },
    #[error("cannot write {path}: {source}")]
    StateFile { path: String, source: std::io::Error },
    #[error("{path} is damaged: {source}; it is moved away at the next start")]
    DamagedStateFile { path: String, source: serde_json::Error },
    #[error(
        "cannot read {path}: {source}; check the disk and the permissions, or move the file away to start without it"
    )]
    UnreadableStateFile { path: String, source: std::io::Error },
    #[error(
        "{path} has version {found}, and this linesman reads versions up to {known}: install the linesman that wrote it, \
         or move the file away to start without what it records"
    )]
    NewerStateFile { path: String, found: u64, known: u64 },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
