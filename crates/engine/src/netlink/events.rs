use std::collections::VecDeque;

use nix::errno::Errno;
use rtnetlink::{
    MulticastGroup,
    packet_core::{NetlinkBuffer, NetlinkMessage, NetlinkPayload},
    packet_route::{AddressFamily, RouteNetlinkMessage},
    sys::{AsyncSocket, AsyncSocketExt, SocketAddr, TokioSocket, protocols::NETLINK_ROUTE},
};
use serde::Serialize;

use super::{
    Error, Netlink, Result,
    facts::{self, Names},
};

const GROUPS: [MulticastGroup; 7] = [
    MulticastGroup::Link,
    MulticastGroup::Ipv4Ifaddr,
    MulticastGroup::Ipv6Ifaddr,
    MulticastGroup::Ipv4Route,
    MulticastGroup::Ipv6Route,
    MulticastGroup::Ipv4Rule,
    MulticastGroup::Ipv6Rule,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    Link,
    Address,
    Route,
    Rule,
    /// More happened than the socket could hold: read everything again.
    Lost,
}

/// Something changed. What exactly is for the next read to say: by then it may have changed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    pub kind: EventKind,
    /// The kernel says that it was taken away.
    pub gone: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

const LOST: Event = Event { kind: EventKind::Lost, gone: false, index: None, interface: None };

/// A subscription to changes of links, addresses, routes and rules.
///
/// It reads the socket itself instead of letting a task fill an endless queue: whoever does not listen for a while gets
/// [`EventKind::Lost`] once, not a million routes.
pub struct LinkEvents {
    socket: TokioSocket,
    names: Names,
    names_are_stale: bool,
    pending: VecDeque<Event>,
}

impl std::fmt::Debug for LinkEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkEvents").field("pending", &self.pending.len()).finish_non_exhaustive()
    }
}

impl LinkEvents {
    /// Whatever happens after this returns is reported.
    pub async fn subscribe() -> Result<Self> {
        let mut socket = TokioSocket::new(NETLINK_ROUTE).map_err(Error::Open)?;
        let groups = GROUPS.iter().fold(0, |bits, group| bits | 1 << (*group as u32 - 1));
        socket.socket_mut().bind(&SocketAddr::new(0, groups)).map_err(Error::Open)?;
        let names = Netlink::open()?.names().await?;
        Ok(Self { socket, names, names_are_stale: false, pending: VecDeque::new() })
    }

    /// The next change. Nothing is lost if the wait is given up.
    pub async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Ok(event);
            }
            if self.names_are_stale {
                self.names = Netlink::open()?.names().await?;
                self.names_are_stale = false;
            }
            match self.socket.recv_from_full().await {
                Ok((datagram, _)) => self.take(&datagram),
                Err(error) if is_overrun(&error) => self.lose_track(),
                Err(error) => return Err(Error::Broken(error)),
            }
        }
    }

    /// Returns after the next change; never, if the socket broke. For those who also look from time to time.
    pub async fn changed(&mut self) {
        if let Err(error) = self.next().await {
            tracing::warn!(%error, "the netlink socket is lost; network changes are no longer reported");
            std::future::pending().await
        }
    }

    /// Takes what has arrived already without waiting, and says how many changes that were.
    pub async fn drain(&mut self) -> Result<usize> {
        let mut count = 0;
        loop {
            tokio::select! {
                biased;
                event = self.next() => { event?; count += 1; }
                () = std::future::ready(()) => return Ok(count),
            }
        }
    }

    /// Until its queue has been empty once, an overrun socket drops further events silently. So it is emptied
    /// before the loss is reported: what the caller reads then is at least as new as all that was dropped.
    fn lose_track(&mut self) {
        while match self.socket.socket_ref().recv_from_full() {
            Ok(_) => true,
            Err(error) => is_overrun(&error),
        } {}
        self.names_are_stale = true;
        self.pending.push_back(LOST);
    }

    fn take(&mut self, datagram: &[u8]) {
        let mut rest = datagram;
        while let Ok(buffer) = NetlinkBuffer::new_checked(rest) {
            let length = (buffer.length() as usize).min(rest.len());
            if let Some(event) = self.event(&rest[..length]) {
                self.pending.push_back(event);
            }
            // Messages in one datagram start at multiples of four.
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }

    fn event(&mut self, message: &[u8]) -> Option<Event> {
        let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(message) else {
            // A newer kernel's message: something changed, although it is unknown what.
            return Some(LOST);
        };
        let NetlinkPayload::InnerMessage(message) = message.payload else { return None };
        let (kind, gone, index) = classify(&message)?;
        if let (RouteNetlinkMessage::NewLink(link), Some(index)) = (&message, index) {
            self.names.extend(facts::link_name(link).map(|name| (index, name.to_owned())));
        }
        let interface = index.and_then(|index| self.names.get(&index).cloned());
        Some(Event { kind, gone, index, interface })
    }
}

fn is_overrun(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ENOBUFS as i32)
}

fn classify(message: &RouteNetlinkMessage) -> Option<(EventKind, bool, Option<u32>)> {
    use RouteNetlinkMessage as M;
    Some(match message {
        M::NewLink(link) => (EventKind::Link, false, Some(link.header.index)),
        // A port that leaves its bridge is also reported as a deleted link, of the bridge family.
        M::DelLink(link) => {
            let gone = link.header.interface_family != AddressFamily::Bridge;
            (EventKind::Link, gone, Some(link.header.index))
        }
        M::NewAddress(address) => (EventKind::Address, false, Some(address.header.index)),
        M::DelAddress(address) => (EventKind::Address, true, Some(address.header.index)),
        M::NewRoute(route) => (EventKind::Route, false, facts::outgoing(&route.attributes)),
        M::DelRoute(route) => (EventKind::Route, true, facts::outgoing(&route.attributes)),
        M::NewRule(_) => (EventKind::Rule, false, None),
        M::DelRule(_) => (EventKind::Rule, true, None),
        _ => return None,
    })
}
