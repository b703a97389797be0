//! Echo requests from the hub, sent by this process over a socket that was opened in there: no fork for each ping.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CloneFlags;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, recv, sendto, socket,
};

use crate::error::{Doing, Result};
use crate::namespaces::Namespaces;

#[derive(Debug)]
pub(crate) struct Pinger {
    socket: OwnedFd,
    target: IpAddr,
    identity: u16,
}

impl Pinger {
    pub(crate) fn open(hub: &Namespaces, target: IpAddr) -> Result<Self> {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        let (family, protocol) = match target {
            IpAddr::V4(_) => (AddressFamily::Inet, SockProtocol::Icmp),
            IpAddr::V6(_) => (AddressFamily::Inet6, SockProtocol::IcmpV6),
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let open = || socket(family, SockType::Raw, flags, protocol);
        let socket =
            hub.within_some(CloneFlags::CLONE_NEWNET, open)?.doing(|| "open an ICMP socket".into())?;
        let [.., high, low] = std::process::id().to_be_bytes();
        let identity = u16::from_be_bytes([high, low]).wrapping_add(NEXT.fetch_add(257, Ordering::Relaxed));
        Ok(Self { socket, target, identity })
    }

    /// False: there is no way to the target at the moment.
    pub(crate) fn send(&self, sequence: u16) -> bool {
        let message = request(self.target, self.identity, sequence);
        let address = SockaddrStorage::from(SocketAddr::new(self.target, 0));
        sendto(self.socket.as_raw_fd(), &message, &address, MsgFlags::empty()).is_ok()
    }

    /// The sequence number of the next answer, if one comes before the deadline.
    pub(crate) fn receive(&self, deadline: Instant) -> Option<u16> {
        let mut buffer = [0; 1500];
        loop {
            match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(count) => {
                    if let Some(sequence) = answer(self.target, self.identity, &buffer[..count]) {
                        return Some(sequence);
                    }
                }
                Err(Errno::EAGAIN) => {
                    if !self.wait_readable(deadline) {
                        return None;
                    }
                }
                // Such as "host unreachable", queued on the socket.
                Err(_) if Instant::now() < deadline => {}
                Err(_) => return None,
            }
        }
    }

    fn wait_readable(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let milliseconds = u16::try_from(left.as_millis() + 1).unwrap_or(u16::MAX);
        let mut waiting = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        !matches!(poll(&mut waiting, PollTimeout::from(milliseconds)), Ok(0)) || Instant::now() < deadline
    }

    /// One request, and at most `patience` for its answer.
    pub(crate) fn once(&self, sequence: u16, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        if !self.send(sequence) {
            return false;
        }
        while let Some(answered) = self.receive(deadline) {
            if answered == sequence {
                return true;
            }
        }
        false
    }
}

const ECHO_V4: (u8, u8) = (8, 0);
const ECHO_V6: (u8, u8) = (128, 129);

fn request(target: IpAddr, identity: u16, sequence: u16) -> Vec<u8> {
    let kind = if target.is_ipv4() { ECHO_V4.0 } else { ECHO_V6.0 };
    let [id_high, id_low] = identity.to_be_bytes();
    let [seq_high, seq_low] = sequence.to_be_bytes();
    let mut message = vec![kind, 0, 0, 0, id_high, id_low, seq_high, seq_low];
    message.extend_from_slice(b"linesman lab");
    if target.is_ipv4() {
        // For ICMPv6 the kernel does it.
        let sum = checksum(&message).to_be_bytes();
        message[2..4].copy_from_slice(&sum);
    }
    message
}

fn checksum(message: &[u8]) -> u16 {
    let words = message.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

/// A raw socket hears every ICMP message of its namespace; IPv4 gives the IP header too.
fn answer(target: IpAddr, identity: u16, packet: &[u8]) -> Option<u16> {
    let (kind, message) = match target {
        IpAddr::V4(target) => {
            let header = usize::from(packet.first()? & 0x0f) * 4;
            let source: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
            if source != target.octets() {
                return None;
            }
            (ECHO_V4.1, packet.get(header..)?)
        }
        IpAddr::V6(_) => (ECHO_V6.1, packet),
    };
    let fields: [u8; 8] = message.get(..8)?.try_into().ok()?;
    let ours = fields[0] == kind && fields[4..6] == identity.to_be_bytes();
    ours.then(|| u16::from_be_bytes([fields[6], fields[7]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_carries_a_valid_checksum() {
        let message = request("10.9.0.11".parse().unwrap(), 7, 9);
        assert_eq!(checksum(&message), 0);
    }

    #[test]
    fn only_an_answer_to_us_counts() {
        let target: IpAddr = "fd09::11".parse().unwrap();
        let mut message = request(target, 7, 9);
        assert_eq!(answer(target, 7, &message), None);
        message[0] = ECHO_V6.1;
        assert_eq!(answer(target, 7, &message), Some(9));
        assert_eq!(answer(target, 8, &message), None);
    }
}
