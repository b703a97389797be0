//! Children that are reaped as soon as they end, whoever holds their handle.
//!
//! The kernel lets no PID namespace die while it holds a zombie, and our children inside one are ours to reap:
//! a command that nobody waits for would otherwise hold up the power cut of its node.

use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::error::{Doing, Result};
use crate::lab::lock;

#[derive(Debug, Clone)]
pub(crate) struct Life {
    pid: u32,
    end: Arc<End>,
}

#[derive(Debug, Default)]
struct End {
    status: Mutex<Option<ExitStatus>>,
    came: Condvar,
}

impl Life {
    pub(crate) fn of(child: Child) -> Self {
        let life = Self { pid: child.id(), end: Arc::default() };
        let end = Arc::clone(&life.end);
        std::thread::spawn(move || reap(child, &end));
        life
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn status(&self) -> Option<ExitStatus> {
        *lock(&self.end.status)
    }

    /// None if it still lives after that time.
    pub(crate) fn wait(&self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        let mut status = lock(&self.end.status);
        while status.is_none() && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            status = self.end.came.wait_timeout(status, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *status
    }

    /// Nothing happens if it has ended: under the lock, the PID cannot have passed to another.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let status = lock(&self.end.status);
        if status.is_some() {
            return Ok(());
        }
        kill(Pid::from_raw(self.pid.cast_signed()), signal).doing(|| format!("send {signal} to {}", self.pid))
    }
}

/// Waits without reaping first, so that the PID stays taken until the status is known.
fn reap(mut child: Child, end: &End) {
    let pid = Pid::from_raw(child.id().cast_signed());
    while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(nix::errno::Errno::EINTR) {
    }
    let mut status = lock(&end.status);
    *status = child.wait().ok();
    end.came.notify_all();
}
