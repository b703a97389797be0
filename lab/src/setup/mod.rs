//! What the lab needs on the machine: a few Debian packages and the nodes' root file systems.

mod packages;
mod roots;

pub use roots::Root;

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
