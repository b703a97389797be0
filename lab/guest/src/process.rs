//! Processes that the lab starts in the guest.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use linesman_lab_guest::frame::{Kind, MOST_BYTES};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::session::{Reply, Task};

#[derive(Debug)]
pub struct Process {
    pid: Pid,
    ended: Arc<Mutex<bool>>,
}

impl Process {
    pub fn has_ended(&self) -> bool {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under the lock: until it is reaped, its PID cannot have passed to another.
    pub fn signal(&self, number: i32) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let (false, Ok(signal)) = (*ended, Signal::try_from(number)) {
            let _ = kill(self.pid, signal);
        }
    }
}

pub fn start(reply: Reply, words: &[OsString], variables: Vec<(OsString, OsString)>) -> Option<Task> {
    let Some((program, arguments)) = words.split_first() else {
        reply.failed(nix::libc::EINVAL);
        return None;
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(variables).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Ok(child) => Some(attend(reply, child)),
        Err(error) => {
            reply.failed(error.raw_os_error().unwrap_or(nix::libc::EIO));
            None
        }
    }
}

fn attend(reply: Reply, mut child: Child) -> Task {
    let pid = child.id().cast_signed();
    let process = Process { pid: Pid::from_raw(pid), ended: Arc::default() };
    reply.started(pid);
    let (sender, input) = channel();
    if let Some(pipe) = child.stdin.take() {
        std::thread::spawn(move || feed(pipe, &input));
    }
    if let Some(pipe) = child.stdout.take() {
        let reply = reply.clone();
        std::thread::spawn(move || relay(pipe, &reply, Kind::Stdout));
    }
    if let Some(pipe) = child.stderr.take() {
        let reply = reply.clone();
        std::thread::spawn(move || relay(pipe, &reply, Kind::Stderr));
    }
    let ended = Arc::clone(&process.ended);
    std::thread::spawn(move || reap(child, &ended, &reply));
    Task { process: Some(process), input: Some(sender) }
}

fn feed(mut pipe: impl Write, input: &Receiver<Vec<u8>>) {
    for piece in input {
        if pipe.write_all(&piece).is_err() {
            return;
        }
    }
}

/// Reads on when nobody listens any more: the process must not be stopped by a full pipe.
fn relay(mut pipe: impl Read, reply: &Reply, kind: Kind) {
    let mut buffer = vec![0; MOST_BYTES];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        reply.stream(kind, &buffer[..count]);
    }
    reply.stream(kind, b"");
}

/// Waits without reaping first, so that the PID stays taken until nobody can signal it any more.
fn reap(mut child: Child, ended: &Mutex<bool>, reply: &Reply) {
    let pid = Pid::from_raw(child.id().cast_signed());
    while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(Errno::EINTR) {}
    let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
    let status = child.wait().map_or(-1, |status| status.into_raw());
    *ended = true;
    drop(ended);
    reply.ended(status);
}
