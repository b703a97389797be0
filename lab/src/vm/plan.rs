//! A node that is a virtual machine: what it is made of, and how it is switched on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sched::CloneFlags;

use super::hardware::{Disk, Hardware, Memory, Nic};
use super::image::Image;
use super::machine::Machine;
use super::programs;
use super::saved::{Saved, layer_over};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::layer::create;
use crate::namespaces::Namespaces;
use crate::setup::Qemu;
use crate::tree::remove_tree;

const IDENTITY: &str = include_str!("files/identity.sh");
const WAIT_NICS: &str = include_str!("files/wait-nics.sh");

#[derive(Debug)]
pub(crate) struct VmPlan {
    name: String,
    folder: PathBuf,
    image: Image,
    qemu: Qemu,
    nics: Vec<Nic>,
    disks: Vec<Disk>,
    /// Where the guest mounts the disks that have a place of their own.
    places: Vec<(String, PathBuf)>,
}

/// What is the node's own.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) machine_id: String,
    pub(crate) dad: bool,
}

impl VmPlan {
    /// `small_disks`: images, and where the guest mounts them.
    pub(crate) fn new(
        name: &str,
        folder: PathBuf,
        nics: Vec<Nic>,
        binaries: &[PathBuf],
        small_disks: Vec<(PathBuf, PathBuf)>,
    ) -> Result<Self> {
        create(&folder)?;
        let mut disks: Vec<Disk> = programs::disk(binaries, &folder)?.into_iter().collect();
        let mut places = vec![];
        for (number, (image, place)) in small_disks.into_iter().enumerate() {
            let serial = format!("small{number}");
            places.push((serial.clone(), place));
            disks.push(Disk { image, serial, read_only: false });
        }
        Ok(Self {
            name: name.into(),
            image: Image::ensure()?,
            qemu: Qemu::ensure()?,
            folder,
            nics,
            disks,
            places,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn nic(&self, number: u8) -> Option<&Nic> {
        self.nics.get(usize::from(number))
    }

    /// Where its small disks are mounted.
    pub(crate) fn small_disks(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(|(_, place)| place.as_path())
    }

    fn what(&self) -> String {
        format!("node {}", self.name)
    }

    fn disk(&self) -> PathBuf {
        self.folder.join("disk.qcow2")
    }

    /// For the first time: from a saved machine. One that qemu does not take is made anew, once.
    pub(crate) fn start(&self, hub: &Namespaces, identity: &Identity) -> Result<Machine> {
        let saved = Saved::ensure(&self.image, &self.qemu)?;
        let machine = self.restore(hub, &saved).or_else(|_| {
            saved.discard()?;
            self.restore(hub, &Saved::ensure(&self.image, &self.qemu)?)
        })?;
        machine.wait_awake()?;
        for (number, disk) in self.disks.iter().enumerate() {
            machine.plug_disk(number, disk)?;
        }
        for (number, nic) in (0..).zip(&self.nics) {
            machine.plug_nic(number, nic)?;
        }
        self.furnish(&machine, identity)?;
        self.wait_nics(&machine, self.nics.len())?;
        Ok(machine)
    }

    fn restore(&self, hub: &Namespaces, saved: &Saved) -> Result<Machine> {
        remove_tree(&self.disk())?;
        layer_over(&self.qemu, &saved.disk(), "qcow2", &self.disk())?;
        let mut hardware = self.hardware(Memory::From(saved.memory()));
        // Plugged in afterwards: the saved machine has none of them.
        (hardware.nics, hardware.disks) = (vec![], vec![]);
        let machine = self.launch(hub, &hardware)?;
        machine.restore(&saved.devices())?;
        Ok(machine)
    }

    /// On its own disk, as after a power cut; with the first of its NICs.
    pub(crate) fn boot(&self, hub: &Namespaces, nics: u8) -> Result<Machine> {
        let mut hardware = self.hardware(Memory::Anonymous);
        hardware.nics.truncate(nics.into());
        let machine = self.launch(hub, &hardware)?;
        machine.wait_booted()?;
        self.wait_nics(&machine, hardware.nics.len())?;
        Ok(machine)
    }

    pub(crate) fn wait_booted(
        &self,
        machine: &Machine,
        wait: impl FnOnce(&Machine) -> Result<()>,
    ) -> Result<()> {
        wait(machine)?;
        self.wait_nics(machine, self.nics.len())
    }

    fn hardware(&self, memory: Memory) -> Hardware {
        Hardware {
            kernel: self.image.kernel(),
            initrd: self.image.initrd(),
            disk: self.disk(),
            memory,
            nics: self.nics.clone(),
            disks: self.disks.clone(),
        }
    }

    /// In the network of the hub, and among its processes, so that it ends with them.
    fn launch(&self, hub: &Namespaces, hardware: &Hardware) -> Result<Machine> {
        hub.assert_in_lab(&self.what())?;
        let kinds = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWPID;
        let spawn = |command: &mut Command| hub.spawn_in(kinds, command);
        Machine::start(&self.what(), &self.folder, hardware, self.qemu.system(), spawn)
    }

    fn furnish(&self, machine: &Machine, identity: &Identity) -> Result<()> {
        let place = machine.place();
        let disks: String =
            self.places.iter().map(|(serial, place)| format!("{serial} {}\n", place.display())).collect();
        crate::files::write(&place, Path::new("/etc/lab/disks"), disks.as_bytes(), 0o644)?;
        if identity.dad {
            crate::files::write(&place, Path::new("/etc/lab/dad"), b"", 0o644)?;
            let on = "for setting in /proc/sys/net/ipv6/conf/*/accept_dad; do echo 1 >\"$setting\"; done";
            Exec::new(machine.place(), &self.name, ["sh", "-ec", on]).run()?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (now, disks) = (format!("{:.6}", now.as_secs_f64()), self.disks.len().to_string());
        let words = ["sh", "-ec", IDENTITY, "sh", &self.name, &identity.machine_id, &now, &disks];
        Exec::new(place, &self.name, words).run().map(drop)
    }

    fn wait_nics(&self, machine: &Machine, count: usize) -> Result<()> {
        Exec::new(machine.place(), &self.name, ["sh", "-ec", WAIT_NICS, "sh", &count.to_string()])
            .run()
            .map(drop)
    }

    pub(crate) fn no_such_nic(&self, number: u8) -> Error {
        Error::refused(format!("node {} has no NIC {number}: it has {}", self.name, self.nics.len()))
    }
}
