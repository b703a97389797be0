//! The disk and the kernel that virtual machines boot from: made once, cached.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{guest_program, layer};
use crate::error::{Doing, Error, Result};
use crate::layer::create;
use crate::progress::step;
use crate::setup::{self, Root};
use crate::tree::remove_tree;
use crate::{lock, places};

const MAKE: &str = include_str!("files/make-image.sh");

#[derive(Debug, Clone)]
pub(crate) struct Image {
    folder: PathBuf,
}

impl Image {
    pub(crate) fn kernel(&self) -> PathBuf {
        self.folder.join("vmlinuz")
    }

    pub(crate) fn initrd(&self) -> PathBuf {
        self.folder.join("initrd.img")
    }

    /// Never written: each machine has a layer on top.
    pub(crate) fn disk(&self) -> PathBuf {
        self.folder.join("base.img")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Made first if it is not there yet; by one process at a time.
    pub(crate) fn ensure() -> Result<Self> {
        let image = Self { folder: places::vms().join(edition()) };
        if image.folder.exists() {
            return Ok(image);
        }
        setup::require_root()?;
        setup::install_for_vms()?;
        let root = Root::Forky.ensure()?;
        create(&places::vms())?;
        let _one_at_a_time = lock::wait_for(&places::vms().join("image.lock"))?;
        if !image.folder.exists() {
            image.make(&root)?;
        }
        Ok(image)
    }

    fn make(&self, root: &Path) -> Result<()> {
        let place = self.folder.display();
        step(&format!("making the image of virtual machines in {place} (once; about two minutes)"));
        let unfinished = self.folder.with_extension("unfinished");
        let log = self.folder.with_extension("log");
        remove_tree(&unfinished)?;
        create(&unfinished)?;
        let (building, files) = (unfinished.join("build"), unfinished.join("layer"));
        layer::make(&files, &guest_program::build(&building)?)?;
        remove_tree(&building)?;
        step("installing a kernel");
        install(root, &files, &unfinished, &log)?;
        remove_tree(&files)?;
        fs::rename(&unfinished, &self.folder).doing_to("put in place", &self.folder)?;
        step("the image of virtual machines is ready");
        Ok(())
    }
}

/// Another root, another recipe or another program inside is another image.
fn edition() -> String {
    let mut hasher = DefaultHasher::new();
    (Root::Forky.path().file_name(), MAKE, layer::text(), guest_program::SOURCE).hash(&mut hasher);
    format!("forky-{:016x}", hasher.finish())
}

fn install(root: &Path, layer: &Path, into: &Path, log: &Path) -> Result<()> {
    let output = File::create(log).doing_to("create", log)?;
    let errors = output.try_clone().doing_to("open", log)?;
    let status = setup::dies_with_us("sh")
        .args(["-c", MAKE])
        .env("LAB_ROOT", root)
        .env("LAB_LAYER", layer)
        .env("LAB_OUT", into)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .doing(|| "make an image".into())?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Root { root: "of virtual machines".into(), log: log.into(), tail: setup::tail(log) })
}
