use std::path::{Path, PathBuf};
use std::time::Duration;

pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong in the lab. Every message says where, and what to do about it.
#[derive(thiserror::Error)]
pub enum Error {
    #[error("the lab creates namespaces and mounts: run this as root")]
    NotRoot,
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("`{command}` on {place} ended with {status}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")]
    Failed { command: String, place: String, status: String, stdout: String, stderr: String },
    #[error(
        "`{command}` on {place} did not end within {after:?} and was killed\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
    )]
    TooLong { command: String, place: String, after: Duration, stdout: String, stderr: String },
    #[error("timed out after {after:?} waiting for {what}")]
    Waited { what: String, after: Duration },
    #[error("{what} is in the machine's own network namespace: refusing to touch it")]
    NotInLab { what: String },
    #[error("node {node} is switched off: call boot() first")]
    SwitchedOff { node: String },
    #[error("{what} did not start: {why}\n--- its console\n{console}")]
    Start { what: String, why: String, console: String },
    #[error("{program} is missing and could not be installed: install the package {package}")]
    Missing { program: String, package: String },
    #[error(
        "go is missing, and Kubernetes is built from source: install Go 1.24 or newer (https://go.dev/dl, or golang-go of Debian 13 or newer) and add it to PATH"
    )]
    NoGo,
    #[error("building {program} failed; the end of {}:\n{tail}", log.display())]
    Build { program: String, log: PathBuf, tail: String },
    #[error("building the root file system {root} failed; the end of {}:\n{tail}", log.display())]
    Root { root: String, log: PathBuf, tail: String },
    #[error("{0}")]
    Refused(String),
}

/// As `Display`: this is what an `unwrap` in a test shows, and command output should stay readable there.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Error {
    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }
}

/// Says what was being done when an IO error struck.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;

    fn doing_to(self, verb: &str, path: &Path) -> Result<T>
    where
        Self: Sized,
    {
        self.doing(|| format!("{verb} {}", path.display()))
    }
}

impl<T, E: Into<std::io::Error>> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::Io { what: what(), source: source.into() })
    }
}
