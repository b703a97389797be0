//! Another handler on this node: kubernetes-nmstate's holds a lock file while it runs.

use std::fs::{self, File, OpenOptions};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

/// Held as long as it lives, so that the other handler waits in its turn.
#[derive(Debug)]
pub struct HandlerLock {
    _file: Option<Flock<File>>,
}

/// The lock if it is free; the file otherwise, for a caller that wants to wait.
pub fn take(path: &Path) -> std::io::Result<Result<HandlerLock, File>> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) => Ok(Ok(HandlerLock { _file: Some(file) })),
        Err((file, Errno::EWOULDBLOCK)) => Ok(Err(file)),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// Until the other one has ended.
pub async fn wait(file: File) -> std::io::Result<HandlerLock> {
    let waited = tokio::task::spawn_blocking(move || Flock::lock(file, FlockArg::LockExclusive));
    match waited.await {
        Ok(Ok(file)) => Ok(HandlerLock { _file: Some(file) }),
        Ok(Err((_, errno))) => Err(errno.into()),
        Err(e) => Err(std::io::Error::other(e)),
    }
}
