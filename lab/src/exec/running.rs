use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::capture::{Capture, STREAMS};
use super::{LIMIT, Output};
use crate::error::{Error, Result};
use crate::life::Life;
use crate::vm::{Channel, End};

/// A command under way. Dropping it kills it.
#[derive(Debug)]
#[must_use = "a command whose handle is dropped is killed at once"]
pub struct Running {
    pub(super) handle: Handle,
    pub(super) text: String,
    pub(super) place: String,
}

#[derive(Debug)]
pub(super) enum Handle {
    Child { life: Life, stdout: Capture, stderr: Capture },
    Guest(Channel),
}

impl Running {
    /// As the machine counts; inside the node it has another one. None on a VM, whose processes the machine does not see.
    pub fn pid(&self) -> Option<u32> {
        match &self.handle {
            Handle::Child { life, .. } => Some(life.pid()),
            Handle::Guest(_) => None,
        }
    }

    /// What it has written so far.
    pub fn stdout(&self) -> String {
        match &self.handle {
            Handle::Child { stdout, .. } => stdout.text(),
            Handle::Guest(channel) => text(&channel.call().stdout()),
        }
    }

    pub fn stderr(&self) -> String {
        match &self.handle {
            Handle::Child { stderr, .. } => stderr.text(),
            Handle::Guest(channel) => text(&channel.call().stderr()),
        }
    }

    /// Nothing happens if it has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        match &self.handle {
            Handle::Child { life, .. } => life.signal(signal),
            Handle::Guest(channel) => channel.signal(signal as i32),
        }
    }

    pub fn kill(&self) -> Result<()> {
        self.signal(Signal::SIGKILL)
    }

    /// None while it runs.
    pub fn status(&self) -> Option<ExitStatus> {
        match &self.handle {
            Handle::Child { life, .. } => life.status(),
            Handle::Guest(channel) => channel.call().end().map(status),
        }
    }

    /// Until it ends by itself, five minutes at most.
    pub fn wait(self) -> Result<Output> {
        self.wait_at_most(LIMIT)
    }

    pub fn wait_at_most(mut self, limit: Duration) -> Result<Output> {
        match &mut self.handle {
            Handle::Child { life, stdout, stderr } => life.wait(limit).map(|status| Output {
                status,
                stdout: stdout.finish(),
                stderr: stderr.finish(),
            }),
            Handle::Guest(channel) => channel.call().wait(limit).map(|end| {
                channel.call().wait_streams(STREAMS);
                let (stdout, stderr) = (text(&channel.call().stdout()), text(&channel.call().stderr()));
                Output { status: status(end), stdout, stderr }
            }),
        }
        .ok_or_else(|| self.too_long(limit))
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command that was lost with its machine was killed with it.
pub(super) fn status(end: End) -> ExitStatus {
    match end {
        End::Status(status) => ExitStatus::from_raw(status),
        End::Failed(_) | End::Lost => ExitStatus::from_raw(Signal::SIGKILL as i32),
    }
}
