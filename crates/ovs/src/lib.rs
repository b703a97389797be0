//! Keeps Open vSwitch on a host: its units, settings, logs and status.

pub mod control;
mod http;
pub mod keeper;
pub mod logs;
pub mod metrics;
pub mod probes;
pub mod report;
pub mod settings;
mod state_file;
pub mod status;
pub mod units;

use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "cannot serve probes at {address}: {source}; choose another address with --listen, or `--listen none`"
    )]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Control(#[from] control::Error),
    #[error("cannot listen for signals: {0}")]
    Signals(std::io::Error),
    #[error("another linesman ovs-keeper runs on this host and holds {}; stop one of them", path.display())]
    NotAlone { path: std::path::PathBuf },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
