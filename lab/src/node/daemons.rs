use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::Node;
use crate::boot::PATIENCE;
use crate::error::{Error, Result};
use crate::exec::Place;
use crate::namespaces::Namespaces;
use crate::run::Process;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Daemon {
    NetworkManager,
    Dbus,
    OvsdbServer,
    OvsVswitchd,
}

impl Daemon {
    pub const ALL: [Self; 4] = [Self::Dbus, Self::OvsdbServer, Self::OvsVswitchd, Self::NetworkManager];

    /// What the kernel calls the process.
    pub fn process_name(self) -> &'static str {
        match self {
            Self::NetworkManager => "NetworkManager",
            Self::Dbus => "dbus-daemon",
            Self::OvsdbServer => "ovsdb-server",
            Self::OvsVswitchd => "ovs-vswitchd",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::NetworkManager => "NetworkManager.service",
            Self::Dbus => "dbus.service",
            Self::OvsdbServer => "ovsdb-server.service",
            Self::OvsVswitchd => "ovs-vswitchd.service",
        }
    }

    /// What the node's init calls it.
    fn short_name(self) -> &'static str {
        match self {
            Self::NetworkManager => "NM",
            Self::Dbus => "dbus",
            Self::OvsdbServer => "ovsdb",
            Self::OvsVswitchd => "vswitchd",
        }
    }
}

const HOLD_UNITS: &str = "
for unit in NetworkManager ovsdb-server ovs-vswitchd; do
  mkdir -p /run/systemd/system/$unit.service.d
  printf '[Service]\\nRestart=no\\n' >/run/systemd/system/$unit.service.d/lab-hold.conf
done
systemctl daemon-reload";
/// On a VM; waits until each is gone, or a zombie that nobody has reaped yet.
const END: &str = "
pids=$(pgrep --exact \"$1\") || exit 1
kill -$2 $pids
for pid in $pids; do
  while [ -e /proc/$pid ] && ! grep -qs '^State:.Z' /proc/$pid/status; do sleep 0.02; done
done";
const RELEASE_UNITS: &str = "rm -f /run/systemd/system/*.d/lab-hold.conf; systemctl daemon-reload";

/// They cling to the bus that died, and systemd takes them for running: NetworkManager would wait for them in vain.
const ORPHANS_OF_DBUS: &[&str] =
    &["systemd-hostnamed.service", "NetworkManager-dispatcher.service", "polkit.service"];

impl Node {
    /// As the machine counts, on a VM as its own kernel does; None if it does not run.
    pub fn daemon_pid(&self, daemon: Daemon) -> Result<Option<u32>> {
        match self.place()? {
            Place::Namespaces(namespaces) => {
                Ok(processes(&namespaces, daemon.process_name()).first().map(|process| process.pid))
            }
            Place::Guest(_) => Ok(self.guest_processes(daemon)?.first().copied()),
        }
    }

    /// Oldest first.
    fn guest_processes(&self, daemon: Daemon) -> Result<Vec<u32>> {
        let found = self.exec(["pgrep", "--exact", daemon.process_name()])?;
        Ok(found.stdout.lines().filter_map(|line| line.trim().parse().ok()).collect())
    }

    pub fn daemon_running(&self, daemon: Daemon) -> Result<bool> {
        Ok(self.daemon_pid(daemon)?.is_some())
    }

    /// kill -9, until it is gone. The node's init starts it again half a second later, unless restarts are paused.
    pub fn kill_daemon(&self, daemon: Daemon) -> Result<()> {
        self.end_daemon(daemon, Signal::SIGKILL)
    }

    /// As `systemctl restart`: it is asked to end, and started again.
    pub fn restart_daemon(&self, daemon: Daemon) -> Result<()> {
        if self.has_systemd() {
            return self.run(["systemctl", "restart", daemon.unit()]).map(drop);
        }
        self.end_daemon(daemon, Signal::SIGTERM)
    }

    /// It stays where it is, whatever it was doing, until `continue_daemon`.
    pub fn suspend_daemon(&self, daemon: Daemon) -> Result<()> {
        self.signal_daemon(daemon, Signal::SIGSTOP)
    }

    pub fn continue_daemon(&self, daemon: Daemon) -> Result<()> {
        self.signal_daemon(daemon, Signal::SIGCONT)
    }

    fn end_daemon(&self, daemon: Daemon, signal: Signal) -> Result<()> {
        let ended = match self.place()? {
            Place::Namespaces(namespaces) => {
                let victims = processes(&namespaces, daemon.process_name());
                for victim in &victims {
                    victim.signal(signal)?;
                    if !victim.wait_gone(PATIENCE) {
                        let what = format!("{} of {} to end", daemon.process_name(), self.name);
                        return Err(Error::Waited { what, after: PATIENCE });
                    }
                }
                !victims.is_empty()
            }
            Place::Guest(_) => {
                let signal = signal.as_str().trim_start_matches("SIG");
                self.exec(["sh", "-c", END, "sh", daemon.process_name(), signal])?.success()
            }
        };
        if ended { Ok(()) } else { Err(self.does_not_run(daemon)) }
    }

    fn signal_daemon(&self, daemon: Daemon, signal: Signal) -> Result<()> {
        let found = match self.place()? {
            Place::Namespaces(namespaces) => {
                let found = processes(&namespaces, daemon.process_name());
                found.iter().try_for_each(|process| process.signal(signal))?;
                !found.is_empty()
            }
            Place::Guest(_) => {
                let signal = format!("-{}", signal.as_str().trim_start_matches("SIG"));
                self.exec(["pkill", &signal, "--exact", daemon.process_name()])?.success()
            }
        };
        if found { Ok(()) } else { Err(self.does_not_run(daemon)) }
    }

    fn does_not_run(&self, daemon: Daemon) -> Error {
        Error::refused(format!("{} does not run on {}", daemon.process_name(), self.name))
    }

    /// While paused, what dies stays dead (until `start_daemon`). With systemd, dbus takes NetworkManager with it and
    /// neither comes back by itself, paused or not: so it is on any Debian.
    pub fn pause_restarts(&self, paused: bool) -> Result<()> {
        match (self.has_systemd(), paused) {
            (false, true) => self.write_file("/run/lab/hold", "", 0o644),
            (false, false) => self.run(["rm", "-f", "/run/lab/hold"]).map(drop),
            (true, true) => self.sh(HOLD_UNITS).map(drop),
            (true, false) => self.sh(RELEASE_UNITS).map(drop),
        }
    }

    /// Even while restarts are paused; waits until it answers.
    pub fn start_daemon(&self, daemon: Daemon) -> Result<()> {
        if self.has_systemd() {
            if daemon == Daemon::Dbus {
                self.run(["systemctl", "stop"].iter().chain(ORPHANS_OF_DBUS))?;
            }
            // systemd may not have noticed yet that the old one is dead, and then sees nothing to start.
            let what = format!("{} on {}", daemon.process_name(), self.name);
            return wait_until(&what, || {
                self.run(["systemctl", "start", daemon.unit()])?;
                Ok(self.daemon_running(daemon)? && self.daemon_ready(daemon)?)
            });
        } else if !self.daemon_running(daemon)? {
            self.write_file(format!("/run/lab/start.{}", daemon.short_name()), "", 0o644)?;
        }
        self.wait_daemon(daemon)
    }

    /// Until it runs and answers.
    pub fn wait_daemon(&self, daemon: Daemon) -> Result<()> {
        let what = format!("{} on {}", daemon.process_name(), self.name);
        wait_until(&what, || Ok(self.daemon_running(daemon)? && self.daemon_ready(daemon)?))
    }

    fn daemon_ready(&self, daemon: Daemon) -> Result<bool> {
        if self.has_systemd() {
            return Ok(self.exec(["systemctl", "--quiet", "is-active", daemon.unit()])?.success());
        }
        self.exists(format!("/run/lab/{}.ready", daemon.short_name()))
    }
}

/// Processes of that name in the node's own PID namespace, oldest first.
fn processes(namespaces: &Namespaces, name: &str) -> Vec<Process> {
    let namespace = namespaces.pid_inode();
    let inside =
        |pid: u32| fs::metadata(format!("/proc/{pid}/ns/pid")).is_ok_and(|data| data.ino() == namespace);
    let called =
        |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name);
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(std::result::Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut found: Vec<_> =
        pids.filter(|pid| called(*pid) && inside(*pid)).filter_map(|pid| Process::of(pid).ok()).collect();
    found.sort_by_key(|process| process.pid);
    found
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !holds()? {
        if Instant::now() >= deadline {
            return Err(Error::Waited { what: what.into(), after: PATIENCE });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
