//! Files inside a hub or a node.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use linesman_lab_guest::request::Request;
use nix::sched::CloneFlags;

use crate::error::{Doing, Result};
use crate::exec::Place;
use crate::namespaces::Namespaces;

pub(crate) fn write(place: &Place, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let written = match place {
        Place::Namespaces(namespaces) => write_within(namespaces, path, bytes, mode)?,
        Place::Guest(guest) => guest.ask(&Request::Write { path: path.into(), mode }, bytes)?.map(drop),
    };
    written.doing_to("write on the node", path)
}

/// Through the node's own mounts: an overlay does not notice what is written behind its back.
fn write_within(
    namespaces: &Namespaces,
    path: &Path,
    bytes: &[u8],
    mode: u32,
) -> Result<std::io::Result<()>> {
    namespaces.within_some(CloneFlags::CLONE_NEWNS, || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, bytes)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    })
}

pub(crate) fn read(place: &Place, path: &Path) -> Result<Vec<u8>> {
    let read = match place {
        Place::Namespaces(namespaces) => {
            namespaces.within_some(CloneFlags::CLONE_NEWNS, || fs::read(path))?
        }
        Place::Guest(guest) => guest.ask(&Request::Read { path: path.into() }, b"")?.map(|(bytes, _)| bytes),
    };
    read.doing_to("read from the node", path)
}

pub(crate) fn exists(place: &Place, path: &Path) -> Result<bool> {
    match place {
        Place::Namespaces(namespaces) => namespaces.within_some(CloneFlags::CLONE_NEWNS, || path.exists()),
        Place::Guest(guest) => {
            let found = guest.ask(&Request::Exists { path: path.into() }, b"")?;
            Ok(found.doing_to("look on the node for", path)?.1)
        }
    }
}
