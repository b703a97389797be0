//! Programs of the machine for a guest: a small disk that holds them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::hardware::Disk;
use crate::error::{Doing, Result};
use crate::layer::create;
use crate::setup;
use crate::tree::remove_tree;

/// As /usr/lib/lab/mount-disks of the guest knows it.
const SERIAL: &str = "programs";

/// None without programs.
pub(super) fn disk(programs: &[PathBuf], folder: &Path) -> Result<Option<Disk>> {
    if programs.is_empty() {
        return Ok(None);
    }
    let (files, image) = (folder.join("programs"), folder.join("programs.img"));
    create(&files)?;
    let mut bytes = 0;
    for program in programs {
        let copy = files.join(program.file_name().unwrap_or_default());
        bytes += fs::copy(program, &copy).doing_to("copy", program)?;
    }
    // Room for what a file system needs beside its files.
    let kilobytes = bytes / 1024 * 11 / 10 + 4096;
    let mut command = Command::new("mke2fs");
    command.args(["-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d"]).arg(&files).arg(&image);
    command.arg(format!("{kilobytes}k"));
    setup::run_quietly(&mut command)?;
    remove_tree(&files)?;
    Ok(Some(Disk { image, serial: SERIAL.into(), read_only: true }))
}
