//! A web server in the hub, port 80 of every gateway: served by this process on a socket that was opened in there.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CloneFlags;

use crate::error::{Doing, Result};
use crate::namespaces::Namespaces;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\nconnection: close\r\n\r\nlinesman lab\n";

/// Stops serving when dropped.
#[derive(Debug)]
pub(crate) struct Responder {
    ending: Arc<AtomicBool>,
}

impl Responder {
    pub(crate) fn start(hub: &Namespaces) -> Result<Self> {
        let bind = || TcpListener::bind("[::]:80");
        let listener =
            hub.within_some(CloneFlags::CLONE_NEWNET, bind)?.doing(|| "listen in the hub".into())?;
        listener.set_nonblocking(true).doing(|| "set up the hub's web server".into())?;
        let ending = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ending);
        std::thread::spawn(move || serve(&listener, &until));
        Ok(Self { ending })
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
    }
}

fn serve(listener: &TcpListener, ending: &AtomicBool) {
    while !ending.load(Ordering::Relaxed) {
        let mut waiting = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut waiting, PollTimeout::from(250u8));
        while let Ok((stream, _)) = listener.accept() {
            // A caller that hangs up is no concern of the lab.
            std::thread::spawn(move || answer(stream));
        }
    }
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < 16384 {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&buffer[..count]),
        }
    }
    stream.write_all(ANSWER)
}
