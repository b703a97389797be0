//! What makes a Debian root boot quickly under systemd.

use std::path::Path;

use nix::sys::stat::{Mode, SFlag, makedev, mknod};

use crate::error::{Doing, Result};
use crate::layer::{create, link, put};

pub(crate) const INIT: &str = "/usr/lib/systemd/systemd --log-target=journal";
/// Exists once the last of our units has run.
pub(crate) const UP: &str = "/run/lab/up";

/// Nothing in the lab needs them, and each costs time.
const MASKED: &[&str] = &[
    "systemd-binfmt.service",
    "systemd-hwdb-update.service",
    "systemd-machine-id-commit.service",
    "systemd-update-done.service",
    "systemd-firstboot.service",
    "systemd-journal-catalog-update.service",
    "ldconfig.service",
    "systemd-networkd.service",
    "systemd-timesyncd.service",
    "systemd-logind.service",
    "systemd-logind-varlink.socket",
    "systemd-pstore.service",
    "systemd-modules-load.service",
    "systemd-remount-fs.service",
    "systemd-udev-load-credentials.service",
    "getty.target",
    "NetworkManager-wait-online.service",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "sys-kernel-config.mount",
    "sys-fs-fuse-connections.mount",
    "modprobe@.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "ovsdb-server.socket",
];

/// Of a node in namespaces.
pub(crate) fn units(layer: &Path) -> Result<()> {
    base(layer)?;
    for (name, text) in IN_NAMESPACES {
        put(layer, &format!("etc/systemd/system/{name}"), text, 0o644)?;
    }
    put(layer, "etc/fstab", "", 0o644)?;
    // Masking ovs-record-hostname would stop openvswitch-switch, which requires it: the requirement has to go.
    hide(layer, "etc/systemd/system/openvswitch-switch.service.requires")
}

/// Of any node with systemd.
pub(crate) fn base(layer: &Path) -> Result<()> {
    for unit in MASKED {
        link(layer, &format!("etc/systemd/system/{unit}"), "/dev/null")?;
    }
    for (name, text) in UNITS {
        put(layer, &format!("etc/systemd/system/{name}"), text, 0o644)?;
    }
    link(layer, "etc/systemd/system/default.target", "/usr/lib/systemd/system/multi-user.target")?;
    for unit in ["lab-early.service", "lab-late.service"] {
        link(layer, &format!("etc/systemd/system/multi-user.target.wants/{unit}"), &format!("../{unit}"))?;
    }
    Ok(())
}

/// Of a node that has Debian's own units of Open vSwitch, and its socket, instead of the lab's.
pub(crate) fn stock_ovs(disk: &Path) -> Result<()> {
    let units = ["ovsdb-server.service", "ovs-vswitchd.service", "ovsdb-server.socket"];
    create(&disk.join("etc/systemd/system"))?;
    units.iter().try_for_each(|unit| hide(disk, &format!("etc/systemd/system/{unit}")))
}

/// What `base` brings, as one text.
pub(crate) fn text() -> String {
    let units = UNITS.iter().map(|(name, text)| format!("{name}\n{text}\n"));
    MASKED.iter().map(|unit| format!("{unit}\n")).chain(units).collect()
}

const UNITS: &[(&str, &str)] = &[
    ("ovsdb-server.service", include_str!("units/ovsdb-server.service")),
    ("ovs-vswitchd.service", include_str!("units/ovs-vswitchd.service")),
    ("lab-early.service", include_str!("units/lab-early.service")),
    ("lab-late.service", include_str!("units/lab-late.service")),
];

const IN_NAMESPACES: &[(&str, &str)] =
    &[("NetworkManager.service.d/lab.conf", include_str!("units/NetworkManager.conf"))];

/// An overlay takes a character device 0:0 for "not there, whatever is below".
fn hide(layer: &Path, name: &str) -> Result<()> {
    let path = layer.join(name);
    mknod(&path, SFlag::S_IFCHR, Mode::empty(), makedev(0, 0)).doing_to("hide", &path)
}
