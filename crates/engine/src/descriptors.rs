//! File descriptors set aside before a change: its rollback can open what it needs (D-Bus, netlink, OVSDB, profiles),
//! whatever has used up the rest since.

use std::fs::File;
use std::io;

use nix::errno::Errno;

use crate::{Error, Result};

/// A rollback has fewer open at a time: nmstate's look at the host is the hungriest with about 20.
const RESERVE: usize = 48;

/// Drop it, and they are free.
#[derive(Debug)]
pub struct Descriptors {
    _held: Vec<File>,
}

impl Descriptors {
    pub fn reserve() -> Result<Self> {
        let held: io::Result<Vec<File>> = (0..RESERVE).map(|_| File::open("/dev/null")).collect();
        Ok(Self { _held: held.map_err(Error::NoDescriptors)? })
    }
}

/// Neither this process nor the host has any left.
pub fn are_exhausted(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw);
    matches!(code, Some(Errno::EMFILE | Errno::ENFILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_descriptors_is_no_missing_networkmanager() {
        assert!(are_exhausted(&io::Error::from_raw_os_error(nix::libc::EMFILE)));
        assert!(!are_exhausted(&io::Error::from_raw_os_error(nix::libc::ENOENT)));
        Descriptors::reserve().unwrap();
    }
}
