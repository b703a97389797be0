//! The host's end of a session with a guest: requests on channels, over one stream.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use linesman_lab_guest::frame::{self, Frame, Kind, MOST_BYTES};
use linesman_lab_guest::request::Request;

use super::call::{Call, End};
use crate::error::{Doing, Error, Result};
use crate::lab::lock;
use crate::lock::Lock;

/// A guest that does not even begin with a request for so long has died without a word.
const ANSWER: Duration = Duration::from_secs(60);

/// Dropping it closes the stream, and the guest ends what runs there.
#[derive(Debug)]
pub(crate) struct Guest {
    stream: UnixStream,
    line: Arc<Line>,
    /// What others must not use in the meantime.
    held: Option<Lock>,
}

#[derive(Debug)]
struct Line {
    writer: Mutex<UnixStream>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    session: u32,
    answered: bool,
    closed: bool,
    /// How often the guest said that it has just booted.
    boots: u32,
    calls: HashMap<u32, Arc<Call>>,
    next: u32,
}

impl Guest {
    pub(crate) fn over(stream: UnixStream) -> Result<Self> {
        // A machine that hangs must not hang its test.
        stream.set_write_timeout(Some(ANSWER)).doing(|| "open the line to a guest".into())?;
        let copy = || stream.try_clone().doing(|| "open the line to a guest".into());
        let line =
            Arc::new(Line { writer: Mutex::new(copy()?), state: Mutex::default(), changed: Condvar::new() });
        let (mut reader, listening) = (copy()?, Arc::clone(&line));
        line.greet();
        std::thread::spawn(move || listening.listen(&mut reader));
        Ok(Self { stream, line, held: None })
    }

    pub(crate) fn holding(mut self, own: Lock) -> Self {
        self.held = Some(own);
        self
    }

    pub(crate) fn boots(&self) -> u32 {
        lock(&self.line.state).boots
    }

    /// Until the guest answers, having booted more than that many times. False if it has not by then.
    pub(crate) fn wait_ready(&self, more_boots_than: Option<u32>, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.line.state);
        let ready = |state: &State| state.answered && more_boots_than.is_none_or(|boots| state.boots > boots);
        while !ready(&state) && !state.closed && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            state = self.line.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        ready(&state)
    }

    /// Its input may follow, and `end_input` must.
    pub(crate) fn start(self: &Arc<Self>, request: &Request) -> Result<Channel> {
        let bytes = request.encode();
        if bytes.len() > MOST_BYTES {
            return Err(Error::refused(
                "a command for a VM has at most 32 KB of words and variables: use input()",
            ));
        }
        let (session, number, call) = self.line.open()?;
        let channel = Channel { guest: Arc::clone(self), session, number, call };
        channel.send(Kind::Start, bytes)?;
        Ok(channel)
    }

    /// To its end; gives what came back, and whether it ended with status zero.
    pub(crate) fn ask(
        self: &Arc<Self>,
        request: &Request,
        input: &[u8],
    ) -> Result<std::io::Result<(Vec<u8>, bool)>> {
        let channel = self.start(request)?;
        channel.input(input)?;
        channel.end_input()?;
        match channel.call.wait(ANSWER) {
            Some(End::Status(status)) => Ok(Ok((channel.call.stdout(), status == 0))),
            Some(End::Failed(errno)) => Ok(Err(std::io::Error::from_raw_os_error(errno))),
            Some(End::Lost) => Err(Error::refused("the VM went away in the middle of a request")),
            None => Err(Error::Waited { what: "an answer of a VM".into(), after: ANSWER }),
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Held: the guest ends what runs there when the stream closes.
    guest: Arc<Guest>,
    session: u32,
    number: u32,
    call: Arc<Call>,
}

impl Channel {
    pub(crate) fn call(&self) -> &Arc<Call> {
        &self.call
    }

    /// Until the guest has started the process, or said why not.
    pub(crate) fn wait_started(&self, what: &str) -> Result<()> {
        match self.call.wait_started(ANSWER) {
            Some(End::Failed(errno)) => {
                Err(std::io::Error::from_raw_os_error(errno)).doing(|| format!("start {what}"))
            }
            Some(End::Status(_) | End::Lost) => Ok(()),
            None if self.call.has_started() => Ok(()),
            None => Err(Error::Waited { what: format!("{what} to start on a VM"), after: ANSWER }),
        }
    }

    pub(crate) fn input(&self, bytes: &[u8]) -> Result<()> {
        bytes.chunks(MOST_BYTES).try_for_each(|piece| self.send(Kind::Input, piece.into()))
    }

    pub(crate) fn end_input(&self) -> Result<()> {
        self.send(Kind::InputEnd, vec![])
    }

    /// Nothing happens if it has ended.
    pub(crate) fn signal(&self, number: i32) -> Result<()> {
        if self.call.end().is_some() {
            return Ok(());
        }
        self.send(Kind::Signal, number.to_be_bytes().into())
    }

    fn send(&self, kind: Kind, bytes: Vec<u8>) -> Result<()> {
        let frame = Frame { session: self.session, channel: self.number, kind, bytes };
        self.guest.line.write(&frame).doing(|| "send to a VM".into())
    }
}

impl Line {
    /// Begins a session of our own: whatever was before is over.
    fn greet(&self) {
        let session = fresh_session();
        let mut state = lock(&self.state);
        (state.session, state.answered) = (session, false);
        drop(state);
        // If that fails, the reader sees the stream's end, too.
        let _ = self.write(&Frame { session, channel: 0, kind: Kind::Hello, bytes: vec![] });
    }

    fn write(&self, frame: &Frame) -> std::io::Result<()> {
        lock(&self.writer).write_all(&frame.encode())
    }

    fn open(&self) -> Result<(u32, u32, Arc<Call>)> {
        let mut state = lock(&self.state);
        if state.closed || !state.answered {
            return Err(Error::refused("the VM does not answer: it is booting, or its power was cut"));
        }
        state.next += 1;
        let (number, call) = (state.next, Arc::<Call>::default());
        state.calls.insert(number, Arc::clone(&call));
        Ok((state.session, number, call))
    }

    fn listen(&self, stream: &mut UnixStream) {
        while let Ok(Some(frame)) = frame::read(stream) {
            self.receive(&frame);
        }
        let mut state = lock(&self.state);
        (state.closed, state.answered) = (true, false);
        state.calls.drain().for_each(|(_, call)| call.lose());
        self.changed.notify_all();
    }

    fn receive(&self, frame: &Frame) {
        let mut state = lock(&self.state);
        match frame.kind {
            Kind::Hello if frame.session == 0 => {
                state.boots += 1;
                state.calls.drain().for_each(|(_, call)| call.lose());
                drop(state);
                self.greet();
            }
            Kind::Hello => state.answered |= frame.session == state.session,
            _ if frame.session == state.session => {
                if let Some(call) = state.calls.get(&frame.channel).filter(|call| call.receive(frame)) {
                    call.complete();
                    state.calls.remove(&frame.channel);
                }
            }
            _ => {}
        }
        self.changed.notify_all();
    }
}

/// Never 0, and another one each time, also in another process.
fn fresh_session() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    (time ^ std::process::id().rotate_left(16)).wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed)) | 1
}
