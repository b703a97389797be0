//! One change at a time on a host.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

use crate::{Error, Result};

/// Held while this process changes the host; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub struct HostLock(Flock<File>);

impl HostLock {
    pub fn take(dir: &Path) -> Result<Self> {
        if !nix::unistd::geteuid().is_root() {
            return Err(Error::NotRoot);
        }
        let path = dir.join("transaction.lock");
        let failed =
            |source| Error::NotBegun(Error::Journal { dir: dir.display().to_string(), source }.into());
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
        let mut file = open(&path).map_err(failed)?;
        let mut holder = String::new();
        file.read_to_string(&mut holder).ok();
        let mut lock = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .map_err(|_| Error::Busy { pid: holder.trim().to_string() })?;
        lock.set_len(0).ok();
        lock.rewind().ok();
        write!(lock, "{}", std::process::id()).ok();
        Ok(Self(lock))
    }
}

/// Whoever can read a file can lock it: any user could keep root from changes, and from rollbacks.
fn open(path: &Path) -> std::io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// An agent lives on after its change: its name must not stand there as if it were still at it.
impl Drop for HostLock {
    fn drop(&mut self) {
        self.0.set_len(0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_owner_can_open_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transaction.lock");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(open(&path).unwrap());
        assert_eq!(mode(), 0o600);
        // As an earlier version left it.
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        drop(open(&path).unwrap());
        assert_eq!(mode(), 0o600);
    }
}
