//! The cgroups that nodes with systemd live in.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Where the machine has its unified hierarchy.
fn hierarchy() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.find(|fields| fields.get(2) == Some(&"cgroup2")).and_then(|fields| Some(fields.get(1)?.into()))
}

fn folder(hierarchy: &Path, run: &str) -> PathBuf {
    hierarchy.join(format!("linesman-{run}"))
}

/// Of one node; it is made at every boot.
pub(crate) fn of(run: &str, node: &str) -> Result<PathBuf> {
    let hierarchy = hierarchy().ok_or_else(|| {
        Error::refused("nodes with systemd need a cgroup2 file system mounted on the machine")
    })?;
    Ok(folder(&hierarchy, run).join(node))
}

/// What cannot be removed is tried again by the next sweep.
pub(crate) fn remove_of(run: &str) {
    if let Some(hierarchy) = hierarchy() {
        remove(&folder(&hierarchy, run));
    }
}

pub(crate) fn remove(cgroup: &Path) {
    let Ok(entries) = fs::read_dir(cgroup) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        if entry.path().is_dir() {
            remove(&entry.path());
        }
    }
    let _ = fs::remove_dir(cgroup);
}
