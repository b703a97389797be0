//! Removing folders that other things may be mounted in.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::{Doing, Error, Result};

/// Never crosses into another file system: a forgotten bind mount must not cost the machine its /dev.
pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    if let Some(mount) = mount_below(path)? {
        return Err(Error::refused(format!(
            "{mount} is still mounted: unmount it, then remove {}",
            path.display()
        )));
    }
    let status = Command::new("rm")
        .args(["-rf", "--one-file-system", "--"])
        .arg(path)
        .status()
        .doing_to("remove", path)?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::refused(format!("could not remove {}", path.display())))
    }
}

fn mount_below(path: &Path) -> Result<Option<String>> {
    let mounts = fs::read_to_string("/proc/self/mounts").doing(|| "read /proc/self/mounts".into())?;
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    Ok(points.into_iter().find(|point| Path::new(point).starts_with(path)).map(str::to_owned))
}
