//! Commands inside a hub or a node: bounded, captured, and killed when their handle is dropped.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sched::CloneFlags;
use nix::sys::signal::Signal;

use crate::error::{Doing, Error, Result};
use crate::life::Life;
use crate::namespaces::Namespaces;

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

/// A command to be, on one node or the hub.
#[derive(Debug)]
pub struct Exec {
    namespaces: Arc<Namespaces>,
    place: String,
    words: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    input: Option<Vec<u8>>,
    limit: Duration,
    kinds: CloneFlags,
}

impl Exec {
    pub(crate) fn new<W: AsRef<OsStr>>(
        namespaces: Arc<Namespaces>,
        place: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        let words = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        Self {
            namespaces,
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
        let mut command = self.command()?;
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.namespaces.spawn_in(self.kinds, &mut command)?;
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.input.take()) {
            // A command that does not read its input is no error of ours.
            std::thread::spawn(move || pipe.write_all(&bytes));
        }
        let stdout = Capture::of(child.stdout.take());
        let stderr = Capture::of(child.stderr.take());
        Ok(Running { life: Life::of(child), stdout, stderr, text: self.text(), place: self.place })
    }

    /// On this terminal: standard streams are the caller's own.
    pub fn interactive(self) -> Result<ExitStatus> {
        let mut child = self.namespaces.spawn_in(self.kinds, &mut self.command()?)?;
        child.wait().doing(|| format!("wait for {}", self.text()))
    }

    fn command(&self) -> Result<Command> {
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| Error::refused("an empty command cannot be run"))?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(ENVIRONMENT.iter().copied());
        command.env("TERM", std::env::var_os("TERM").unwrap_or_else(|| "dumb".into()));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
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

/// A command under way. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    life: Life,
    stdout: Capture,
    stderr: Capture,
    text: String,
    place: String,
}

impl Running {
    /// As the machine counts; inside the node it has another one.
    pub fn pid(&self) -> u32 {
        self.life.pid()
    }

    /// What it has written so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Nothing happens if it has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        self.life.signal(signal)
    }

    pub fn kill(&self) -> Result<()> {
        self.signal(Signal::SIGKILL)
    }

    /// None while it runs.
    pub fn status(&self) -> Option<ExitStatus> {
        self.life.status()
    }

    /// Until it ends by itself, five minutes at most.
    pub fn wait(self) -> Result<Output> {
        self.wait_at_most(LIMIT)
    }

    pub fn wait_at_most(mut self, limit: Duration) -> Result<Output> {
        match self.life.wait(limit) {
            Some(status) => Ok(Output { status, stdout: self.stdout.finish(), stderr: self.stderr.finish() }),
            None => Err(self.too_long(limit)),
        }
    }

    fn too_long(&self, after: Duration) -> Error {
        let (command, place) = (self.text.clone(), self.place.clone());
        Error::TooLong { command, place, after, stdout: self.stdout(), stderr: self.stderr() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

#[derive(Debug)]
struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Capture {
    fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = stream.map(|stream| std::thread::spawn(move || copy(stream, &into)));
        Self { bytes, reader }
    }

    fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A background process that inherited the stream may hold it open for ever: the command itself has ended.
    fn finish(&mut self) -> String {
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.text()
    }
}

fn copy(mut stream: impl Read, into: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        into.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(&buffer[..count]);
    }
}
