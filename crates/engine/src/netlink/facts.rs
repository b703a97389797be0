//! What the kernel says about links, addresses and default routes, in our words. Pure.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
};

use rtnetlink::packet_route::{
    AddressFamily,
    address::{AddressAttribute, AddressFlags, AddressMessage},
    link::{LinkAttribute, LinkFlags, LinkInfo, LinkMessage},
    route::{RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteNextHop, RouteType, RouteVia},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFact {
    pub index: u32,
    pub name: String,
    /// The kernel's kind of a virtual link ("bridge", "veth", "tun" …); a NIC has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Set up by an administrator; says nothing about the other end.
    pub up: bool,
    pub carrier: bool,
    /// As asked for by somebody; who only listens in is not counted.
    #[serde(default)]
    pub promiscuous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

/// A NIC, or what may be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicFact {
    pub name: String,
    /// As of a link.
    pub kind: Option<String>,
    /// The one burnt in, if there is one: a bond gives its ports another.
    pub mac: String,
}

/// An address with all that is needed to put it back as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressFact {
    pub interface: String,
    pub index: u32,
    pub ip: IpAddr,
    pub prefix: u8,
    /// Has no lifetime: neither DHCP nor a router advertisement gave it.
    pub permanent: bool,
    /// The kernel's number: 0 universe, 253 link, 254 host.
    pub scope: u8,
    /// The kernel's IFA_F_* bits.
    pub flags: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Ipv4Addr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Seconds; absent for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_metric: Option<u32>,
}

impl AddressFact {
    /// The kernel still looks whether another host has it.
    pub fn is_tentative(&self) -> bool {
        let optimistic = self.flags & AddressFlags::Optimistic.bits() != 0;
        self.flags & AddressFlags::Tentative.bits() != 0 && !optimistic
    }

    /// Another host has it.
    pub fn is_duplicate(&self) -> bool {
        self.flags & AddressFlags::Dadfailed.bits() != 0
    }

    /// Whoever set it makes the route to its network, too.
    pub fn leaves_prefix_route(&self) -> bool {
        self.flags & AddressFlags::Noprefixroute.bits() != 0
    }
}

/// A default route of the main table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultRoute {
    pub ipv6: bool,
    pub metric: u32,
    /// More than one with multipath.
    pub next_hops: Vec<NextHop>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextHop {
    /// Absent on a point-to-point link. May be an IPv6 address on an IPv4 route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<IpAddr>,
    pub index: u32,
    pub interface: String,
}

pub(super) type Names = BTreeMap<u32, String>;

const FOR_EVER: u32 = u32::MAX;

pub(super) fn link_name(message: &LinkMessage) -> Option<&str> {
    message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.as_str()),
        _ => None,
    })
}

pub(super) fn link(message: &LinkMessage, names: &Names) -> Option<LinkFact> {
    let flags = message.header.flags;
    let mut fact = LinkFact {
        index: message.header.index,
        name: link_name(message)?.to_owned(),
        kind: None,
        up: flags.contains(LinkFlags::Up),
        carrier: flags.contains(LinkFlags::LowerUp),
        promiscuous: flags.contains(LinkFlags::Promisc),
        controller: None,
        mac: None,
        mtu: None,
    };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::Address(bytes) => fact.mac = mac(bytes),
            LinkAttribute::Mtu(mtu) => fact.mtu = Some(*mtu),
            LinkAttribute::Controller(index) => fact.controller = Some(name_of(*index, names)),
            LinkAttribute::LinkInfo(infos) => fact.kind = infos.iter().find_map(kind),
            _ => {}
        }
    }
    Some(fact)
}

pub(super) fn nic(message: &LinkMessage) -> Option<NicFact> {
    if message.header.flags.contains(LinkFlags::Loopback) {
        return None;
    }
    let LinkFact { name, kind, mac: now, .. } = link(message, &Names::new())?;
    let burnt_in = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::PermAddress(bytes) => mac(bytes),
        _ => None,
    });
    Some(NicFact { name, kind, mac: burnt_in.or(now)? })
}

fn kind(info: &LinkInfo) -> Option<String> {
    match info {
        LinkInfo::Kind(kind) => Some(kind.to_string()),
        _ => None,
    }
}

pub(super) fn mac(bytes: &[u8]) -> Option<String> {
    let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    (!parts.is_empty()).then(|| parts.join(":"))
}

pub(super) fn name_of(index: u32, names: &Names) -> String {
    names.get(&index).cloned().unwrap_or_else(|| format!("#{index}"))
}

pub(super) fn address(message: &AddressMessage, names: &Names) -> Option<AddressFact> {
    let (mut local, mut remote) = (None, None);
    let mut fact = AddressFact {
        interface: name_of(message.header.index, names),
        index: message.header.index,
        ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        prefix: message.header.prefix_len,
        permanent: false,
        scope: message.header.scope.into(),
        flags: message.header.flags.bits().into(),
        peer: None,
        broadcast: None,
        label: None,
        valid: None,
        preferred: None,
        route_metric: None,
    };
    for attribute in &message.attributes {
        match attribute {
            AddressAttribute::Address(ip) => remote = Some(*ip),
            AddressAttribute::Local(ip) => local = Some(*ip),
            AddressAttribute::Label(label) => fact.label = Some(label.clone()),
            AddressAttribute::Broadcast(ip) => fact.broadcast = Some(*ip),
            AddressAttribute::Flags(flags) => fact.flags = flags.bits(),
            AddressAttribute::RoutePriority(metric) => fact.route_metric = Some(*metric),
            AddressAttribute::CacheInfo(info) => {
                fact.valid = Some(info.ifa_valid).filter(|seconds| *seconds != FOR_EVER);
                fact.preferred = Some(info.ifa_preferred).filter(|seconds| *seconds != FOR_EVER);
            }
            _ => {}
        }
    }
    // IPv4 always has both; IPv6 has a local one only if there is a peer, and then the other one is the peer's.
    fact.ip = local.or(remote)?;
    fact.peer = remote.filter(|peer| *peer != fact.ip);
    fact.permanent = fact.flags & AddressFlags::Permanent.bits() != 0;
    Some(fact)
}

pub(super) fn default_route(message: &RouteMessage, names: &Names) -> Option<DefaultRoute> {
    let header = &message.header;
    let ipv6 = match header.address_family {
        AddressFamily::Inet => false,
        AddressFamily::Inet6 => true,
        _ => return None,
    };
    let is_default = header.destination_prefix_length == 0 && header.kind == RouteType::Unicast;
    if !is_default || table(message) != u32::from(RouteHeader::RT_TABLE_MAIN) {
        return None;
    }
    Some(DefaultRoute { ipv6, metric: metric(message), next_hops: next_hops(message, names) })
}

pub(super) fn table(message: &RouteMessage) -> u32 {
    let attribute = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    attribute.unwrap_or(message.header.table.into())
}

pub(super) fn metric(message: &RouteMessage) -> u32 {
    let attribute = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Priority(metric) => Some(*metric),
        _ => None,
    });
    attribute.unwrap_or(0)
}

fn next_hops(message: &RouteMessage, names: &Names) -> Vec<NextHop> {
    let several = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::MultiPath(hops) => Some(hops),
        _ => None,
    });
    let hop = |hop: &RouteNextHop| next_hop(hop.interface_index, &hop.attributes, names);
    match several {
        Some(hops) => hops.iter().map(hop).collect(),
        None => vec![next_hop(outgoing(&message.attributes).unwrap_or(0), &message.attributes, names)],
    }
}

pub(super) fn outgoing(attributes: &[RouteAttribute]) -> Option<u32> {
    attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Oif(index) => Some(*index),
        _ => None,
    })
}

fn next_hop(index: u32, attributes: &[RouteAttribute], names: &Names) -> NextHop {
    let gateway = attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Gateway(RouteAddress::Inet(ip)) => Some(IpAddr::V4(*ip)),
        RouteAttribute::Gateway(RouteAddress::Inet6(ip)) => Some(IpAddr::V6(*ip)),
        RouteAttribute::Via(RouteVia::Inet(ip)) => Some(IpAddr::V4(*ip)),
        RouteAttribute::Via(RouteVia::Inet6(ip)) => Some(IpAddr::V6(*ip)),
        _ => None,
    });
    NextHop { gateway, index, interface: name_of(index, names) }
}

#[cfg(test)]
impl AddressFact {
    /// A permanent address, for tests of other modules.
    pub fn test(interface: &str, ip: &str) -> Self {
        Self {
            interface: interface.into(),
            index: 1,
            ip: ip.parse().unwrap(),
            prefix: 24,
            permanent: true,
            scope: 0,
            flags: 0,
            peer: None,
            broadcast: None,
            label: None,
            valid: None,
            preferred: None,
            route_metric: None,
        }
    }
}
