//! Files inside a hub or a node.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sched::CloneFlags;

use crate::error::{Doing, Result};
use crate::namespaces::Namespaces;

/// Through the node's own mounts: an overlay does not notice what is written behind its back.
pub(crate) fn write(namespaces: &Namespaces, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, bytes)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    };
    namespaces.within_some(CloneFlags::CLONE_NEWNS, write)?.doing_to("write on the node", path)
}

pub(crate) fn read(namespaces: &Namespaces, path: &Path) -> Result<Vec<u8>> {
    namespaces.within_some(CloneFlags::CLONE_NEWNS, || fs::read(path))?.doing_to("read from the node", path)
}

pub(crate) fn exists(namespaces: &Namespaces, path: &Path) -> Result<bool> {
    namespaces.within_some(CloneFlags::CLONE_NEWNS, || path.exists())
}
