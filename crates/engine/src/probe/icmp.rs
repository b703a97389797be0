//! An ICMP echo from within the process, for both families.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::{
    net::UdpSocket,
    time::{Instant, sleep_until, timeout_at},
};

use super::failure::ProbeFailure;

/// A first packet is easily lost while switches and neighbours learn.
const RESEND: Duration = Duration::from_millis(300);

/// Passes on the first answer; sends again until the deadline. The kernel chooses the source address if nobody else does.
pub(super) async fn echo(
    target: SocketAddr,
    source: Option<IpAddr>,
    interface: Option<&str>,
    deadline: Instant,
) -> Result<(), ProbeFailure> {
    let peer = target.ip().to_string();
    let echo = match Echo::open(target, source, interface) {
        Ok(echo) => echo,
        Err(error) => return Err(ProbeFailure::Io { peer, source: error }),
    };
    let mut last_error = None;
    while Instant::now() < deadline {
        let until = deadline.min(Instant::now() + RESEND);
        match timeout_at(until, echo.exchange()).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => {
                last_error = Some(error);
                sleep_until(until).await;
            }
            Err(_) => {}
        }
    }
    Err(match last_error {
        Some(error) => ProbeFailure::Io { peer, source: error },
        None => match source {
            Some(own) => ProbeFailure::NoAnswerTo { peer, own },
            None => ProbeFailure::NoAnswer { peer },
        },
    })
}

/// The address that the kernel would send from.
pub(super) fn source_to(target: SocketAddr, interface: &str) -> io::Result<IpAddr> {
    let socket = Socket::new(Domain::for_address(target), Type::DGRAM, None)?;
    socket.bind_device(Some(interface.as_bytes()))?;
    // Nothing is sent by this; the port is any that is not zero.
    let mut target = target;
    target.set_port(9);
    socket.connect(&target.into())?;
    let local = socket.local_addr()?.as_socket();
    local.map(|local| local.ip()).ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

struct Echo {
    /// Once connected, any datagram socket is driven the same way.
    socket: UdpSocket,
    ipv6: bool,
    raw: bool,
    token: [u8; 8],
}

impl Echo {
    fn open(target: SocketAddr, source: Option<IpAddr>, interface: Option<&str>) -> io::Result<Self> {
        let ipv6 = target.is_ipv6();
        let (socket, raw) = open_socket(ipv6)?;
        socket.bind_device(interface.map(str::as_bytes))?;
        if let Some(source) = source {
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        socket.set_nonblocking(true)?;
        // From here on the kernel passes on only what this peer sends.
        socket.connect(&target.into())?;
        let token = RandomState::new().build_hasher().finish().to_be_bytes();
        Ok(Self { socket: UdpSocket::from_std(socket.into())?, ipv6, raw, token })
    }

    async fn exchange(&self) -> io::Result<()> {
        self.socket.send(&request(self.ipv6, &self.token)).await?;
        let mut buffer = [0; 2048];
        loop {
            let read = self.socket.recv(&mut buffer).await?;
            if is_reply(&buffer[..read], self.ipv6, self.raw, &self.token) {
                return Ok(());
            }
        }
    }
}

/// Raw sockets need a capability; the other kind needs a group that few hosts allow. Whichever opens will do.
fn open_socket(ipv6: bool) -> io::Result<(Socket, bool)> {
    let (domain, protocol) =
        if ipv6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
    match Socket::new(domain, Type::RAW, Some(protocol)) {
        Ok(socket) => Ok((socket, true)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok((Socket::new(domain, Type::DGRAM, Some(protocol))?, false))
        }
        Err(error) => Err(error),
    }
}

fn request(ipv6: bool, token: &[u8; 8]) -> [u8; 16] {
    let mut packet = [0; 16];
    packet[0] = if ipv6 { 128 } else { 8 };
    packet[4..6].copy_from_slice(&token[..2]);
    packet[8..].copy_from_slice(token);
    // The kernel writes ICMPv6's, which covers addresses that are not chosen yet.
    if !ipv6 {
        let sum = checksum(&packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    packet
}

/// The token distinguishes our answer from those to other programs, and from our own request when the target is this host.
fn is_reply(packet: &[u8], ipv6: bool, raw: bool, token: &[u8; 8]) -> bool {
    // A raw IPv4 socket passes the IP header on.
    let header = match packet.first() {
        Some(first) if raw && !ipv6 => usize::from(first & 0x0f) * 4,
        _ => 0,
    };
    let reply = if ipv6 { 129 } else { 0 };
    packet.get(header) == Some(&reply) && packet.get(header + 8..header + 16) == Some(token.as_slice())
}

fn checksum(packet: &[u8]) -> u16 {
    let words =
        packet.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

    #[test]
    fn a_packet_with_its_checksum_sums_up_to_nothing() {
        assert_eq!(checksum(&request(false, &TOKEN)), 0);
        assert_eq!(checksum(&[0x45, 0x00, 0xff]), !0x4400_u16.wrapping_add(1));
    }

    #[test]
    fn only_the_answer_to_our_own_token_counts() {
        let mut reply = vec![0x45; 20];
        reply.extend(request(false, &TOKEN));
        assert!(!is_reply(&reply, false, true, &TOKEN), "our own request is no answer");
        reply[20] = 0;
        assert!(is_reply(&reply, false, true, &TOKEN));
        assert!(!is_reply(&reply, false, true, &[9; 8]));
        assert!(is_reply(&reply[20..], false, false, &TOKEN), "without IP header");
        assert!(!is_reply(&reply[..24], false, true, &TOKEN), "cut short");
        assert!(!is_reply(&[], false, true, &TOKEN));
    }
}
