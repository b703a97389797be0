//! The folder of a running lab, its owner's lock, and the sweep that removes what dead owners left.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

use crate::boot::start_time;
use crate::error::{Doing, Error, Result};
use crate::exec::{Exec, Place};
use crate::hub::Hub;
use crate::layer::create;
use crate::lock::{self, Lock};
use crate::namespaces::Namespaces;
use crate::{cgroup, places, tree, vm};

/// A process that cannot be mistaken for a later one with the same PID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    started: u64,
}

impl Process {
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let started = start_time(pid).ok_or_else(|| Error::refused(format!("process {pid} is gone")))?;
        Ok(Self { pid, started })
    }

    pub fn alive(&self) -> bool {
        start_time(self.pid) == Some(self.started)
    }

    /// Since it was started.
    pub fn age(&self) -> Duration {
        let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
        let now: f64 = uptime.split(' ').next().and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0);
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64;
        Duration::from_secs_f64((now - self.started as f64 / ticks).max(0.0))
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        if !self.alive() {
            return Ok(());
        }
        match kill(Pid::from_raw(self.pid.cast_signed()), signal) {
            Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
            Err(errno) => Err(errno).doing(|| format!("send {signal} to process {}", self.pid)),
        }
    }

    pub fn wait_gone(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.alive() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        !self.alive()
    }
}

/// What others may know about a running lab; kept in its folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Description {
    pub name: String,
    pub owner: Process,
    pub hub: Option<Process>,
    pub nodes: Vec<NodeDescription>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeDescription {
    pub name: String,
    /// PID 1 of the node, or the qemu of a virtual machine; None while it is switched off.
    pub init: Option<Process>,
    /// Of a virtual machine: the folder of its sockets.
    #[serde(default)]
    pub vm: Option<PathBuf>,
    pub ipv4: std::net::Ipv4Addr,
    pub ipv6: std::net::Ipv6Addr,
}

impl NodeDescription {
    /// For a process that does not own the lab.
    pub fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Exec> {
        let init = self.init.ok_or_else(|| Error::SwitchedOff { node: self.name.clone() })?;
        let place = match &self.vm {
            Some(folder) => Place::Guest(vm::visit(folder, &self.name)?),
            None => Place::Namespaces(namespaces_of(init, &self.name)?),
        };
        Ok(Exec::new(place, &self.name, words))
    }
}

impl Description {
    pub fn hub(&self) -> Result<Hub> {
        let init = self.hub.ok_or_else(|| Error::refused("the lab has no hub yet"))?;
        Ok(Hub::over(namespaces_of(init, "the hub")?))
    }
}

/// Alive after they were opened: so they were its own, and no later process's.
fn namespaces_of(init: Process, what: &str) -> Result<Arc<Namespaces>> {
    let namespaces = Namespaces::of(init.pid, what);
    if init.alive() { Ok(Arc::new(namespaces?)) } else { Err(Error::refused(format!("{what} is gone"))) }
}

#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    _alive: Lock,
}

impl RunFolder {
    /// Sweeps first. Creation, removal and sweep exclude each other, so that a folder without its lock is always a dead
    /// one's.
    pub(crate) fn create(name: &str) -> Result<Self> {
        let runs = places::runs();
        create(&runs)?;
        let _one_at_a_time = lock::wait_for(&runs.join(".lock"))?;
        sweep_folders(&runs)?;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = runs.join(format!("{}-{}-{number}", plain_name(name), std::process::id()));
        create(&path)?;
        let alive = lock::try_take(&path.join("owner.lock"))?
            .ok_or_else(|| Error::refused(format!("{} belongs to another lab", path.display())))?;
        Ok(Self { path, _alive: alive })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Names this run machine-wide.
    pub(crate) fn id(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub(crate) fn describe(&self, description: &Description) -> Result<()> {
        let text = serde_json::to_vec_pretty(description).map_err(std::io::Error::from);
        let unfinished = self.path.join("lab.json.unfinished");
        let finished = self.path.join("lab.json");
        fs::write(&unfinished, text.doing(|| "describe the lab".into())?).doing_to("write", &unfinished)?;
        fs::rename(&unfinished, &finished).doing_to("write", &finished)
    }

    pub(crate) fn remove(&self) -> Result<()> {
        let _one_at_a_time = lock::wait_for(&places::runs().join(".lock"))?;
        cgroup::remove_of(&self.id());
        tree::remove_tree(&self.path)
    }
}

fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    name.chars().map(plain).take(40).collect()
}

/// Removes what dead owners left: processes, cgroups, folders. (Mounts and networks went with the processes.)
/// Gives the names of the runs it removed.
pub fn sweep() -> Result<Vec<String>> {
    crate::setup::require_root()?;
    let runs = places::runs();
    create(&runs)?;
    let _one_at_a_time = lock::wait_for(&runs.join(".lock"))?;
    sweep_folders(&runs)
}

fn sweep_folders(runs: &Path) -> Result<Vec<String>> {
    let mut swept = Vec::new();
    for folder in folders(runs)? {
        if let Some(_dead) = lock::try_take(&folder.join("owner.lock"))? {
            sweep_one(&folder)?;
            swept.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    Ok(swept)
}

fn sweep_one(folder: &Path) -> Result<()> {
    if let Some(hub) = described(folder).and_then(|lab| lab.hub) {
        hub.signal(Signal::SIGKILL)?;
        if !hub.wait_gone(Duration::from_secs(20)) {
            return Err(Error::refused(format!("process {} of a dead lab does not die", hub.pid)));
        }
    }
    if let Some(id) = folder.file_name() {
        cgroup::remove_of(&id.to_string_lossy());
    }
    tree::remove_tree(folder)
}

fn folders(runs: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(runs).doing_to("list", runs)?;
    let paths = entries.filter_map(std::result::Result::ok).map(|entry| entry.path());
    Ok(paths.filter(|path| path.is_dir()).collect())
}

fn described(folder: &Path) -> Option<Description> {
    serde_json::from_slice(&fs::read(folder.join("lab.json")).ok()?).ok()
}

/// The labs whose owners live.
pub fn running() -> Result<Vec<Description>> {
    let runs = places::runs();
    if !runs.exists() {
        return Ok(vec![]);
    }
    let labs = folders(&runs)?.iter().filter_map(|folder| described(folder)).collect::<Vec<_>>();
    Ok(labs.into_iter().filter(|lab| lab.owner.alive()).collect())
}
