//! From the name of a daemon to its socket.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Error, Unixctl};

/// A daemon by the name of its pidfile. Nothing is remembered: a restart changes the process and the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Daemon {
    run_dir: PathBuf,
    name: String,
    proc: Option<PathBuf>,
}

impl Daemon {
    /// `run_dir`: where its pidfile and its socket are, such as /run/openvswitch.
    pub fn new(run_dir: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Daemon { run_dir: run_dir.into(), name: name.into(), proc: Some("/proc".into()) }
    }

    /// The process table that has the daemon, if that is not /proc; none: there is none to look it up in.
    #[must_use]
    pub fn proc(mut self, proc: Option<PathBuf>) -> Self {
        self.proc = proc;
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn pidfile(&self) -> PathBuf {
        self.run_dir.join(format!("{}.pid", self.name))
    }

    /// As the pidfile has it, if there is such a process.
    pub fn pid(&self) -> Result<u32, Error> {
        let path = self.pidfile();
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoPidfile { daemon: self.name.clone(), path: path.clone() },
            _ => Error::BadPidfile { path: path.clone(), what: error.to_string() },
        })?;
        let pid = text.trim().parse::<u32>().ok().filter(|pid| *pid > 0);
        let pid = pid
            .ok_or_else(|| Error::BadPidfile { path: path.clone(), what: "no process number".to_owned() })?;
        match &self.proc {
            Some(proc) if !is_running(proc, pid) => {
                Err(Error::StalePidfile { daemon: self.name.clone(), path, pid })
            }
            _ => Ok(pid),
        }
    }

    pub fn socket(&self) -> Result<PathBuf, Error> {
        Ok(self.run_dir.join(format!("{}.{}.ctl", self.name, self.pid()?)))
    }

    pub async fn connect(&self, limit: Duration) -> Result<Unixctl, Error> {
        Unixctl::connect(self.socket()?, limit).await
    }

    /// One command over a connection of its own. `limit` holds for the connection and for the answer.
    pub async fn call(&self, command: &str, arguments: &[&str], limit: Duration) -> Result<String, Error> {
        self.connect(limit).await?.call(command, arguments).await
    }
}

/// A process that has ended and that nobody has waited for does not run.
fn is_running(proc: &Path, pid: u32) -> bool {
    let stat = fs::read_to_string(proc.join(pid.to_string()).join("stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !['Z', 'X'].contains(&state))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_pidfile(text: &str) -> (tempfile::TempDir, Daemon) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("d.pid"), text).unwrap();
        let daemon = Daemon::new(folder.path(), "d");
        (folder, daemon)
    }

    #[test]
    fn the_socket_is_named_after_the_process() {
        let me = std::process::id();
        let (folder, daemon) = with_pidfile(&format!("{me}\n"));
        assert_eq!(daemon.socket().unwrap(), folder.path().join(format!("d.{me}.ctl")));
    }

    #[test]
    fn pidfiles_of_the_dead_are_stale() {
        let (_folder, daemon) = with_pidfile("4194305\n");
        let error = daemon.pid().unwrap_err();
        assert!(matches!(error, Error::StalePidfile { pid: 4_194_305, .. }), "{error}");
        assert_eq!(daemon.proc(None).pid().unwrap(), 4_194_305, "where there is no process table");
    }

    #[test]
    fn pidfiles_without_a_process_are_told_apart() {
        let (_folder, daemon) = with_pidfile("soon");
        assert!(matches!(daemon.pid(), Err(Error::BadPidfile { .. })));
        let none = Daemon::new(daemon.run_dir.clone(), "other");
        assert!(matches!(none.pid(), Err(Error::NoPidfile { .. })));
    }
}
