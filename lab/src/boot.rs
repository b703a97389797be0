//! Starting a hub or a node: fresh namespaces, a root made of layers, an init, and a console to listen to.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sched::CloneFlags;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::{Doing, Error, Result};
use crate::exec::Place;
use crate::files;
use crate::layer::create;
use crate::life::Life;
use crate::namespaces::Namespaces;

const ENTER_ROOT: &str = include_str!("scripts/enter-root.sh");

/// Generous: twelve nodes may be starting on two cores.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) what: String,
    /// Holds the disk (`upper`) and what the overlay needs beside it.
    pub(crate) folder: PathBuf,
    /// Topmost first.
    pub(crate) layers: Vec<PathBuf>,
    pub(crate) init: String,
    pub(crate) binds: Vec<(PathBuf, PathBuf)>,
    pub(crate) disks: Vec<(PathBuf, PathBuf)>,
    pub(crate) cgroup: Option<PathBuf>,
}

impl Plan {
    /// Up to the point where NICs may be plugged in. With `lab`, its processes die with that PID namespace.
    pub(crate) fn start(&self, lab: Option<&Namespaces>) -> Result<Booted> {
        for folder in ["upper", "work", "root"] {
            create(&self.folder.join(folder))?;
        }
        if let Some(cgroup) = &self.cgroup {
            create(cgroup)?;
        }
        let mut command = self.command();
        let mut child = match lab {
            Some(lab) => lab.spawn_in(CloneFlags::CLONE_NEWPID, &mut command)?,
            None => command.spawn().doing(|| format!("start {}", self.what))?,
        };
        let console = Console::of(&mut child);
        let stdin = child.stdin.take();
        let shell = Shell(Life::of(child));
        console.wait_for("lab: made", PATIENCE).map_err(|why| self.failed(&why, &console))?;
        let pid = shell.init_pid(&self.what)?;
        let namespaces = Arc::new(Namespaces::of(pid, &self.what)?);
        Ok(Booted { what: self.what.clone(), shell, stdin, pid, namespaces, console })
    }

    fn command(&self) -> Command {
        let join = |pairs: &[(PathBuf, PathBuf)]| -> String {
            pairs.iter().map(|(from, to)| format!("{}\t{}\n", from.display(), to.display())).collect()
        };
        let layers: Vec<_> = self.layers.iter().map(|layer| layer.display().to_string()).collect();
        // `echo 0` moves the writer itself, whatever its PID is called in here.
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                "if [ -n \"${LAB_CGROUP:-}\" ]; then echo 0 >\"$LAB_CGROUP/cgroup.procs\"; fi; exec \"$@\"",
                "sh",
            ])
            .args(["unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child=KILL"])
            .args(self.cgroup.as_ref().map(|_| "--cgroup"))
            .args(["sh", "-c", ENTER_ROOT])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LAB_DIR", &self.folder)
            .env("LAB_LOWER", layers.join(":"))
            .env("LAB_INIT", &self.init)
            .env("LAB_BINDS", join(&self.binds))
            .env("LAB_DISKS", join(&self.disks))
            .envs(self.cgroup.as_ref().map(|cgroup| ("LAB_CGROUP", cgroup)))
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn failed(&self, why: &str, console: &Console) -> Error {
        Error::Start { what: self.what.clone(), why: why.into(), console: console.text() }
    }
}

/// `unshare`, which has the init as its one child and dies after it. Killed when dropped.
#[derive(Debug)]
struct Shell(Life);

impl Shell {
    fn init_pid(&self, what: &str) -> Result<u32> {
        let parent = self.0.pid();
        let path = format!("/proc/{parent}/task/{parent}/children");
        let children = std::fs::read_to_string(&path).doing(|| format!("read {path}"))?;
        let first = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
        first.ok_or_else(|| Error::refused(format!("{what} has no init")))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.signal(Signal::SIGKILL);
        self.0.wait(PATIENCE);
    }
}

/// A running init and everything below it. Dropping it is a power cut.
#[derive(Debug)]
pub(crate) struct Booted {
    what: String,
    shell: Shell,
    /// Held open: the hub ends when it closes.
    stdin: Option<ChildStdin>,
    pid: u32,
    namespaces: Arc<Namespaces>,
    console: Console,
}

impl Booted {
    pub(crate) fn namespaces(&self) -> &Arc<Namespaces> {
        &self.namespaces
    }

    /// PID 1 of its namespace, as the machine counts.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn go_on(&mut self) -> Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| Error::refused("the console is closed"))?;
        stdin.write_all(b"\n").doing(|| format!("let {} go on", self.what))
    }

    pub(crate) fn wait_until_up(&self) -> Result<()> {
        self.console.wait_for("lab: up", PATIENCE).map_err(|why| self.failed(why))
    }

    /// For an init that does not talk to us.
    pub(crate) fn wait_until_exists(&self, path: &Path) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let place = Place::Namespaces(Arc::clone(&self.namespaces));
        while !files::exists(&place, path)? {
            if self.shell.0.status().is_some() {
                return Err(self.failed("it ended".into()));
            }
            if Instant::now() >= deadline {
                return Err(self.failed(format!("no {} within {PATIENCE:?}", path.display())));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn failed(&self, why: String) -> Error {
        Error::Start { what: self.what.clone(), why, console: self.console.text() }
    }

    pub(crate) fn console(&self) -> String {
        self.console.text()
    }
}

impl Drop for Booted {
    /// PID 1 first: `unshare` reaps it once the kernel has killed all the rest of the namespace.
    fn drop(&mut self) {
        if self.shell.0.status().is_none() {
            let _ = kill(Pid::from_raw(self.pid.cast_signed()), Signal::SIGKILL);
        }
        self.shell.0.wait(PATIENCE);
    }
}

#[derive(Debug)]
struct Console {
    lines: Arc<Mutex<Vec<String>>>,
    news: Mutex<Receiver<String>>,
}

impl Console {
    fn of(child: &mut Child) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (sender, news) = channel();
        if let Some(stdout) = child.stdout.take() {
            listen(stdout, Arc::clone(&lines), Some(sender));
        }
        if let Some(stderr) = child.stderr.take() {
            listen(stderr, Arc::clone(&lines), None);
        }
        Self { lines, news: Mutex::new(news) }
    }

    fn wait_for(&self, line: &str, patience: Duration) -> std::result::Result<(), String> {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + patience;
        loop {
            match news.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(heard) if heard == line => return Ok(()),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(format!("no `{line}` within {patience:?}")),
                Err(RecvTimeoutError::Disconnected) => return Err(format!("it ended before `{line}`")),
            }
        }
    }

    fn text(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}

fn listen(
    stream: impl std::io::Read + Send + 'static,
    lines: Arc<Mutex<Vec<String>>>,
    news: Option<Sender<String>>,
) {
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(std::result::Result::ok) {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
            if let Some(news) = &news {
                // Nobody waits any more once it is up.
                let _ = news.send(line);
            }
        }
    });
}

/// The start time of a process, in clock ticks since boot: with the PID it names a process for good.
/// None once it is dead, even if nobody has reaped it yet.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    parse_start_time(&stat)
}

/// The name in parentheses may hold anything, further parentheses included.
fn parse_start_time(stat: &str) -> Option<u64> {
    let mut after_name = stat.rsplit_once(')')?.1.split_whitespace();
    let state = after_name.next()?;
    if matches!(state, "Z" | "X") { None } else { after_name.nth(18)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_time_is_found_behind_any_name_and_the_dead_have_none() {
        let rest = "1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        assert_eq!(parse_start_time(&format!("7 (a) b) S {rest}")), Some(4711));
        assert_eq!(parse_start_time(&format!("7 (a) Z {rest}")), None);
        assert!(start_time(std::process::id()).is_some());
    }
}
