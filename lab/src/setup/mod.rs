//! What the lab needs on the machine: a few Debian packages, the nodes' root file systems, and for clusters Kubernetes.

mod go;
mod ignition;
mod kubernetes;
mod openvswitch;
mod packages;
mod qemu;
mod roots;

pub use ignition::ignition_validate;
pub use kubernetes::Kubernetes;
pub use openvswitch::OpenVSwitch;
pub(crate) use qemu::Qemu;
pub use roots::Root;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Doing, Error, Result};

/// Installs what is missing and makes the forky root; both at most once, and safely when called by many.
pub fn setup() -> Result<()> {
    require_root()?;
    packages::install_missing()?;
    Root::Forky.ensure().map(drop)
}

/// What virtual machines need beside that.
pub(crate) fn install_for_vms() -> Result<()> {
    packages::install_missing_for_vms()
}

/// An error with what it said, if it fails.
pub(crate) fn run_quietly(command: &mut Command) -> Result<()> {
    let text = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output().doing(|| format!("run {text}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: text,
        place: "this machine".into(),
        status: output.status.to_string(),
        stdout: String::from_utf8_lossy(&output.stdout).into(),
        stderr: String::from_utf8_lossy(&output.stderr).into(),
    })
}

pub(crate) fn require_root() -> Result<()> {
    if nix::unistd::geteuid().is_root() { Ok(()) } else { Err(Error::NotRoot) }
}

/// What a log ends with: there it says what went wrong.
pub(crate) fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

/// A command in namespaces of its own: when we are killed, it dies with all its children, and what it mounted is gone.
pub(crate) fn dies_with_us(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args([
        "--pdeathsig=KILL",
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child=KILL",
        "--mount-proc",
    ]);
    command.arg(program);
    command
}
