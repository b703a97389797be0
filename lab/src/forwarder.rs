//! Forwards a port of the machine's 127.0.0.1 into the hub's network.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CloneFlags;

use crate::error::{Doing, Result};
use crate::namespaces::Namespaces;

/// Takes no new connections once it is dropped.
#[derive(Debug)]
pub struct Forwarder {
    address: SocketAddr,
    ending: Arc<AtomicBool>,
}

impl Forwarder {
    /// Port 0: any that is free.
    pub(crate) fn start(hub: &Arc<Namespaces>, port: u16, target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))
            .doing(|| format!("listen on 127.0.0.1:{port} (is something else there?)"))?;
        listener.set_nonblocking(true).doing(|| "set up the forwarder".into())?;
        let address = listener.local_addr().doing(|| "set up the forwarder".into())?;
        let ending = Arc::new(AtomicBool::new(false));
        let (until, hub) = (Arc::clone(&ending), Arc::clone(hub));
        std::thread::spawn(move || serve(&listener, &until, &hub, target));
        Ok(Self { address, ending })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
    }
}

fn serve(listener: &TcpListener, ending: &AtomicBool, hub: &Arc<Namespaces>, target: SocketAddr) {
    while !ending.load(Ordering::Relaxed) {
        let mut waiting = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut waiting, PollTimeout::from(250u8));
        while let Ok((outside, _)) = listener.accept() {
            let hub = Arc::clone(hub);
            std::thread::spawn(move || carry(outside, &hub, target));
        }
    }
}

/// A caller that hangs up, or whom nobody answers in there, sees just that.
fn carry(outside: TcpStream, hub: &Namespaces, target: SocketAddr) -> Result<()> {
    let connect = || TcpStream::connect(target);
    let failed = || format!("carry a connection to {target}");
    let inside = hub.within_some(CloneFlags::CLONE_NEWNET, connect)?.doing(failed)?;
    outside.set_nonblocking(false).doing(failed)?;
    let (from, to) = (inside.try_clone().doing(failed)?, outside.try_clone().doing(failed)?);
    std::thread::spawn(move || copy(from, to));
    copy(outside, inside);
    Ok(())
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
