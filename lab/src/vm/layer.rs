//! What the lab puts into the image of its virtual machines, on top of a Debian root and a kernel.

use std::path::Path;

use crate::error::Result;
use crate::layer::{self, put};
use crate::systemd;

/// Name, text and mode of each file.
const FILES: &[(&str, &str, u32)] = &[
    ("etc/fstab", "/dev/vda / ext4 defaults 0 0\n", 0o644),
    ("etc/lab/disks", "", 0o644),
    ("etc/modprobe.d/lab.conf", include_str!("files/modprobe.conf"), 0o644),
    ("etc/systemd/journald.conf.d/lab.conf", include_str!("files/journald.conf"), 0o644),
    (
        "etc/systemd/system/NetworkManager.service.d/lab.conf",
        include_str!("files/NetworkManager.conf"),
        0o644,
    ),
    ("etc/systemd/system/ovs-vswitchd.service.d/lab.conf", include_str!("files/ovs-vswitchd.conf"), 0o644),
    (
        "etc/systemd/system/systemd-udev-trigger.service.d/lab.conf",
        include_str!("files/udev-trigger.conf"),
        0o644,
    ),
    ("etc/systemd/system/lab-disks.service", include_str!("files/disks.service"), 0o644),
    ("etc/systemd/system/lab-guest.service", include_str!("files/guest.service"), 0o644),
    ("usr/lib/lab/mount-disks", include_str!("files/mount-disks.sh"), 0o755),
    ("usr/lib/lab/net-sysctl", include_str!("files/net-sysctl.sh"), 0o755),
];

/// Started before everything else that is ours.
const EARLY: &[&str] = &["lab-disks.service", "lab-guest.service"];

/// All of it as one text, to tell one edition from another.
pub(super) fn text() -> String {
    FILES.iter().map(|(name, text, mode)| format!("{name} {mode:o}\n{text}\n")).collect::<String>()
        + &systemd::text()
        + layer::NM_CONF
}

pub(super) fn make(layer: &Path, guest: &Path) -> Result<()> {
    layer::every_node(layer)?;
    systemd::base(layer)?;
    for (name, text, mode) in FILES {
        put(layer, name, text, *mode)?;
    }
    for unit in EARLY {
        layer::link(
            layer,
            &format!("etc/systemd/system/sysinit.target.wants/{unit}"),
            &format!("../{unit}"),
        )?;
    }
    layer::copy(guest, layer, "usr/lib/lab/guest", 0o755)
}
