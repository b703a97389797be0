//! Open vSwitch's programs, to run on the machine itself: of Debian testing and of Debian 12.

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
/// Debian 12 still has a part of the libraries outside of /usr.
const LIBRARIES: [&str; 2] = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
const PROGRAMS: [&str; 2] = ["usr/sbin", "usr/bin"];

#[derive(Debug, Clone)]
pub struct OpenVSwitch {
    folder: PathBuf,
}

impl OpenVSwitch {
    /// Of that Debian; made first if it is not there yet, by one process at a time.
    pub fn ensure(root: Root) -> Result<Self> {
        if root.has_ovs() {
            return root.ensure().map(|folder| Self { folder });
        }
        let folder = places::open_vswitch().join(format!("{}-{RECIPE}", root.suite()));
        if !folder.exists() {
            super::require_root()?;
            super::packages::install_missing()?;
            fs::create_dir_all(places::open_vswitch()).doing_to("create", &places::open_vswitch())?;
            let _one_at_a_time = lock::wait_for(&folder.with_extension("lock"))?;
            if !folder.exists() {
                make(root, &folder)?;
            }
        }
        Ok(Self { folder })
    }

    /// By its own loader, with its own libraries: the machine's may be older, or absent. It runs as a process of the
    /// machine, not in a namespace.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.find(&LIBRARIES, "ld-linux-x86-64.so.2"));
        let libraries = LIBRARIES.map(|place| self.folder.join(place).display().to_string());
        command.arg("--library-path").arg(libraries.join(":")).arg(self.find(&PROGRAMS, program));
        command
    }

    /// Open vSwitch's own database schema.
    pub fn schema(&self) -> PathBuf {
        self.folder.join("usr/share/openvswitch/vswitch.ovsschema")
    }

    fn find(&self, places: &[&str], name: &str) -> PathBuf {
        let all = places.iter().map(|place| self.folder.join(place).join(name));
        all.clone().find(|path| path.exists()).or_else(|| all.last()).unwrap_or_default()
    }
}

fn make(root: Root, folder: &Path) -> Result<()> {
    step(&format!("unpacking Open vSwitch of Debian {} in {} (once)", root.suite(), folder.display()));
    let (unfinished, log) = (folder.with_extension("unfinished"), folder.with_extension("log"));
    remove_tree(&unfinished)?;
    // Nothing in it is configured.
    roots::bootstrap(root.suite(), "extract", "openvswitch-switch", &unfinished, &log)?;
    fs::rename(&unfinished, folder).doing_to("put in place", folder)
}
