//! Cargo, with its own progress on the terminal.

use std::path::{Path, PathBuf};
use std::process::Command;

use linesman_lab::progress::step;

pub type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The binary that nodes run, built from this tree.
pub fn linesman() -> Fallible<PathBuf> {
    step("building linesman (several minutes the first time)");
    if !cargo().args(["build", "--package", "linesman"]).status()?.success() {
        return Err("linesman does not build: see above".into());
    }
    step("linesman is built");
    Ok(std::env::current_exe()?.with_file_name("linesman"))
}

pub fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}
