//! What can go wrong on a host, and what that means for trying again.

use std::path::PathBuf;
use std::time::SystemTime;

use linesman_core::codes::{NEEDS_CLUSTER, commands, failures};
pub use linesman_core::outcome::Category;

use crate::nm;

/// What a library reported.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("linesman must run as root; run it as root, for example with sudo")]
    NotRoot,
    #[error("no system D-Bus at {address}: {source}; start dbus, or set DBUS_SYSTEM_BUS_ADDRESS")]
    NoDbus { address: String, source: nm::CallError },
    #[error(
        "no file descriptors are left ({0}); end what holds connections to linesman, or raise its limit \
         (LimitNOFILE= of its unit)"
    )]
    NoDescriptors(#[source] std::io::Error),
    #[error("NetworkManager does not answer on D-Bus ({0}); start NetworkManager.service")]
    NoNetworkManager(#[source] nm::CallError),
    #[error("NetworkManager {found} is too old: linesman needs {needed} or newer")]
    OldNetworkManager { found: String, needed: String },
    #[error(
        "the state needs Open vSwitch, but ovsdb-server does not answer at {socket}; start openvswitch-switch.service"
    )]
    NoOpenVSwitch { socket: String },
    #[error("ovs-vswitchd does not respond; check its log, and restart openvswitch-switch.service")]
    VswitchdHangs,
    #[error("NetworkManager has no Open vSwitch plugin; install network-manager-ovs (NetworkManager-ovs)")]
    NoOvsPlugin,
    #[error(
        "another linesman is changing this host{}; wait until it ends, or see `linesman history`",
        holder(pid)
    )]
    Busy { pid: String },
    #[error(
        "an earlier change ({what}) is pending confirmation{}; \
         run `linesman commit` to keep it or `linesman rollback` to undo it first",
        time_left(until)
    )]
    Unconfirmed { what: String, until: String },
    #[error(
        "another program has NetworkManager checkpoint {checkpoint}; \
         wait for it to end, or end it with `linesman rollback {checkpoint}`"
    )]
    ForeignCheckpoint { checkpoint: String },
    #[error(
        "the probe {probe} needs a cluster, and only `linesman agent` in a cluster can run it [LM0020]; \
         remove it, or probe the API server's address with tcp:HOST:PORT"
    )]
    NoCluster { probe: String },
    #[error("no checkpoint is open: there is nothing to {verb}")]
    NoCheckpoint { verb: &'static str },
    #[error("the state cannot be applied: {0}")]
    Invalid(String),
    /// During a change; what becomes of the change is said by its outcome.
    #[error("cannot write the journal under {dir}: {source}")]
    Journal { dir: String, source: std::io::Error },
    #[error("{0}; no changes were made")]
    NotBegun(#[source] Box<Self>),
    #[error("interrupted; nothing was changed")]
    Interrupted,
    #[error(
        "{} was written by a newer linesman (version {found}, this one reads up to {known}); \
         install the newer linesman and run `linesman recover`", file.display()
    )]
    NewerFile { file: PathBuf, found: u32, known: u32 },
    #[error("cannot read {}: {source}", file.display())]
    Unreadable { file: PathBuf, source: std::io::Error },
    #[error("cannot write the snapshot: {0}; no changes were made")]
    Snapshot(#[source] Source),
    #[error("cannot read the state of this host: {0}")]
    Observe(#[source] Source),
    #[error("{what}: {source}")]
    Call { what: &'static str, source: Source },
}

impl Error {
    pub fn category(&self) -> Category {
        match self {
            Self::Invalid(_) | Self::NoCluster { .. } => Category::Input,
            Self::Busy { .. }
            | Self::ForeignCheckpoint { .. }
            | Self::NoDescriptors(_)
            | Self::Observe(_)
            | Self::Call { .. }
            | Self::Interrupted => Category::Transient,
            _ => Category::Environment,
        }
    }

    /// Of `linesman explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotRoot => commands::NOT_ROOT,
            Self::Invalid(_) => failures::REFUSED,
            Self::NoCluster { .. } => NEEDS_CLUSTER,
            Self::Busy { .. } | Self::Unconfirmed { .. } | Self::ForeignCheckpoint { .. } => failures::BUSY,
            Self::Journal { .. } | Self::NotBegun(_) | Self::Snapshot(_) => failures::NOT_WRITTEN,
            Self::Interrupted => failures::INTERRUPTED,
            _ => failures::HINDERED,
        }
    }

    /// A file that no later attempt can read; unlike one that a busy host or a faulty disk does not give now.
    pub(crate) fn is_lost_file(&self) -> bool {
        use std::io::ErrorKind::{InvalidData, IsADirectory, NotFound, UnexpectedEof};
        matches!(self, Self::Unreadable { source, .. }
            if matches!(source.kind(), InvalidData | IsADirectory | NotFound | UnexpectedEof))
    }

    pub(crate) fn call(what: &'static str, source: impl Into<Source>) -> Self {
        Self::Call { what, source: source.into() }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// ` for another 42 s`; nothing where that is not known or over.
/// The file may still name one that was killed, or none yet.
fn holder(pid: &str) -> String {
    let lives = !pid.is_empty() && std::path::Path::new("/proc").join(pid).exists();
    if lives { format!(" (pid {pid})") } else { String::new() }
}

fn time_left(until: &str) -> String {
    let end = humantime::parse_rfc3339(until).ok();
    let left = end.and_then(|end| end.duration_since(SystemTime::now()).ok());
    left.map_or_else(String::new, |left| format!(" for another {} s", left.as_secs() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_living_holder_of_the_lock_is_named() {
        let busy = |pid: String| Error::Busy { pid }.to_string();
        let own = std::process::id();
        assert!(busy(own.to_string()).contains(&format!("this host (pid {own}); wait")));
        for nobody in ["", "4294967295"] {
            assert!(busy(nobody.to_string()).contains("this host; wait"), "{nobody}");
        }
    }
}
