//! Small disks: file systems of a size that can be filled without harm to the machine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::CloneFlags;

use super::Node;
use super::daemons::wait_until;
use super::power::Kind;
use crate::error::{Doing, Error, Result};
use crate::exec::Place;

const BALLAST: &str = ".lab-ballast";

const FILL: &str = "for size in 65536 1024 1; do dd if=/dev/zero bs=$size 2>/dev/null >>\"$1\"; done; sync";
const FREE: &str = "rm -f \"$1\" && sync";

impl Node {
    /// Until not one block is free on its small disks.
    pub fn fill_disk(&self) -> Result<()> {
        self.on_small_disks(FILL, fill)
    }

    pub fn free_disk(&self) -> Result<()> {
        self.on_small_disks(FREE, |ballast| match free(ballast) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }

    /// On a VM, the shell text does the same to `$1`.
    fn on_small_disks(&self, text: &str, work: impl Fn(&Path) -> std::io::Result<()> + Sync) -> Result<()> {
        let places: Vec<&Path> = match &self.kind {
            Kind::Namespaces(plan) => plan.disks.iter().map(|(_, place)| place.as_path()).collect(),
            Kind::Vm(plan) => plan.small_disks().collect(),
        };
        if places.is_empty() {
            return Err(Error::refused(format!(
                "{} has no small disk: start it with small_disk()",
                self.name
            )));
        }
        for place in places {
            let ballast = place.join(BALLAST);
            match self.place()? {
                Place::Namespaces(namespaces) => namespaces
                    .within_some(CloneFlags::CLONE_NEWNS, || work(&ballast))?
                    .doing_to("fill or free", &ballast)?,
                Place::Guest(_) => {
                    let words = ["sh", "-c", text, "sh"].map(OsStr::new);
                    self.run(words.into_iter().chain([ballast.as_os_str()])).map(drop)?;
                }
            }
        }
        Ok(())
    }
}

fn fill(ballast: &Path) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(ballast)?;
    for size in [65536, 1024, 1] {
        let chunk = vec![0; size];
        loop {
            match file.write(&chunk) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => return Err(error),
            }
        }
    }
    file.sync_all()
}

/// Emptied before it is removed: a process that another test is just starting may, until its exec, still hold
/// the file open, and a removed file keeps its blocks for as long.
fn free(ballast: &Path) -> std::io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(ballast)?;
    file.set_len(0)?;
    file.sync_all()?;
    fs::remove_file(ballast)
}

/// An ext4 file system in a file; it survives power cuts as a disk does.
pub(crate) fn make(image: &Path, bytes: u64) -> Result<()> {
    let file = File::create(image).doing_to("create", image)?;
    file.set_len(bytes).doing_to("size", image)?;
    let output = Command::new("mkfs.ext4")
        .args(["-q", "-F", "-m", "0", "-b", "1024"])
        .arg(image)
        .output()
        .doing(|| "run mkfs.ext4".into())?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(Error::refused(format!("a disk of {bytes} bytes could not be made: {stderr}")))
}

/// The kernel lets go of a dead namespace's mounts a little later, and a disk must not be mounted twice.
pub(crate) fn wait_released(images: &[(PathBuf, PathBuf)]) -> Result<()> {
    for (image, _) in images {
        wait_until(&format!("{} to be released", image.display()), || Ok(!attached(image)))?;
    }
    Ok(())
}

fn attached(image: &Path) -> bool {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().filter_map(std::result::Result::ok);
    let mut backing =
        devices.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    backing.any(|file| Path::new(file.trim()) == image)
}
