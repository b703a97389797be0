use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::power::Kind;
use super::{Node, disk};
use crate::boot::Plan;
use crate::error::{Doing, Error, Result};
use crate::lab::Shared;
use crate::layer::{create, put};
use crate::vm::{Identity, MOST_DISKS, Nic, NicModel, VmPlan};
use crate::{NETWORKS, Root, address, cgroup, systemd};

#[derive(Debug)]
pub struct NodeBuilder {
    shared: Arc<Shared>,
    name: String,
    number: Option<u8>,
    nics: u8,
    root: Root,
    binaries: Vec<PathBuf>,
    dad: bool,
    disks: Vec<(PathBuf, u64)>,
    systemd: bool,
    stock_ovs: bool,
    vm: bool,
    intel_nics: bool,
}

impl NodeBuilder {
    pub(crate) fn new(shared: Arc<Shared>, name: &str) -> Self {
        Self {
            shared,
            name: name.into(),
            number: None,
            nics: 2,
            root: Root::Forky,
            binaries: vec![],
            dad: false,
            disks: vec![],
            systemd: false,
            stock_ovs: false,
            vm: false,
            intel_nics: false,
        }
    }

    /// NIC ethN is plugged into network N (10.9.N.0/24).
    pub fn nics(mut self, count: u8) -> Self {
        self.nics = count;
        self
    }

    pub fn root(mut self, root: Root) -> Self {
        self.root = root;
        self
    }

    /// systemd as PID 1, with journald and real units; without it, a small init of the lab starts the daemons.
    pub fn systemd(mut self, on: bool) -> Self {
        self.systemd = on;
        self
    }

    /// systemd as PID 1, and Debian's own units of Open vSwitch, which take some seconds to start: where their behaviour is
    /// the subject.
    pub fn stock_ovs(mut self) -> Self {
        (self.systemd, self.stock_ovs) = (true, true);
        self
    }

    /// A virtual machine: with systemd and a kernel of its own, which has what the machine's may lack, can be cut off in
    /// mid-write, and loses what was not synced. It starts from a saved state; `boot` boots it for real, in half a minute.
    pub fn vm(mut self, on: bool) -> Self {
        self.vm = on;
        self
    }

    /// Of a virtual machine: all NICs but the first are Intel's 82576, which has rings, coalescing, pause frames and virtual
    /// functions.
    pub fn intel_nics(mut self, on: bool) -> Self {
        self.intel_nics = on;
        self
    }

    /// A program of the machine that the node has in /usr/bin, under the same name.
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Self {
        self.binaries.push(path.into());
        self
    }

    /// Duplicate address detection, off unless asked for: it costs a second or two for every IPv6 address.
    pub fn dad(mut self, on: bool) -> Self {
        self.dad = on;
        self
    }

    /// A file system of that many bytes, so small that a test can fill it.
    pub fn small_disk(mut self, place: impl Into<PathBuf>, bytes: u64) -> Self {
        self.disks.push((place.into(), bytes));
        self
    }

    pub(crate) fn numbered(mut self) -> Result<Self> {
        if self.number.is_none() {
            self.number = Some(self.shared.take_number()?);
        }
        Ok(self)
    }

    /// Until NetworkManager runs.
    pub fn start(self) -> Result<Node> {
        let builder = self.numbered()?;
        builder.check()?;
        builder.announce()?;
        if builder.vm { builder.start_vm() } else { builder.start_namespaces() }
    }

    fn start_namespaces(self) -> Result<Node> {
        let plan = self.plan(&self.root.ensure()?)?;
        self.furnish(&plan.folder.join("upper"))?;
        self.make_disks(&plan.disks)?;
        let node = self.node(Kind::Namespaces(plan));
        node.boot()?;
        Ok(node)
    }

    fn start_vm(self) -> Result<Node> {
        self.shared.take_seat()?;
        let folder = self.folder()?;
        create(&folder)?;
        let disks = self.small_disks(&folder);
        self.make_disks(&disks)?;
        let number = self.number.unwrap_or_default();
        let model = |nic: u8| if self.intel_nics && nic > 0 { NicModel::Igb } else { NicModel::Virtio };
        let nic =
            |nic| Nic { tap: address::port(number, nic), mac: address::mac(number, nic), model: model(nic) };
        let plan = VmPlan::new(&self.name, folder, (0..self.nics).map(nic).collect(), &self.binaries, disks)?;
        let identity = Identity { machine_id: machine_id()?, dad: self.dad };
        let node = self.node(Kind::Vm(plan));
        node.start_saved(&identity)?;
        Ok(node)
    }

    fn node(self, kind: Kind) -> Node {
        let number = self.number.unwrap_or_default();
        let NodeBuilder { shared, name, nics, .. } = self;
        Node { shared, name, number, nics, kind, on: Mutex::new(None) }
    }

    fn make_disks(&self, images: &[(PathBuf, PathBuf)]) -> Result<()> {
        images.iter().zip(&self.disks).try_for_each(|((image, _), (_, bytes))| disk::make(image, *bytes))
    }

    /// What its disk holds before the first boot.
    fn furnish(&self, disk: &Path) -> Result<()> {
        put(disk, "etc/hostname", &format!("{}\n", self.name), 0o644)?;
        put(disk, "etc/machine-id", &format!("{}\n", machine_id()?), 0o444)?;
        if self.dad {
            put(disk, "etc/lab/dad", "", 0o644)?;
        }
        if self.stock_ovs {
            systemd::stock_ovs(disk)?;
        }
        Ok(())
    }

    /// DNS knows of it.
    fn announce(&self) -> Result<()> {
        let (name, number) = (&self.name, self.number.unwrap_or_default());
        let (v4, v6) = (address::host_v4(0, number), address::host_v6(0, number));
        let hosts = format!("{v4} {name}.lab.test\n{v6} {name}.lab.test\n");
        self.shared.hub.write_file(format!("/etc/lab/hosts/{name}"), hosts, 0o644)
    }

    fn check(&self) -> Result<()> {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || self.name.len() > 32 || !self.name.chars().all(good) {
            return Err(Error::refused(format!("{:?} is no name for a node: use a-z, 0-9 and -", self.name)));
        }
        if self.nics > NETWORKS {
            return Err(Error::refused(format!("a node has at most {NETWORKS} NICs, not {}", self.nics)));
        }
        if self.vm && self.root != Root::Forky {
            return Err(Error::refused("a virtual machine runs Debian forky: leave root() out"));
        }
        if self.intel_nics && !self.vm {
            return Err(Error::refused("only a virtual machine has Intel NICs: add vm(true)"));
        }
        if self.vm && self.disks.len() >= MOST_DISKS {
            return Err(Error::refused(format!(
                "a virtual machine has at most {} small disks",
                MOST_DISKS - 1
            )));
        }
        match self.binaries.iter().find(|path| !path.is_file()) {
            Some(path) => {
                Err(Error::refused(format!("there is no program {}: build it first", path.display())))
            }
            None => Ok(()),
        }
    }

    /// Where everything of the node is.
    fn folder(&self) -> Result<PathBuf> {
        let folder = self.shared.folder.path().join(format!("node-{}", self.name));
        if folder.exists() {
            return Err(Error::refused(format!("this lab already has a node {}", self.name)));
        }
        Ok(folder)
    }

    /// The images, and where they are mounted.
    fn small_disks(&self, folder: &Path) -> Vec<(PathBuf, PathBuf)> {
        let image = |number: usize| folder.join(format!("disk{number}.img"));
        let disks = self.disks.iter().enumerate();
        disks.map(|(number, (place, _))| (image(number), place.clone())).collect()
    }

    fn plan(&self, root: &Path) -> Result<Plan> {
        let (run, folder) = (self.shared.folder.path(), self.folder()?);
        let (layer, init) = match self.systemd {
            true => ("systemd-layer", systemd::INIT),
            false => ("plain-layer", "/usr/lib/lab/node-init"),
        };
        let target = |path: &PathBuf| Path::new("/usr/bin").join(path.file_name().unwrap_or_default());
        let disks = self.small_disks(&folder);
        Ok(Plan {
            what: format!("node {}", self.name),
            folder,
            layers: vec![run.join(layer), root.into()],
            init: init.into(),
            binds: self.binaries.iter().map(|path| (path.clone(), target(path))).collect(),
            disks,
            cgroup: if self.systemd { Some(cgroup::of(&self.shared.folder.id(), &self.name)?) } else { None },
        })
    }
}

/// Its own for every node, as DHCP and journald expect.
fn machine_id() -> Result<String> {
    let uuid =
        std::fs::read_to_string("/proc/sys/kernel/random/uuid").doing(|| "draw a machine id".into())?;
    Ok(uuid.trim().replace('-', ""))
}
