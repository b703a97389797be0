//! Where the lab keeps its things on the machine: one cache folder, outside any source tree.

use std::path::PathBuf;

/// `LINESMAN_CACHE`, or /var/cache/linesman. It must lie on a real file system: nodes' disks are overlays in it.
pub fn cache() -> PathBuf {
    std::env::var_os("LINESMAN_CACHE").map_or_else(|| PathBuf::from("/var/cache/linesman"), PathBuf::from)
}

/// Root file systems, made once.
pub(crate) fn roots() -> PathBuf {
    cache().join("roots")
}

/// One folder for each running lab.
pub(crate) fn runs() -> PathBuf {
    cache().join("run")
}

/// Images of virtual machines and machines saved from them, made once.
pub(crate) fn vms() -> PathBuf {
    cache().join("vm")
}

/// Ignition's validator, built once.
pub(crate) fn ignition() -> PathBuf {
    cache().join("ignition")
}

/// Open vSwitch's programs of other Debians than the nodes', unpacked once.
pub(crate) fn open_vswitch() -> PathBuf {
    cache().join("ovs")
}

/// Kubernetes' own programs, built once.
pub(crate) fn kubernetes() -> PathBuf {
    cache().join("kubernetes")
}
