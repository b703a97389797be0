//! A node: a host with its own dbus, NetworkManager and Open vSwitch, on its own disk.

mod builder;
mod daemons;
mod disk;
mod network;

pub use builder::NodeBuilder;
pub use daemons::Daemon;

use std::ffi::OsStr;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::boot::{Booted, Plan};
use crate::error::{Error, Result};
use crate::exec::{Exec, Output, Running};
use crate::lab::{Shared, lock};
use crate::namespaces::Namespaces;
use crate::run::{NodeDescription, Process};
use crate::{address, cgroup, files, systemd};

/// Dropping it switches it off; its disk goes with the lab.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    name: String,
    number: u8,
    nics: u8,
    plan: Plan,
    booted: Mutex<Option<Booted>>,
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
        Ok(Exec::new(self.namespaces()?, &self.name, words))
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
        files::write(&*self.namespaces()?, path.as_ref(), bytes.as_ref(), mode)
    }

    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<Vec<u8>> {
        files::read(&*self.namespaces()?, path.as_ref())
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool> {
        files::exists(&*self.namespaces()?, path.as_ref())
    }

    /// Refuses if the node were in the machine's network.
    pub fn assert_in_lab(&self) -> Result<()> {
        self.namespaces()?.assert_in_lab(&self.name)
    }

    pub fn has_systemd(&self) -> bool {
        self.plan.cgroup.is_some()
    }

    /// PID 1 of the node, as the machine counts; None while it is switched off.
    pub fn pid(&self) -> Option<u32> {
        lock(&self.booted).as_ref().map(Booted::pid)
    }

    pub fn is_on(&self) -> bool {
        lock(&self.booted).is_some()
    }

    /// What its init printed.
    pub fn console(&self) -> String {
        lock(&self.booted).as_ref().map(Booted::console).unwrap_or_default()
    }

    fn namespaces(&self) -> Result<Arc<Namespaces>> {
        let booted = lock(&self.booted);
        let booted = booted.as_ref().ok_or_else(|| Error::SwitchedOff { node: self.name.clone() })?;
        Ok(Arc::clone(booted.namespaces()))
    }

    /// Everything stops at once; the disk stays, and so does what was not yet synced to it.
    pub fn power_cut(&self) -> Result<()> {
        let Some(booted) = lock(&self.booted).take() else { return Ok(()) };
        drop(booted);
        self.plan.cgroup.iter().for_each(|cgroup| cgroup::remove(cgroup));
        self.unplug_all();
        self.shared.note(self.description(None))
    }

    /// On the same disk, until NetworkManager runs again.
    pub fn boot(&self) -> Result<()> {
        if self.is_on() {
            return Err(Error::refused(format!("node {} is already on", self.name)));
        }
        disk::wait_released(&self.plan.disks)?;
        let booted = self.switch_on().inspect_err(|_| self.unplug_all())?;
        self.shared.note(self.description(Some(Process::of(booted.pid())?)))?;
        *lock(&self.booted) = Some(booted);
        Ok(())
    }

    fn switch_on(&self) -> Result<Booted> {
        let mut booted = self.plan.start(Some(self.shared.hub.namespaces()))?;
        self.plug_all(booted.pid())?;
        booted.go_on()?;
        match self.has_systemd() {
            true => booted.wait_until_exists(Path::new(systemd::UP))?,
            false => booted.wait_until_up()?,
        }
        Ok(booted)
    }

    fn description(&self, init: Option<Process>) -> NodeDescription {
        NodeDescription { name: self.name.clone(), init, ipv4: self.mgmt_ipv4(), ipv6: self.mgmt_ipv6() }
    }

    /// The hub's end of a NIC's cable.
    pub(crate) fn port(&self, nic: u8) -> String {
        format!("p{}.{nic}", self.number)
    }

    fn plug_all(&self, pid: u32) -> Result<()> {
        let pid = pid.to_string();
        for nic in 0..self.nics {
            let (port, bridge, name) = (self.port(nic), format!("net{nic}"), format!("eth{nic}"));
            let mac = self.mac(nic);
            let cable =
                ["link", "add", &port, "type", "veth", "peer", "name", &name, "address", &mac, "netns", &pid];
            self.shared.hub.ip(&cable)?;
            self.shared.hub.ip(&["link", "set", &port, "master", &bridge, "up"])?;
        }
        Ok(())
    }

    /// The kernel takes its time with a dead network namespace; a cable may be in the way of the next boot.
    fn unplug_all(&self) {
        let ports = (0..self.nics).filter(|_| self.shared.is_up()).map(|nic| self.port(nic));
        for port in ports {
            // Gone already is as good.
            let _ = self.shared.hub.ip(&["link", "delete", &port]);
        }
    }
}

impl Node {
    /// For whoever reads why a test failed.
    fn last_words(&self) {
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
