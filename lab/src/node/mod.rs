//! A node: a host with its own dbus, NetworkManager and Open vSwitch, on its own disk.
//! In namespaces it shares the machine's kernel; as a virtual machine it has one of its own.

mod builder;
mod daemons;
mod disk;
mod network;
mod power;
mod vm;

pub use builder::NodeBuilder;
pub use daemons::Daemon;

use std::ffi::OsStr;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::exec::{Exec, Output, Place, Running};
use crate::lab::{Shared, lock};
use crate::namespaces::Namespaces;
use crate::{address, files};
use power::{Kind, On};

/// Dropping it switches it off; its disk goes with the lab.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    name: String,
    number: u8,
    nics: u8,
    kind: Kind,
    on: Mutex<Option<On>>,
}

impl Node {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn mgmt_ipv4(&self) -> Ipv4Addr {
        self.ipv4_on(0)
    }

    pub fn mgmt_ipv6(&self) -> Ipv6Addr {
        self.ipv6_on(0)
    }

    /// Its planned address on a network of the hub; nothing configures it by itself.
    pub fn ipv4_on(&self, network: u8) -> Ipv4Addr {
        address::host_v4(network, self.number)
    }

    pub fn ipv6_on(&self, network: u8) -> Ipv6Addr {
        address::host_v6(network, self.number)
    }

    /// The same after every boot.
    pub fn mac(&self, nic: u8) -> String {
        address::mac(self.number, nic)
    }

    pub fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Exec> {
        Ok(Exec::new(self.place()?, &self.name, words))
    }

    /// Runs to its end, whatever its exit status.
    pub fn exec<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Output> {
        self.command(words)?.output()
    }

    /// Its standard output; an error with both streams unless it exits with zero.
    pub fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<String> {
        self.command(words)?.run()
    }

    pub fn spawn<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Running> {
        self.command(words)?.spawn()
    }

    /// Shell text; stops at the first command that fails.
    pub fn sh(&self, text: &str) -> Result<String> {
        self.run(["sh", "-ec", text])
    }

    /// With its folders.
    pub fn write_file(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>, mode: u32) -> Result<()> {
        files::write(&self.place()?, path.as_ref(), bytes.as_ref(), mode)
    }

    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<Vec<u8>> {
        files::read(&self.place()?, path.as_ref())
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool> {
        files::exists(&self.place()?, path.as_ref())
    }

    /// Refuses if the node were in the machine's network.
    pub fn assert_in_lab(&self) -> Result<()> {
        self.while_on(|on| match on {
            On::Namespaces(booted) => booted.namespaces().assert_in_lab(&self.name),
            // Its cables end in the network that qemu is in.
            On::Vm(machine) => Namespaces::of(machine.pid(), &self.name)?.assert_in_lab(&self.name),
        })
    }

    pub fn has_systemd(&self) -> bool {
        match &self.kind {
            Kind::Namespaces(plan) => plan.cgroup.is_some(),
            Kind::Vm(..) => true,
        }
    }

    /// A kernel of its own.
    pub fn is_vm(&self) -> bool {
        matches!(self.kind, Kind::Vm(..))
    }

    /// PID 1 of the node, as the machine counts; None while it is switched off, and on a VM.
    pub fn pid(&self) -> Option<u32> {
        match lock(&self.on).as_ref()? {
            On::Namespaces(booted) => Some(booted.pid()),
            On::Vm(_) => None,
        }
    }

    pub fn is_on(&self) -> bool {
        lock(&self.on).is_some()
    }

    /// What its init printed; on a VM, what its kernel and its units printed since it was first switched on.
    pub fn console(&self) -> String {
        match lock(&self.on).as_ref() {
            Some(On::Namespaces(booted)) => booted.console(),
            Some(On::Vm(machine)) => machine.console(),
            None => String::new(),
        }
    }

    fn while_on<T>(&self, work: impl FnOnce(&On) -> Result<T>) -> Result<T> {
        let on = lock(&self.on);
        work(on.as_ref().ok_or_else(|| Error::SwitchedOff { node: self.name.clone() })?)
    }

    fn place(&self) -> Result<Place> {
        self.while_on(|on| {
            Ok(match on {
                On::Namespaces(booted) => Place::Namespaces(Arc::clone(booted.namespaces())),
                On::Vm(machine) => machine.place(),
            })
        })
    }

    /// The hub's end of a NIC's cable.
    pub(crate) fn port(&self, nic: u8) -> String {
        address::port(self.number, nic)
    }
}

impl Node {
    /// For whoever reads why a test failed.
    fn last_words(&self) {
        if self.is_vm() {
            self.last_words_of_vm();
        }
        for log in ["/var/log/NM.log", "/var/log/lab-boot.log"] {
            let text = self.read_file(log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            for line in log_ends(&text) {
                eprintln!("{} {log}: {line}", self.name);
            }
        }
    }
}

/// How many lines are printed of each.
const END: usize = 60;

/// The end of a log, and what NetworkManager said before it was started again: it may have crashed.
fn log_ends(log: &str) -> Vec<&str> {
    let lines: Vec<_> = log.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| line.contains("is starting..."));
    let ends: Vec<usize> = starts.map(|(at, _)| at).skip(1).chain([lines.len()]).collect();
    let is_near_end = |at: usize| ends.iter().any(|end| at < *end && *end <= at + END);
    (0..lines.len()).filter(|at| is_near_end(*at)).map(|at| lines[at]).collect()
}

impl Drop for Node {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.last_words();
        }
        let _ = self.power_cut();
        if self.shared.is_up() {
            let _ = self.shared.forget(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_log_are_printed() {
        let of =
            |name: &str, lines: usize| -> String { (0..lines).map(|n| format!("{name}{n}\n")).collect() };
        let log = format!("NM is starting...\n{}NM is starting...\n{}", of("a", END + 9), of("b", END + 5));
        let lines = log_ends(&log);
        assert_eq!((lines.len(), lines[0], lines[END]), (2 * END, "a9", "b5"));
        assert_eq!(log_ends("one\ntwo\n"), ["one", "two"]);
    }
}
