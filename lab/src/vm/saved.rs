//! A machine that has booted, saved: others start from it in seconds.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::hardware::{Hardware, Memory};
use super::image::Image;
use super::machine::Machine;
use crate::error::{Doing, Result};
use crate::exec::Exec;
use crate::layer::create;
use crate::progress::step;
use crate::setup::Qemu;
use crate::tree::remove_tree;
use crate::{lock, setup};

const PREPARE: &str = include_str!("files/prepare.sh");

#[derive(Debug, Clone)]
pub(crate) struct Saved {
    folder: PathBuf,
}

impl Saved {
    /// As it was when the rest was saved; a machine started from that has a layer on top.
    pub(crate) fn disk(&self) -> PathBuf {
        self.folder.join("disk.qcow2")
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.join("memory")
    }

    pub(crate) fn devices(&self) -> PathBuf {
        self.folder.join("devices")
    }

    /// Made first if it is not there yet; by one process at a time.
    pub(crate) fn ensure(image: &Image, qemu: &Qemu) -> Result<Self> {
        let saved = Self { folder: image.folder().join(edition(qemu)?) };
        if !saved.folder.exists() {
            let _one_at_a_time = lock::wait_for(&image.folder().join("saved.lock"))?;
            if !saved.folder.exists() {
                saved.make(image, qemu)?;
            }
        }
        Ok(saved)
    }

    /// For one that qemu does not take. Those who run from it keep what they have open.
    pub(crate) fn discard(&self) -> Result<()> {
        remove_tree(&self.folder)
    }

    fn make(&self, image: &Image, qemu: &Qemu) -> Result<()> {
        step("booting a virtual machine and saving it (once; about a minute)");
        let begin = Instant::now();
        let unfinished = Self { folder: self.folder.with_extension("unfinished") };
        remove_tree(&unfinished.folder)?;
        create(&unfinished.folder)?;
        layer_over(qemu, &image.disk(), "raw", &unfinished.disk())?;
        let hardware = template(image, &unfinished);
        // No network at all, not even the machine's.
        let mut starter = setup::dies_with_us("unshare");
        starter.arg("--net");
        let command = qemu.system_by(starter);
        let spawn = |command: &mut Command| command.spawn().doing(|| "start qemu".into());
        let machine =
            Machine::start("the machine to be saved", &unfinished.folder, &hardware, command, spawn)?;
        machine.wait_booted()?;
        let booted = begin.elapsed();
        Exec::new(machine.place(), "the machine to be saved", ["sh", "-ec", PREPARE]).run()?;
        machine.save(&unfinished.devices())?;
        fs::rename(&unfinished.folder, &self.folder).doing_to("put in place", &self.folder)?;
        step(&format!(
            "a virtual machine is saved (booted in {:.0} s, saved after {:.0} s)",
            booted.as_secs_f64(),
            begin.elapsed().as_secs_f64()
        ));
        Ok(())
    }
}

fn template(image: &Image, saved: &Saved) -> Hardware {
    Hardware {
        kernel: image.kernel(),
        initrd: image.initrd(),
        disk: saved.disk(),
        memory: Memory::Into(saved.memory()),
        nics: vec![],
        disks: vec![],
    }
}

/// Another qemu or other hardware cannot take it.
fn edition(qemu: &Qemu) -> Result<String> {
    let output = qemu.system().arg("--version").output().doing(|| "run qemu".into())?;
    let nothing = PathBuf::new();
    let parts = Hardware {
        kernel: nothing.clone(),
        initrd: nothing.clone(),
        disk: nothing.clone(),
        memory: Memory::Anonymous,
        nics: vec![],
        disks: vec![],
    };
    let mut hasher = DefaultHasher::new();
    (output.stdout, parts.arguments(), PREPARE).hash(&mut hasher);
    Ok(format!("saved-{:016x}", hasher.finish()))
}

/// A qcow2 image that holds what differs from the one below.
pub(crate) fn layer_over(qemu: &Qemu, below: &Path, format: &str, image: &Path) -> Result<()> {
    let mut command = qemu.img();
    command.args(["create", "-q", "-f", "qcow2", "-F", format, "-b"]).arg(below).arg(image);
    setup::run_quietly(&mut command)
}
