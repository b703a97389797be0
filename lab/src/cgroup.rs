//! The cgroups that nodes with systemd live in.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::layer::create;

/// Where the machine has its unified hierarchy.
fn hierarchy() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.find(|fields| fields.get(2) == Some(&"cgroup2")).and_then(|fields| Some(fields.get(1)?.into()))
}

fn folder(hierarchy: &Path, run: &str) -> PathBuf {
    hierarchy.join(format!("linesman-{run}"))
}

pub(crate) fn make(run: &str, node: &str) -> Result<PathBuf> {
    let hierarchy = hierarchy().ok_or_else(|| {
        Error::refused("nodes with systemd need a cgroup2 file system mounted on the machine")
    })?;
    let path = folder(&hierarchy, run).join(node);
    create(&path)?;
    Ok(path)
}

/// What cannot be removed is tried again by the next sweep.
pub(crate) fn remove_of(run: &str) {
    if let Some(hierarchy) = hierarchy() {
        remove(&folder(&hierarchy, run));
    }
}

fn remove(cgroup: &Path) {
    let Ok(entries) = fs::read_dir(cgroup) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        if entry.path().is_dir() {
            remove(&entry.path());
        }
    }
    let _ = fs::remove_dir(cgroup);
}
