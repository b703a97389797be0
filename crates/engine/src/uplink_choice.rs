//! The uplink that `linesman brex` chose on this host. With several default routes, the next run chooses the same one.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::atomic_file;

/// What configure-ovs chose for br-ex, on a host that it had.
const HINT_OF_CONFIGURE_OVS: &str = "/var/lib/ovnk/iface_default_hint";

/// Uplinks by the name of their bridge.
type Choices = BTreeMap<String, String>;

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("brex.json")
}

/// None where nothing was chosen. A file that cannot be read is no reason to fail: the host itself says which interface
/// has a default route.
pub fn read(state_dir: &Path, bridge: &str) -> Option<String> {
    choices(state_dir).remove(bridge)
}

/// As `read`, where only configure-ovs has chosen so far.
pub fn of_configure_ovs() -> Option<String> {
    let hint = std::fs::read_to_string(HINT_OF_CONFIGURE_OVS).ok()?;
    Some(hint.trim().to_owned()).filter(|name| !name.is_empty())
}

fn choices(state_dir: &Path) -> Choices {
    let path = file(state_dir);
    let read = std::fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.unwrap_or_else(|error: io::Error| {
        if error.kind() != ErrorKind::NotFound {
            tracing::warn!(%error, path = %path.display(), "the earlier choice of an uplink cannot be read");
        }
        Choices::new()
    })
}

pub fn write(state_dir: &Path, bridge: &str, uplink: &str) -> io::Result<()> {
    let mut choices = choices(state_dir);
    choices.insert(bridge.to_owned(), uplink.to_owned());
    std::fs::create_dir_all(state_dir)?;
    atomic_file::write(&file(state_dir), &serde_json::to_vec_pretty(&choices)?, 0o600)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bridge_has_its_own() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path(), "br-ex"), None);
        write(dir.path(), "br-ex", "eth0").unwrap();
        write(dir.path(), "br-ex1", "eth1").unwrap();
        write(dir.path(), "br-ex", "bond0").unwrap();
        let read = |bridge: &str| read(dir.path(), bridge);
        assert_eq!((read("br-ex").as_deref(), read("br-ex1").as_deref()), (Some("bond0"), Some("eth1")));
    }

    #[test]
    fn a_damaged_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(file(dir.path()), "{\"br-ex\":").unwrap();
        assert_eq!(read(dir.path(), "br-ex"), None);
        write(dir.path(), "br-ex", "eth0").unwrap();
        assert_eq!(read(dir.path(), "br-ex").as_deref(), Some("eth0"));
    }
}
