//! Switching a node on and off.

use std::path::Path;
use std::sync::Arc;

use super::{Node, disk};
use crate::boot::{Booted, Plan};
use crate::error::{Error, Result};
use crate::lab::lock;
use crate::run::{NodeDescription, Process};
use crate::vm::{Identity, Machine, VmPlan};
use crate::{cgroup, systemd};

/// What a node is made of.
#[derive(Debug)]
pub(super) enum Kind {
    Namespaces(Plan),
    Vm(VmPlan),
}

/// A node that is switched on.
#[derive(Debug)]
pub(super) enum On {
    Namespaces(Booted),
    Vm(Arc<Machine>),
}

impl On {
    fn process(&self) -> Result<Process> {
        Process::of(match self {
            Self::Namespaces(booted) => booted.pid(),
            Self::Vm(machine) => machine.pid(),
        })
    }
}

impl Node {
    /// Everything stops at once; the disk stays. What was not yet synced to it stays in namespaces, whose kernel goes
    /// on, and is lost on a VM.
    pub fn power_cut(&self) -> Result<()> {
        let Some(on) = lock(&self.on).take() else { return Ok(()) };
        match on {
            On::Namespaces(booted) => drop(booted),
            On::Vm(machine) => machine.cut(),
        }
        if let Kind::Namespaces(Plan { cgroup: Some(cgroup), .. }) = &self.kind {
            cgroup::remove(cgroup);
        }
        self.unplug_all();
        self.shared.note(self.description(None))
    }

    /// On the same disk, until NetworkManager runs again.
    pub fn boot(&self) -> Result<()> {
        self.switch_on(|| match &self.kind {
            Kind::Namespaces(plan) => self.start_namespaces(plan),
            Kind::Vm(plan) => self.boot_vm(plan, self.nics),
        })
    }

    pub(super) fn boot_vm(&self, plan: &VmPlan, nics: u8) -> Result<On> {
        self.plug_taps()?;
        Ok(On::Vm(Arc::new(plan.boot(self.shared.hub.namespaces(), nics)?)))
    }

    /// For the first time, from a saved machine.
    pub(super) fn start_saved(&self, identity: &Identity) -> Result<()> {
        self.switch_on(|| {
            let Kind::Vm(plan) = &self.kind else {
                return Err(Error::refused(format!("node {} is no virtual machine", self.name)));
            };
            self.plug_taps()?;
            Ok(On::Vm(Arc::new(plan.start(self.shared.hub.namespaces(), identity)?)))
        })
    }

    pub(super) fn switch_on(&self, start: impl FnOnce() -> Result<On>) -> Result<()> {
        if self.is_on() {
            return Err(Error::refused(format!("node {} is already on", self.name)));
        }
        let on = start().inspect_err(|_| self.unplug_all())?;
        self.shared.note(self.description(Some(on.process()?)))?;
        *lock(&self.on) = Some(on);
        Ok(())
    }

    fn start_namespaces(&self, plan: &Plan) -> Result<On> {
        disk::wait_released(&plan.disks)?;
        let mut booted = plan.start(Some(self.shared.hub.namespaces()))?;
        self.plug_cables(booted.pid())?;
        booted.go_on()?;
        match self.has_systemd() {
            true => booted.wait_until_exists(Path::new(systemd::UP))?,
            false => booted.wait_until_up()?,
        }
        Ok(On::Namespaces(booted))
    }

    fn description(&self, init: Option<Process>) -> NodeDescription {
        let vm = match &self.kind {
            Kind::Namespaces(_) => None,
            Kind::Vm(plan) => Some(plan.folder().into()),
        };
        NodeDescription { name: self.name.clone(), init, vm, ipv4: self.mgmt_ipv4(), ipv6: self.mgmt_ipv6() }
    }

    fn plug_cables(&self, pid: u32) -> Result<()> {
        let pid = pid.to_string();
        for nic in 0..self.nics {
            let (port, name, mac) = (self.port(nic), format!("eth{nic}"), self.mac(nic));
            let cable =
                ["link", "add", &port, "type", "veth", "peer", "name", &name, "address", &mac, "netns", &pid];
            self.shared.hub.ip(&cable)?;
            self.connect_port(nic)?;
        }
        Ok(())
    }

    /// What qemu plugs the NICs of a VM into.
    pub(super) fn plug_taps(&self) -> Result<()> {
        for nic in (0..self.nics).filter(|nic| !self.is_switched(*nic)) {
            self.shared.hub.ip(&["tuntap", "add", &self.port(nic), "mode", "tap"])?;
            self.connect_port(nic)?;
        }
        Ok(())
    }

    fn connect_port(&self, nic: u8) -> Result<()> {
        self.shared.hub.ip(&["link", "set", &self.port(nic), "master", &format!("net{nic}"), "up"])
    }

    /// The cable ends in the switch: its tap stays while the node is off, as the port of a switch does.
    fn is_switched(&self, nic: u8) -> bool {
        lock(&self.shared.hub.switched).contains(&self.port(nic))
    }

    /// The kernel takes its time with a dead network namespace; a cable may be in the way of the next boot.
    fn unplug_all(&self) {
        let nics = (0..self.nics).filter(|nic| self.shared.is_up() && !self.is_switched(*nic));
        for port in nics.map(|nic| self.port(nic)) {
            // Gone already is as good.
            let _ = self.shared.hub.ip(&["link", "delete", &port]);
        }
    }
}
