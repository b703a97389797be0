//! Commands inside a hub or a node: bounded, captured, and killed when their handle is dropped.

mod capture;
mod interactive;
mod running;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use linesman_lab_guest::request::Request;
use nix::sched::CloneFlags;

pub use running::Running;

use crate::error::{Doing, Error, Result};
use crate::life::Life;
use crate::namespaces::Namespaces;
use crate::vm::Guest;
use capture::Capture;
use running::Handle;

/// Nothing a test asks of a node takes longer; a command that hangs becomes an error.
const LIMIT: Duration = Duration::from_secs(300);

#[derive(Debug, Clone)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    pub fn success(&self) -> bool {
        self.status.success()
    }

    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// Where commands run and files are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Namespaces(Arc<Namespaces>),
    Guest(Arc<Guest>),
}

/// A command to be, on one node or the hub.
#[derive(Debug)]
pub struct Exec {
    target: Place,
    place: String,
    words: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    input: Option<Vec<u8>>,
    limit: Duration,
    kinds: CloneFlags,
}

impl Exec {
    pub(crate) fn new<W: AsRef<OsStr>>(
        target: Place,
        place: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        let words = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        Self {
            target,
            place: place.into(),
            words,
            variables: vec![],
            input: None,
            limit: LIMIT,
            kinds: CloneFlags::all(),
        }
    }

    /// Everything of the place but its files: the program and its paths are the machine's.
    pub(crate) fn with_files_of_the_machine(mut self) -> Self {
        self.kinds.remove(CloneFlags::CLONE_NEWNS);
        self
    }

    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Instead of five minutes.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs to its end, whatever its exit status.
    pub fn output(self) -> Result<Output> {
        let limit = self.limit;
        self.spawn()?.wait_at_most(limit)
    }

    /// Runs to its end and gives its standard output; an exit status other than zero is an error.
    pub fn run(self) -> Result<String> {
        let (command, place) = (self.text(), self.place.clone());
        let output = self.output()?;
        if output.success() {
            return Ok(output.stdout);
        }
        let Output { status, stdout, stderr } = output;
        Err(Error::Failed { command, place, status: status.to_string(), stdout, stderr })
    }

    pub fn spawn(mut self) -> Result<Running> {
        let input = self.input.take();
        let handle = match &self.target {
            Place::Namespaces(namespaces) => self.spawn_child(namespaces, input)?,
            Place::Guest(guest) => self.spawn_in_guest(guest, &input.unwrap_or_default())?,
        };
        Ok(Running { handle, text: self.text(), place: self.place })
    }

    fn spawn_child(&self, namespaces: &Namespaces, input: Option<Vec<u8>>) -> Result<Handle> {
        let mut command = self.command()?;
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = namespaces.spawn_in(self.kinds, &mut command)?;
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), input) {
            // A command that does not read its input is no error of ours.
            std::thread::spawn(move || pipe.write_all(&bytes));
        }
        let (stdout, stderr) = (Capture::of(child.stdout.take()), Capture::of(child.stderr.take()));
        Ok(Handle::Child { life: Life::of(child), stdout, stderr })
    }

    fn spawn_in_guest(&self, guest: &Arc<Guest>, input: &[u8]) -> Result<Handle> {
        let channel = guest.start(&self.request(&self.words))?;
        channel.input(input)?;
        channel.end_input()?;
        channel.wait_started(&self.words.first().map(|word| word.to_string_lossy()).unwrap_or_default())?;
        Ok(Handle::Guest(channel))
    }

    /// On this terminal: standard streams are the caller's own.
    pub fn interactive(self) -> Result<ExitStatus> {
        match &self.target {
            Place::Namespaces(namespaces) => {
                let mut child = namespaces.spawn_in(self.kinds, &mut self.command()?)?;
                child.wait().doing(|| format!("wait for {}", self.text()))
            }
            Place::Guest(guest) => {
                interactive::on_this_terminal(guest, |words| self.request(words), &self.words)
            }
        }
    }

    fn request(&self, words: &[OsString]) -> Request {
        Request::Run { words: words.into(), variables: self.environment().collect() }
    }

    fn environment(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let fixed = ENVIRONMENT.iter().map(|(name, value)| (name.into(), value.into()));
        let terminal = ("TERM".into(), std::env::var_os("TERM").unwrap_or_else(|| "dumb".into()));
        fixed.chain([terminal]).chain(self.variables.iter().cloned())
    }

    fn command(&self) -> Result<Command> {
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| Error::refused("an empty command cannot be run"))?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.environment());
        Ok(command)
    }

    fn text(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}

const ENVIRONMENT: &[(&str, &str)] = &[
    ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
];
