//! The namespaces of a hub or a node, held open: they are entered by handle, never by a pid that may have been reused.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command};
use std::sync::OnceLock;

use nix::sched::{CloneFlags, setns, unshare};

use crate::error::{Doing, Error, Result};

/// Mount last: afterwards, paths mean something else.
const KINDS: &[(&str, CloneFlags)] = &[
    ("cgroup", CloneFlags::CLONE_NEWCGROUP),
    ("ipc", CloneFlags::CLONE_NEWIPC),
    ("uts", CloneFlags::CLONE_NEWUTS),
    ("net", CloneFlags::CLONE_NEWNET),
    ("pid", CloneFlags::CLONE_NEWPID),
    ("mnt", CloneFlags::CLONE_NEWNS),
];

#[derive(Debug)]
pub(crate) struct Namespaces {
    handles: Vec<(CloneFlags, File)>,
    net: u64,
    pid: u64,
}

impl Namespaces {
    /// Those of a process; refused if its network is the machine's.
    pub(crate) fn of(pid: u32, what: &str) -> Result<Self> {
        let handles =
            KINDS.iter().map(|(name, flag)| Ok((*flag, open(pid, name)?))).collect::<Result<Vec<_>>>()?;
        let mut namespaces = Self { handles, net: 0, pid: 0 };
        namespaces.net = namespaces.inode(CloneFlags::CLONE_NEWNET)?;
        namespaces.pid = namespaces.inode(CloneFlags::CLONE_NEWPID)?;
        refuse_machine(namespaces.net, what)?;
        Ok(namespaces)
    }

    fn inode(&self, kind: CloneFlags) -> Result<u64> {
        let handle = self.handles.iter().find(|(flag, _)| *flag == kind).map(|(_, file)| file);
        let handle = handle.ok_or_else(|| Error::refused("a namespace handle is missing"))?;
        Ok(handle.metadata().doing(|| "look at a namespace".into())?.ino())
    }

    pub(crate) fn assert_in_lab(&self, what: &str) -> Result<()> {
        refuse_machine(self.net, what)
    }

    /// The inode that names the PID namespace, as in `/proc/PID/ns/pid`.
    pub(crate) fn pid_inode(&self) -> u64 {
        self.pid
    }

    /// Runs `work` inside some of them, on a thread that ends with it: only that thread moves.
    pub(crate) fn within_some<T: Send>(
        &self,
        kinds: CloneFlags,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T> {
        if kinds.contains(CloneFlags::CLONE_NEWNET) {
            self.assert_in_lab("the target")?;
        }
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                self.enter(kinds)?;
                Ok(work())
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// A child inside a PID namespace needs no further fork: setns only moved where children go.
    pub(crate) fn spawn_in(&self, kinds: CloneFlags, command: &mut Command) -> Result<Child> {
        let name = command.get_program().to_string_lossy().into_owned();
        self.within_some(kinds, || command.spawn())?.doing(|| format!("start {name}"))
    }

    fn enter(&self, kinds: CloneFlags) -> Result<()> {
        // The kernel lets no thread into a mount namespace that shares its working directory with others.
        unshare(CloneFlags::CLONE_FS).doing(|| "leave the shared working directory".into())?;
        for (kind, handle) in self.handles.iter().filter(|(kind, _)| kinds.contains(*kind)) {
            setns(handle, *kind).doing(|| "enter a namespace of the lab".into())?;
        }
        Ok(())
    }
}

fn open(pid: u32, name: &str) -> Result<File> {
    let path = format!("/proc/{pid}/ns/{name}");
    File::open(&path).doing(|| format!("open {path}"))
}

/// Refuses if the calling thread is in the machine's network namespace. For code that changes a network by itself.
pub fn assert_in_lab() -> Result<()> {
    let own = std::fs::metadata("/proc/thread-self/ns/net").doing(|| "look at the own namespace".into())?;
    refuse_machine(own.ino(), "this thread")
}

fn refuse_machine(net: u64, what: &str) -> Result<()> {
    if machine_nets()?.contains(&net) { Err(Error::NotInLab { what: what.into() }) } else { Ok(()) }
}

/// The network namespaces that are not ours: the one this process was started in, and PID 1's where it may be seen.
fn machine_nets() -> Result<&'static [u64]> {
    static NETS: OnceLock<Vec<u64>> = OnceLock::new();
    if let Some(nets) = NETS.get() {
        return Ok(nets);
    }
    let inode = |path: &str| std::fs::metadata(path).map(|data| data.ino());
    let mut nets = vec![inode("/proc/self/ns/net").doing(|| "look at the own namespace".into())?];
    nets.extend(inode("/proc/1/ns/net"));
    Ok(NETS.get_or_init(|| nets))
}
