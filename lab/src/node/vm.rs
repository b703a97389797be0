//! What only a virtual machine can do.

use std::sync::Arc;
use std::time::Duration;

use super::Node;
use super::power::{Kind, On};
use crate::error::{Error, Result};
use crate::vm::{Machine, VmPlan};

/// A guest that is in a bad way must not hold up the report.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many lines of the end of a console are printed.
const END: usize = 30;

impl Node {
    /// As its reset button does it: nothing is synced. Until it is up again.
    pub fn reset(&self) -> Result<()> {
        self.on_vm("reset", |plan, machine| plan.wait_booted(machine, Machine::reset))
    }

    /// In good order, by systemd, until it is up again.
    pub fn reboot(&self) -> Result<()> {
        self.on_vm("reboot", |plan, machine| {
            let begin = || {
                let command = crate::exec::Exec::new(
                    machine.place(),
                    &self.name,
                    ["systemctl", "--no-block", "reboot"],
                );
                command.run().map(drop)
            };
            plan.wait_booted(machine, |machine| machine.boot_again(begin))
        })
    }

    /// On the same disk, with only the first of its NICs: the kernel numbers what it finds. `insert_nic` adds the others.
    pub fn boot_with_nics(&self, count: u8) -> Result<()> {
        self.switch_on(|| match &self.kind {
            Kind::Vm(plan) => self.boot_vm(plan, count),
            Kind::Namespaces(_) => Err(Error::refused("boot_with_nics() needs a virtual machine")),
        })
    }

    /// Takes the NIC itself out, not just its cable.
    pub fn remove_nic(&self, nic: u8) -> Result<()> {
        self.on_vm("remove_nic", |plan, machine| {
            plan.nic(nic).ok_or_else(|| plan.no_such_nic(nic))?;
            machine.unplug_nic(nic)
        })
    }

    /// Puts a NIC back that was taken out; returns once the kernel has found it.
    pub fn insert_nic(&self, nic: u8) -> Result<()> {
        self.on_vm("insert_nic", |plan, machine| {
            machine.plug_nic(nic, plan.nic(nic).ok_or_else(|| plan.no_such_nic(nic))?)
        })
    }

    /// The carrier of a NIC, where the hub's end of the cable does not decide it: a tap is not asked by the guest.
    pub(crate) fn set_link(&self, nic: u8, up: bool) -> Result<()> {
        if !self.is_vm() {
            return Ok(());
        }
        self.on_vm("set_link", |_, machine| machine.set_link(nic, up))
    }

    fn on_vm<T>(&self, what: &str, work: impl FnOnce(&VmPlan, &Machine) -> Result<T>) -> Result<T> {
        let Kind::Vm(plan) = &self.kind else {
            return Err(Error::refused(format!(
                "{what}() needs a virtual machine: start node {} with vm(true)",
                self.name
            )));
        };
        // Not under the lock: a boot takes long, and others may ask for the console meanwhile.
        let machine = self.while_on(|on| match on {
            On::Vm(machine) => Ok(Arc::clone(machine)),
            On::Namespaces(_) => Err(Error::refused(format!("node {} is no virtual machine", self.name))),
        })?;
        work(plan, &machine)
    }

    pub(super) fn last_words_of_vm(&self) {
        let console = self.console();
        let lines: Vec<_> = console.lines().collect();
        for line in &lines[lines.len().saturating_sub(END)..] {
            eprintln!("{} console: {line}", self.name);
        }
        let journal = ["journalctl", "--boot", "--no-pager", "--lines=40", "--output=short-monotonic"];
        let journal = self.command(journal).and_then(|command| command.limit(PATIENCE).output());
        for line in journal.map(|output| output.stdout).unwrap_or_default().lines() {
            eprintln!("{} journal: {line}", self.name);
        }
    }
}
