//! Routes as the kernel has them, kept whole so that one of any routing daemon can be put back as it was.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

use futures_util::TryStreamExt;
use nix::errno::Errno;
use rtnetlink::RouteMessageBuilder;
use rtnetlink::packet_core::{Emitable, Parseable};
use rtnetlink::packet_route::AddressFamily;
use rtnetlink::packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteNextHopFlags, RouteType,
};
use serde::{Deserialize, Serialize};

use super::facts::{Names, metric, name_of, outgoing, table};
use super::{Error, Netlink, Result};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteFact {
    /// `ADDRESS/PREFIX`
    pub destination: String,
    pub table: u32,
    pub metric: u32,
    /// The kernel's number: 2 kernel, 3 boot, 4 static, 9 router advertisement, 12 bird, 16 DHCP …
    pub protocol: u8,
    /// The interfaces it leads through: more than one with multipath. A link that is made anew has another index.
    pub interfaces: Vec<String>,
    /// The whole message, in hexadecimal.
    pub message: String,
}

const LOCAL: u8 = 255;

/// A router may have a million; what a daemon has put there in such numbers it puts there again.
const MOST: usize = 20_000;

impl Netlink {
    /// Unicast routes of all tables but the local one that lead through one of these interfaces, and whether there
    /// were too many of them.
    pub async fn routes(&self, through: &BTreeSet<String>) -> Result<(Vec<RouteFact>, bool)> {
        let names = self.names().await?;
        let mut routes = Vec::new();
        let questions =
            [RouteMessageBuilder::<Ipv4Addr>::new().build(), RouteMessageBuilder::<Ipv6Addr>::new().build()];
        for question in questions {
            let mut answers = std::pin::pin!(self.handle.route().get(question).execute());
            while let Some(message) =
                answers.try_next().await.map_err(|error| Error::of("list routes", error))?
            {
                let Some(route) = fact(message, &names) else { continue };
                if !route.interfaces.iter().any(|name| through.contains(name)) {
                    continue;
                }
                if routes.len() == MOST {
                    return Ok((routes, true));
                }
                routes.push(route);
            }
        }
        Ok((routes, false))
    }

    /// One that is there already stays.
    pub async fn restore_route(&self, route: &RouteFact) -> Result<()> {
        let names = self.names().await?;
        let mut indices = Vec::new();
        for interface in &route.interfaces {
            let index = names.iter().find_map(|(index, name)| (name == interface).then_some(*index));
            indices.push(index.ok_or_else(|| Error::NoInterface { name: interface.clone() })?);
        }
        let what = format!("add the route to {}", route.destination);
        let Some(message) = message(route, &indices) else {
            return Err(Error::NotARoute { destination: route.destination.clone() });
        };
        match self.handle.route().add(message).execute().await.map_err(|error| Error::of(what, error)) {
            Err(error) if error.errno() == Some(Errno::EEXIST) => Ok(()),
            other => other,
        }
    }
}

impl RouteFact {
    /// Whether both are the same route, whatever the index of its interface.
    pub fn is_same(&self, other: &Self) -> bool {
        let key = |route: &Self| (route.destination.clone(), route.table, route.metric, route.protocol);
        key(self) == key(other) && self.interfaces == other.interfaces
    }

    /// The same through another interface.
    pub fn through(&self, from: &str, to: &str) -> Self {
        let moved =
            self.interfaces.iter().map(|name| if name == from { to.to_owned() } else { name.clone() });
        Self { interfaces: moved.collect(), ..self.clone() }
    }
}

fn fact(mut message: RouteMessage, names: &Names) -> Option<RouteFact> {
    let header = &mut message.header;
    let unspecified = match header.address_family {
        AddressFamily::Inet => "0.0.0.0",
        AddressFamily::Inet6 => "::",
        _ => return None,
    };
    if header.kind != RouteType::Unicast || header.flags.contains(RouteFlags::Cloned) {
        return None;
    }
    // The rest is the kernel's finding.
    header.flags = header.flags.intersection(RouteFlags::Onlink);
    let prefix = header.destination_prefix_length;
    let (table, metric, protocol) = (table(&message), metric(&message), u8::from(message.header.protocol));
    if table == u32::from(LOCAL) {
        return None;
    }
    // A nexthop object vanishes with its link; the kernel says what is in it beside its number.
    message.attributes.retain(|attribute| {
        use RouteAttribute::{CacheInfo, MulticastExpires, NhId, Uid};
        !matches!(attribute, CacheInfo(_) | MulticastExpires(_) | NhId(_) | Uid(_))
    });
    let destination = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(ip)) => Some(ip.to_string()),
        RouteAttribute::Destination(RouteAddress::Inet6(ip)) => Some(ip.to_string()),
        _ => None,
    });
    let mut hops: Vec<u32> = outgoing(&message.attributes).into_iter().collect();
    for attribute in &mut message.attributes {
        if let RouteAttribute::MultiPath(several) = attribute {
            for hop in several.iter_mut() {
                hop.flags = hop.flags.intersection(RouteNextHopFlags::Onlink);
            }
            hops = several.iter().map(|hop| hop.interface_index).collect();
        }
    }
    if hops.is_empty() {
        return None;
    }
    let mut bytes = vec![0; message.buffer_len()];
    message.emit(&mut bytes);
    Some(RouteFact {
        destination: format!("{}/{prefix}", destination.as_deref().unwrap_or(unspecified)),
        table,
        metric,
        protocol,
        interfaces: hops.iter().map(|index| name_of(*index, names)).collect(),
        message: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// The message with the indices that the interfaces have now.
fn message(route: &RouteFact, indices: &[u32]) -> Option<RouteMessage> {
    let digits = route.message.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits.chunks(2).map(byte).collect::<Option<_>>()?;
    let mut message = RouteMessage::parse(bytes.as_slice()).ok()?;
    for attribute in &mut message.attributes {
        match attribute {
            RouteAttribute::Oif(index) => *index = *indices.first()?,
            RouteAttribute::MultiPath(hops) => {
                for (hop, index) in hops.iter_mut().zip(indices) {
                    hop.interface_index = *index;
                }
            }
            _ => {}
        }
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtnetlink::packet_route::route::RouteProtocol;

    fn bird(index: u32) -> RouteMessage {
        let mut message = RouteMessageBuilder::<Ipv4Addr>::new()
            .destination_prefix(Ipv4Addr::new(203, 0, 113, 0), 24)
            .gateway(Ipv4Addr::new(10, 9, 0, 1))
            .output_interface(index)
            .priority(32)
            .build();
        message.header.protocol = RouteProtocol::Bird;
        message
    }

    #[test]
    fn a_route_survives_the_journal_and_a_new_index() {
        let route = fact(bird(3), &Names::from([(3, "eth0".to_owned())])).unwrap();
        assert_eq!((route.destination.as_str(), route.protocol, route.metric), ("203.0.113.0/24", 12, 32));
        assert_eq!(route.interfaces, ["eth0"]);
        let text = serde_json::to_string(&route).unwrap();
        let read: RouteFact = serde_json::from_str(&text).unwrap();
        assert_eq!(message(&read, &[9]).unwrap(), bird(9));
    }

    #[test]
    fn local_routes_are_the_kernels() {
        let mut message = bird(3);
        message.header.table = LOCAL;
        message.attributes.retain(|attribute| !matches!(attribute, RouteAttribute::Table(_)));
        assert_eq!(fact(message, &Names::new()), None);
    }

    #[test]
    fn a_damaged_message_is_no_route() {
        let mut route = fact(bird(3), &Names::new()).unwrap();
        route.message = "zz".into();
        assert_eq!(message(&route, &[1]), None);
    }
}
