//! A session: the requests of one host connection, all ended when it is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use linesman_lab_guest::frame::{self, Frame, Kind};
use linesman_lab_guest::request::Request;

use crate::port::Port;
use crate::process::Process;
use crate::{files, process};

/// Something under way on a channel.
pub struct Task {
    pub process: Option<Process>,
    /// Dropped at the end of the input.
    pub input: Option<Sender<Vec<u8>>>,
}

impl Task {
    fn is_under_way(&self) -> bool {
        self.input.is_some() || self.process.as_ref().is_some_and(|process| !process.has_ended())
    }
}

impl Drop for Task {
    /// As a handle that is dropped on the host: the process is killed.
    fn drop(&mut self) {
        if let Some(process) = &self.process {
            process.signal(nix::libc::SIGKILL);
        }
    }
}

pub fn serve(port: &Arc<Port>) {
    // Whoever is there already learns that everything of the boot before is gone.
    port.send(0, 0, Kind::Hello, b"");
    let mut tasks = HashMap::new();
    let mut session = 0;
    loop {
        match frame::read(&mut port.reader()) {
            Ok(Some(frame)) if frame.kind == Kind::Hello => {
                tasks.clear();
                session = frame.session;
                port.begin(session);
                port.send(session, 0, Kind::Hello, b"");
            }
            Ok(Some(frame)) if frame.session == session => handle(port, &mut tasks, frame),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => {
                tasks.clear();
                port.nap();
            }
        }
    }
}

fn handle(port: &Arc<Port>, tasks: &mut HashMap<u32, Task>, frame: Frame) {
    tasks.retain(|_, task| task.is_under_way());
    match frame.kind {
        Kind::Start => {
            if let Some(task) = start(port, &frame) {
                tasks.insert(frame.channel, task);
            }
        }
        Kind::Input => {
            if let Some(input) = tasks.get(&frame.channel).and_then(|task| task.input.as_ref()) {
                // One that does not read its input is no error of ours.
                let _ = input.send(frame.bytes);
            }
        }
        Kind::InputEnd => {
            if let Some(task) = tasks.get_mut(&frame.channel) {
                task.input = None;
            }
        }
        Kind::Signal => {
            if let Some(process) = tasks.get(&frame.channel).and_then(|task| task.process.as_ref()) {
                process.signal(frame.number());
            }
        }
        Kind::Hello | Kind::Started | Kind::Stdout | Kind::Stderr | Kind::Ended | Kind::Failed => {}
    }
}

fn start(port: &Arc<Port>, frame: &Frame) -> Option<Task> {
    let reply = Reply { port: Arc::clone(port), session: frame.session, channel: frame.channel };
    match Request::decode(&frame.bytes) {
        Some(Request::Run { words, variables }) => process::start(reply, &words, variables),
        Some(Request::Write { path, mode }) => {
            let (sender, input) = channel();
            std::thread::spawn(move || reply.end(files::write(&path, mode, &input)));
            Some(Task { process: None, input: Some(sender) })
        }
        Some(Request::Read { path }) => {
            std::thread::spawn(move || reply.end(files::read(&path, &reply)));
            None
        }
        Some(Request::Exists { path }) => {
            reply.ended(if path.exists() { 0 } else { 1 << 8 });
            None
        }
        None => {
            reply.failed(nix::libc::EBADMSG);
            None
        }
    }
}

/// Where the answers to a request go.
#[derive(Debug, Clone)]
pub struct Reply {
    port: Arc<Port>,
    session: u32,
    channel: u32,
}

impl Reply {
    /// An empty piece is the end of the stream. False once nobody listens.
    pub fn stream(&self, kind: Kind, bytes: &[u8]) -> bool {
        self.port.send(self.session, self.channel, kind, bytes)
    }

    pub fn started(&self, pid: i32) {
        self.port.send_number(self.session, self.channel, Kind::Started, pid);
    }

    pub fn ended(&self, status: i32) {
        self.port.send_number(self.session, self.channel, Kind::Ended, status);
    }

    pub fn failed(&self, errno: i32) {
        self.port.send_number(self.session, self.channel, Kind::Failed, errno);
    }

    fn end(&self, done: std::io::Result<()>) {
        match done {
            Ok(()) => self.ended(0),
            Err(error) => self.failed(error.raw_os_error().unwrap_or(nix::libc::EIO)),
        }
    }
}
