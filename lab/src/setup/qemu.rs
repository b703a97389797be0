//! qemu for virtual machines: Debian testing's, whatever Debian the machine runs. That of Debian 12 has no NIC with
//! virtual functions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::roots::{self, Root};
use crate::error::{Doing, Result};
use crate::progress::step;
use crate::tree::remove_tree;
use crate::{lock, places};

/// Raised whenever the recipe below changes.
const RECIPE: u32 = 1;
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

#[derive(Debug, Clone)]
pub(crate) struct Qemu {
    folder: PathBuf,
}

impl Qemu {
    /// Made first if it is not there yet; by one process at a time.
    pub(crate) fn ensure() -> Result<Self> {
        let qemu = Self { folder: places::vms().join(format!("qemu-{RECIPE}")) };
        if !qemu.folder.exists() {
            super::require_root()?;
            super::packages::install_missing_for_vms()?;
            fs::create_dir_all(places::vms()).doing_to("create", &places::vms())?;
            let _one_at_a_time = lock::wait_for(&places::vms().join("qemu.lock"))?;
            if !qemu.folder.exists() {
                qemu.make()?;
            }
        }
        Ok(qemu)
    }

    fn make(&self) -> Result<()> {
        step(&format!("unpacking qemu in {} (once; half a minute)", self.folder.display()));
        let (unfinished, log) = (self.folder.with_extension("unfinished"), self.folder.with_extension("log"));
        remove_tree(&unfinished)?;
        // Nothing in it is configured, nor run but these programs.
        roots::bootstrap(Root::Forky.suite(), "extract", "qemu-system-x86,qemu-utils", &unfinished, &log)?;
        fs::rename(&unfinished, &self.folder).doing_to("put in place", &self.folder)
    }

    pub(crate) fn system(&self) -> Command {
        self.by(Command::new(self.loader()), "qemu-system-x86_64", &["qemu", "seabios"])
    }

    /// The same, as the last words of a command that starts another.
    pub(crate) fn system_by(&self, mut starter: Command) -> Command {
        starter.arg(self.loader());
        self.by(starter, "qemu-system-x86_64", &["qemu", "seabios"])
    }

    pub(crate) fn img(&self) -> Command {
        self.by(Command::new(self.loader()), "qemu-img", &[])
    }

    fn loader(&self) -> PathBuf {
        self.libraries().join("ld-linux-x86-64.so.2")
    }

    fn libraries(&self) -> PathBuf {
        self.folder.join(LIBRARIES)
    }

    /// By its own loader, with its own libraries, firmware and modules: the machine's may be older, or absent.
    fn by(&self, mut command: Command, program: &str, firmware: &[&str]) -> Command {
        command.env("QEMU_MODULE_DIR", self.libraries().join("qemu"));
        command.arg("--library-path").arg(self.libraries()).arg(self.folder.join("usr/bin").join(program));
        let shared: &Path = &self.folder.join("usr/share");
        firmware.iter().for_each(|place| {
            command.arg("-L").arg(shared.join(place));
        });
        command
    }
}
