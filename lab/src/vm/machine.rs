//! A running qemu, its control socket and the line to its guest.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use super::guest::Guest;
use super::hardware::{Disk, Hardware, Nic, disk_port, nic_backend, nic_id};
use super::qmp::Qmp;
use crate::error::{Doing, Error, Result};
use crate::exec::Place;
use crate::files;
use crate::lab::lock;
use crate::life::Life;

/// Exists once the last of our units has run.
const UP: &str = "/run/lab/up";
/// For a boot: half a minute alone, more beside other tests.
pub(crate) const BOOT: Duration = Duration::from_secs(600);
/// For what a running machine is asked to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// Dropping it is a power cut.
#[derive(Debug)]
pub(crate) struct Machine {
    what: String,
    folder: PathBuf,
    life: Life,
    qmp: Mutex<Qmp>,
    guest: Arc<Guest>,
}

impl Machine {
    /// `command` becomes qemu; `spawn` says where. Its log, its console and its sockets are in the folder.
    pub(crate) fn start(
        what: &str,
        folder: &Path,
        hardware: &Hardware,
        mut command: Command,
        spawn: impl FnOnce(&mut Command) -> Result<Child>,
    ) -> Result<Self> {
        let pair = || UnixStream::pair().doing(|| "make a socket".into());
        let ((control, inside), (line, other_end)) = (pair()?, pair()?);
        command.args(hardware.arguments()).current_dir(folder);
        command.stdin(OwnedFd::from(inside)).stdout(OwnedFd::from(other_end)).stderr(log(folder)?);
        let life = Life::of(spawn(&mut command)?);
        // Our copies of the other ends: while they are open, nobody would notice that qemu is gone.
        drop(command);
        let failed = |error: Error| started_badly(what, folder, &error.to_string());
        let qmp = Qmp::over(control).map_err(failed)?;
        let guest = Arc::new(Guest::over(line)?);
        Ok(Self { what: what.into(), folder: folder.into(), life, qmp: Mutex::new(qmp), guest })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.life.pid()
    }

    pub(crate) fn place(&self) -> Place {
        Place::Guest(Arc::clone(&self.guest))
    }

    pub(crate) fn console(&self) -> String {
        let bytes = std::fs::read(self.folder.join("console.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn control<T>(&self, work: impl FnOnce(&mut Qmp) -> Result<T>) -> Result<T> {
        work(&mut lock(&self.qmp))
    }

    /// Memory is not written: it is in a file already.
    pub(crate) fn save(&self, state: &Path) -> Result<()> {
        self.control(|qmp| {
            qmp.execute("stop", json!({}))?;
            leave_memory_out(qmp)?;
            qmp.execute("migrate", json!({ "uri": format!("exec:cat >{}", quoted(state)) }))?;
            qmp.wait_migrated(BOOT)?;
            qmp.execute("quit", json!({})).map(drop)
        })?;
        match self.life.wait(PATIENCE) {
            Some(_) => Ok(()),
            None => {
                Err(Error::Waited { what: "qemu to end after it saved a machine".into(), after: PATIENCE })
            }
        }
    }

    pub(crate) fn restore(&self, state: &Path) -> Result<()> {
        let restored = self.control(|qmp| {
            leave_memory_out(qmp)?;
            qmp.execute("migrate-incoming", json!({ "uri": format!("exec:cat {}", quoted(state)) }))?;
            qmp.wait_migrated(PATIENCE)?;
            // It was stopped when it was saved, and would stay so.
            qmp.execute("cont", json!({})).map(drop)
        });
        restored.map_err(|error| started_badly(&self.what, &self.folder, &error.to_string()))
    }

    /// After it was restored: until the guest takes commands.
    pub(crate) fn wait_awake(&self) -> Result<()> {
        self.wait_answers(None, BOOT)
    }

    /// Until the guest takes commands, after more boots than that.
    fn wait_answers(&self, boots: Option<u32>, patience: Duration) -> Result<()> {
        if self.guest.wait_ready(boots, patience) {
            return Ok(());
        }
        let why = match self.life.status() {
            Some(status) => format!("qemu ended: {status}"),
            None => format!("the guest did not answer within {patience:?}"),
        };
        Err(Error::Start { what: self.what.clone(), why, console: self.console() })
    }

    /// Until all units have run.
    pub(crate) fn wait_booted(&self) -> Result<()> {
        self.wait_booted_after(None)
    }

    fn wait_booted_after(&self, boots: Option<u32>) -> Result<()> {
        let deadline = Instant::now() + BOOT;
        self.wait_answers(boots, BOOT)?;
        while !files::exists(&self.place(), Path::new(UP))? {
            if Instant::now() > deadline {
                let why = format!("no {UP} within {BOOT:?}");
                return Err(Error::Start { what: self.what.clone(), why, console: self.console() });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// As its reset button does it, until it is up again.
    pub(crate) fn reset(&self) -> Result<()> {
        self.boot_again(|| self.control(|qmp| qmp.execute("system_reset", json!({})).map(drop)))
    }

    pub(crate) fn boot_again(&self, begin: impl FnOnce() -> Result<()>) -> Result<()> {
        let boots = self.guest.boots();
        begin()?;
        self.wait_booted_after(Some(boots))
    }

    pub(crate) fn plug_disk(&self, number: usize, disk: &Disk) -> Result<()> {
        let file = json!({ "driver": "file", "filename": disk.image });
        let (name, read_only) = (format!("disk{number}"), disk.read_only);
        self.control(|qmp| {
            let backend = json!({ "driver": "raw", "node-name": name, "read-only": read_only, "file": file });
            qmp.execute("blockdev-add", backend)?;
            let bus = disk_port(number);
            let device = json!({ "driver": "virtio-blk-pci", "id": name, "drive": name, "bus": bus, "serial": disk.serial });
            qmp.execute("device_add", device).map(drop)
        })
    }

    /// Until the guest has found it, so that several have the names that their order says.
    pub(crate) fn plug_nic(&self, number: u8, nic: &Nic) -> Result<()> {
        self.control(|qmp| {
            qmp.execute("netdev_add", nic.backend(number))?;
            qmp.execute("device_add", nic.device(number)).map(drop)
        })?;
        let name = format!("/sys/class/net/eth{number}");
        let deadline = Instant::now() + PATIENCE;
        while !files::exists(&self.place(), Path::new(&name))? {
            if Instant::now() > deadline {
                return Err(Error::Waited { what: format!("{} to find {name}", self.what), after: PATIENCE });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Until the guest has let go of it.
    pub(crate) fn unplug_nic(&self, number: u8) -> Result<()> {
        let id = nic_id(number);
        self.control(|qmp| {
            qmp.forget_events();
            qmp.execute("device_del", json!({ "id": id }))?;
            qmp.wait_for("DEVICE_DELETED", "device", &id, PATIENCE)?;
            qmp.execute("netdev_del", json!({ "id": nic_backend(number) })).map(drop)
        })
    }

    /// The power goes, at once.
    pub(crate) fn cut(&self) {
        let _ = self.life.signal(Signal::SIGKILL);
        self.life.wait(PATIENCE);
    }

    /// Carrier, as the guest sees it.
    pub(crate) fn set_link(&self, nic: u8, up: bool) -> Result<()> {
        self.control(|qmp| qmp.execute("set_link", json!({ "name": nic_id(nic), "up": up })).map(drop))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.cut();
    }
}

fn leave_memory_out(qmp: &mut Qmp) -> Result<()> {
    let capabilities = json!([{ "capability": "x-ignore-shared", "state": true }]);
    qmp.execute("migrate-set-capabilities", json!({ "capabilities": capabilities })).map(drop)
}

/// For the shell that qemu starts.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn log(folder: &Path) -> Result<File> {
    let path = folder.join("qemu.log");
    OpenOptions::new().create(true).append(true).open(&path).doing_to("create", &path)
}

fn started_badly(what: &str, folder: &Path, why: &str) -> Error {
    let console = std::fs::read_to_string(folder.join("qemu.log")).unwrap_or_default();
    Error::Start { what: what.into(), why: why.into(), console }
}
