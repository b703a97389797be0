//! The program that runs inside: built from this tree, into a folder of its own, when an image is made.

use std::path::{Path, PathBuf};

use crate::error::{Doing, Error, Result};
use crate::progress::step;

const NAME: &str = "linesman-lab-guest";

/// What it is built from, to tell one edition from another.
pub(super) const SOURCE: &[&str] = &[
    include_str!("../../guest/src/files.rs"),
    include_str!("../../guest/src/frame.rs"),
    include_str!("../../guest/src/lib.rs"),
    include_str!("../../guest/src/list.rs"),
    include_str!("../../guest/src/main.rs"),
    include_str!("../../guest/src/port.rs"),
    include_str!("../../guest/src/process.rs"),
    include_str!("../../guest/src/request.rs"),
    include_str!("../../guest/src/session.rs"),
];

/// Optimised: what runs in an emulated machine costs many times as much.
pub(super) fn build(into: &Path) -> Result<PathBuf> {
    step("building the program that runs inside the virtual machines");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--release", "--package", NAME, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/guest/Cargo.toml"))
        .arg("--target-dir")
        .arg(into)
        .output()
        .doing(|| "run cargo".into())?;
    if output.status.success() {
        return Ok(into.join("release").join(NAME));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(Error::refused(format!("{NAME} does not build:\n{stderr}")))
}
