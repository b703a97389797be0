//! What has come back for one request so far.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linesman_lab_guest::frame::{Frame, Kind};

use crate::lab::lock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As `wait` gives it.
    Status(i32),
    /// An error number.
    Failed(i32),
    /// The machine went away, and took it along.
    Lost,
}

#[derive(Debug, Default)]
pub(crate) struct Call {
    heard: Mutex<Heard>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Heard {
    started: bool,
    stdout: Stream,
    stderr: Stream,
    end: Option<End>,
}

#[derive(Debug, Default)]
struct Stream {
    bytes: Vec<u8>,
    ended: bool,
}

impl Stream {
    fn add(&mut self, bytes: &[u8]) {
        self.ended |= bytes.is_empty();
        self.bytes.extend_from_slice(bytes);
    }
}

impl Call {
    /// True once nothing more can come.
    pub(super) fn receive(&self, frame: &Frame) -> bool {
        let mut heard = lock(&self.heard);
        match frame.kind {
            Kind::Started => heard.started = true,
            Kind::Stdout => heard.stdout.add(&frame.bytes),
            Kind::Stderr => heard.stderr.add(&frame.bytes),
            Kind::Ended => heard.end = Some(End::Status(frame.number())),
            Kind::Failed => heard.end = Some(End::Failed(frame.number())),
            Kind::Hello | Kind::Start | Kind::Input | Kind::InputEnd | Kind::Signal => {}
        }
        self.news.notify_all();
        heard.end.is_some() && (!heard.started || heard.stdout.ended && heard.stderr.ended)
    }

    pub(super) fn complete(&self) {
        let mut heard = lock(&self.heard);
        (heard.stdout.ended, heard.stderr.ended) = (true, true);
        self.news.notify_all();
    }

    pub(super) fn lose(&self) {
        let mut heard = lock(&self.heard);
        heard.end.get_or_insert(End::Lost);
        (heard.stdout.ended, heard.stderr.ended) = (true, true);
        self.news.notify_all();
    }

    pub(crate) fn end(&self) -> Option<End> {
        lock(&self.heard).end
    }

    pub(crate) fn has_started(&self) -> bool {
        lock(&self.heard).started
    }

    pub(crate) fn stdout(&self) -> Vec<u8> {
        lock(&self.heard).stdout.bytes.clone()
    }

    pub(crate) fn stderr(&self) -> Vec<u8> {
        lock(&self.heard).stderr.bytes.clone()
    }

    /// What came since the last time, of both streams; for whoever passes it on.
    pub(crate) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        let mut heard = lock(&self.heard);
        (std::mem::take(&mut heard.stdout.bytes), std::mem::take(&mut heard.stderr.bytes))
    }

    /// None if it has not ended by then.
    pub(crate) fn wait(&self, patience: Duration) -> Option<End> {
        self.wait_until(patience, |heard| heard.end.is_some()).end
    }

    pub(crate) fn wait_started(&self, patience: Duration) -> Option<End> {
        self.wait_until(patience, |heard| heard.end.is_some() || heard.started).end
    }

    /// Until both streams have ended, too.
    pub(crate) fn wait_streams(&self, patience: Duration) {
        drop(self.wait_until(patience, |heard| heard.stdout.ended && heard.stderr.ended));
    }

    fn wait_until(&self, patience: Duration, holds: impl Fn(&Heard) -> bool) -> MutexGuard<'_, Heard> {
        let deadline = Instant::now() + patience;
        let mut heard = lock(&self.heard);
        while !holds(&heard) && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            heard = self.news.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        heard
    }
}
