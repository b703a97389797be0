//! One change at a time on a host.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
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
        std::fs::create_dir_all(dir).map_err(failed)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
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

/// An agent lives on after its change: its name must not stand there as if it were still at it.
impl Drop for HostLock {
    fn drop(&mut self) {
        self.0.set_len(0).ok();
    }
}
