//! What the lab needs on the machine: a few Debian packages, the nodes' root file systems, and for clusters Kubernetes.

mod kubernetes;
mod packages;
mod roots;

pub use kubernetes::Kubernetes;
pub use roots::Root;

use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result};

/// Installs what is missing and makes the forky root; both at most once, and safely when called by many.
pub fn setup() -> Result<()> {
    require_root()?;
    packages::install_missing()?;
    Root::Forky.ensure().map(drop)
}

pub(crate) fn require_root() -> Result<()> {
    if nix::unistd::geteuid().is_root() { Ok(()) } else { Err(Error::NotRoot) }
}

/// What a log ends with: there it says what went wrong.
fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

/// A command in namespaces of its own: when we are killed, it dies with all its children, and what it mounted is gone.
fn dies_with_us(program: &str) -> Command {
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
