//! File locks: who holds one is alive, since the kernel drops them with their process.

use std::fs::{File, OpenOptions};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::error::{Doing, Result};

pub(crate) type Lock = Flock<File>;

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .doing_to("open the lock", path)
}

pub(crate) fn wait_for(path: &Path) -> Result<Lock> {
    Flock::lock(open(path)?, FlockArg::LockExclusive).map_err(|(_, errno)| errno).doing_to("lock", path)
}

/// None: someone else holds it.
pub(crate) fn try_take(path: &Path) -> Result<Option<Lock>> {
    match Flock::lock(open(path)?, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(errno).doing_to("lock", path),
    }
}
