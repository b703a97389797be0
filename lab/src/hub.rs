//! The hub of a lab: gateway, DHCP, router advertisements and DNS for every network, and pings from outside.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sched::CloneFlags;

use crate::boot::{Booted, Plan};
use crate::error::{Doing, Error, Result};
use crate::exec::{Exec, Output, Place, Running};
use crate::faults::Faults;
use crate::namespaces::Namespaces;
use crate::ping::Pinger;
use crate::watch::Watch;
use crate::{address, files, layer};

/// For one ping; long, since a loaded machine answers late and a lost one is lost anyway.
const PING_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Hub {
    namespaces: Arc<Namespaces>,
    pub(crate) faults: Mutex<Faults>,
    /// Ends of cables that are in the switch, not in a network.
    pub(crate) switched: Mutex<BTreeSet<String>>,
}

impl Hub {
    pub(crate) fn start(run: &std::path::Path, root: std::path::PathBuf) -> Result<Booted> {
        let own = run.join("hub-layer");
        layer::hub(&own, &address::bridges(), &address::dnsmasq())?;
        let plan = Plan {
            what: "the hub".into(),
            folder: run.join("hub"),
            layers: vec![own, root],
            init: "/usr/lib/lab/hub-init".into(),
            binds: vec![],
            disks: vec![],
            cgroup: None,
        };
        let mut booted = plan.start(None)?;
        booted.go_on()?;
        booted.wait_until_up()?;
        Ok(booted)
    }

    pub(crate) fn over(namespaces: Arc<Namespaces>) -> Self {
        Self { namespaces, faults: Mutex::default(), switched: Mutex::default() }
    }

    pub(crate) fn namespaces(&self) -> &Arc<Namespaces> {
        &self.namespaces
    }

    fn place(&self) -> Place {
        Place::Namespaces(Arc::clone(&self.namespaces))
    }

    /// Refuses if the hub were in the machine's network.
    pub fn assert_in_lab(&self) -> Result<()> {
        self.namespaces.assert_in_lab("the hub")
    }

    pub fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Exec {
        Exec::new(self.place(), "the hub", words)
    }

    /// A program of the machine, with the machine's files, in the hub's network and among its processes.
    pub fn command_of_the_machine<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Exec {
        self.command(words).with_files_of_the_machine()
    }

    pub fn exec<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Output> {
        self.command(words).output()
    }

    pub fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<String> {
        self.command(words).run()
    }

    pub fn spawn<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Running> {
        self.command(words).spawn()
    }

    pub fn sh(&self, text: &str) -> Result<String> {
        self.run(["sh", "-ec", text])
    }

    pub fn write_file(
        &self,
        path: impl AsRef<std::path::Path>,
        bytes: impl AsRef<[u8]>,
        mode: u32,
    ) -> Result<()> {
        files::write(&self.place(), path.as_ref(), bytes.as_ref(), mode)
    }

    pub fn read_file(&self, path: impl AsRef<std::path::Path>) -> Result<Vec<u8>> {
        files::read(&self.place(), path.as_ref())
    }

    /// One echo request, a second at most.
    pub fn ping(&self, target: impl Into<IpAddr>) -> bool {
        Pinger::open(&self.namespaces, target.into()).is_ok_and(|pinger| pinger.once(0, PING_PATIENCE))
    }

    pub fn wait_reachable(&self, target: impl Into<IpAddr>, patience: Duration) -> Result<()> {
        let target = target.into();
        let pinger = Pinger::open(&self.namespaces, target)?;
        let deadline = Instant::now() + patience;
        let mut sequence = 0;
        while Instant::now() < deadline {
            let sent = Instant::now();
            // Short: while the node has no address yet, a request is answered by nobody.
            if pinger.once(sequence, Duration::from_millis(100)) {
                return Ok(());
            }
            sequence = sequence.wrapping_add(1);
            std::thread::sleep(Duration::from_millis(20).saturating_sub(sent.elapsed()));
        }
        Err(Error::Waited { what: format!("{target} to answer the hub"), after: patience })
    }

    /// Until it has missed a whole second of requests.
    pub fn wait_unreachable(&self, target: impl Into<IpAddr>, patience: Duration) -> Result<()> {
        let target = target.into();
        let deadline = Instant::now() + patience;
        while self.ping(target) {
            if Instant::now() >= deadline {
                return Err(Error::Waited { what: format!("{target} to fall silent"), after: patience });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Samples reachability from now on, ten times a second.
    pub fn watch(&self, target: impl Into<IpAddr>) -> Result<Watch> {
        Watch::start(&self.namespaces, target.into())
    }

    /// `ip` of the machine in the hub's network, where PIDs are the machine's: `netns PID` means what we know it by.
    pub(crate) fn ip(&self, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new("ip");
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let text = format!("ip {}", arguments.join(" "));
        let child = self.namespaces.spawn_in(CloneFlags::CLONE_NEWNET, &mut command)?;
        let output = child.wait_with_output().doing(|| text.clone())?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let status = output.status.to_string();
        Err(Error::Failed { command: text, place: "the hub".into(), status, stdout: String::new(), stderr })
    }
}
