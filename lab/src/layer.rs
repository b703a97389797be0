//! What the lab puts on top of a Debian root: a thin layer of files below each node's own disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::error::{Doing, Result};

pub(crate) const NM_CONF: &str = "\
[main]
plugins=keyfile
no-auto-default=*
dns=default
rc-manager=file
auth-polkit=false

[logging]
level=INFO

[device-lab]
match-device=interface-name:eth*
managed=1
";

/// The layer of a node whose PID 1 is our own small one.
pub(crate) fn plain(layer: &Path) -> Result<()> {
    every_node(layer)?;
    put(layer, "usr/lib/lab/node-init", include_str!("scripts/node-init.sh"), 0o755)
}

/// The layer of a node whose PID 1 is systemd.
pub(crate) fn systemd(layer: &Path) -> Result<()> {
    every_node(layer)?;
    crate::systemd::units(layer)
}

pub(crate) fn every_node(layer: &Path) -> Result<()> {
    put(layer, "etc/NetworkManager/conf.d/90-lab.conf", NM_CONF, 0o644)?;
    put(layer, "etc/resolv.conf", "", 0o644)?;
    put(layer, "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n", 0o644)?;
    put(layer, "usr/lib/lab/net-sysctl", include_str!("scripts/net-sysctl.sh"), 0o755)?;
    put(layer, "usr/lib/lab/run-all", include_str!("scripts/run-all.sh"), 0o755)?;
    for folder in ["etc/lab/boot.d", "etc/lab/boot-late.d"] {
        empty_folder(layer, folder)?;
    }
    Ok(())
}

pub(crate) fn hub(layer: &Path, bridges: &str, dnsmasq: &str) -> Result<()> {
    put(layer, "usr/lib/lab/hub-init", include_str!("scripts/hub-init.sh"), 0o755)?;
    put(layer, "etc/lab/bridges", bridges, 0o644)?;
    put(layer, "etc/lab/dnsmasq.conf", dnsmasq, 0o644)?;
    put(layer, "etc/resolv.conf", "", 0o644)?;
    empty_folder(layer, "etc/lab/hosts")
}

pub(crate) fn put(layer: &Path, name: &str, text: &str, mode: u32) -> Result<()> {
    let path = place(layer, name)?;
    fs::write(&path, text).doing_to("write", &path)?;
    set_mode(&path, mode)
}

pub(crate) fn link(layer: &Path, name: &str, target: &str) -> Result<()> {
    let path = place(layer, name)?;
    symlink(target, &path).doing_to("link", &path)
}

pub(crate) fn copy(file: &Path, layer: &Path, name: &str, mode: u32) -> Result<()> {
    let path = place(layer, name)?;
    fs::copy(file, &path).doing_to("copy", file)?;
    set_mode(&path, mode)
}

fn empty_folder(layer: &Path, name: &str) -> Result<()> {
    place(layer, &format!("{name}/nothing")).map(drop)
}

/// The path of a file to be, with its folders made: open to all whatever our umask is, since the overlay shows the
/// mode of the topmost one, and dbus does not run as root.
fn place(layer: &Path, name: &str) -> Result<PathBuf> {
    let path = layer.join(name);
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(layer));
    for folder in folders.collect::<Vec<_>>().into_iter().rev() {
        if !folder.exists() {
            create(folder)?;
            set_mode(folder, 0o755)?;
        }
    }
    Ok(path)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).doing_to("set the mode of", path)
}

pub(crate) fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).doing_to("create", folder)
}
