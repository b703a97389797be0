//! The path by which a host is reached: which interfaces carry it, and which lie below those.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use serde_json::Value;

use crate::interface_index::InterfaceIndex;
use crate::interface_kind::InterfaceKind;
use crate::state::{self, interfaces, kind, list, name, network, text};

const MAIN_TABLE: u64 = 254;

/// Why an interface belongs to the path by which this host is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    DefaultRoute,
    Holds(IpAddr),
    LeadsTo(IpAddr),
    Below(String),
}

/// The interfaces of the path by which this host is reached, each with its reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnPath(BTreeMap<String, Why>);

impl OwnPath {
    pub(crate) fn of(observed: &Value, protect: Option<IpAddr>) -> Self {
        let mut path = Self::default();
        let index = InterfaceIndex::new(observed);
        for hop in default_routes(observed).filter_map(|route| text(route, "next-hop-interface")) {
            path.include(&index, hop, Why::DefaultRoute);
        }
        if let Some((device, why)) = protect.and_then(|ip| towards(observed, ip)) {
            path.include(&index, device, why);
        }
        path
    }

    fn include(&mut self, host: &InterfaceIndex<'_>, device: &str, why: Why) {
        let stronger =
            matches!(self.0.get(device), None | Some(Why::Below(_))) && !matches!(why, Why::Below(_));
        if self.0.contains_key(device) && !stronger {
            return;
        }
        self.0.insert(device.to_owned(), why);
        for lower in below(host, device) {
            self.include(host, &lower, Why::Below(device.to_owned()));
        }
    }

    pub(crate) fn contains(&self, device: &str) -> bool {
        self.0.contains_key(device)
    }

    pub(crate) fn devices(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// In words, why touching this interface touches the path.
    pub(crate) fn explain(&self, device: &str) -> Option<String> {
        Some(match self.0.get(device)? {
            Why::Below(upper) if upper == device => self.uppermost(device),
            Why::Below(upper) => format!("{device} is below {}", self.uppermost(upper)),
            why => format!("{device} {why}"),
        })
    }

    fn uppermost(&self, device: &str) -> String {
        let mut here = device;
        for _ in 0..self.0.len() {
            match self.0.get(here) {
                Some(Why::Below(upper)) if upper != here => here = upper,
                _ => break,
            }
        }
        match self.0.get(here) {
            Some(why) => format!("{here}, which {why}"),
            None => here.to_owned(),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DefaultRoute => write!(f, "carries the default route by which this host is reached"),
            Self::Holds(ip) => write!(f, "has the protected address {ip}"),
            Self::LeadsTo(ip) => write!(f, "leads to the protected address {ip}"),
            Self::Below(upper) => write!(f, "is below {upper}"),
        }
    }
}

pub fn is_default(route: &Value) -> bool {
    matches!(text(route, "destination"), Some("0.0.0.0/0" | "::/0"))
}

pub fn is_in_main_table(route: &Value) -> bool {
    matches!(route.get("table-id").and_then(Value::as_u64), None | Some(0 | MAIN_TABLE))
}

fn running(observed: &Value) -> impl Iterator<Item = &Value> {
    list(observed, &["routes", "running"]).iter()
}

fn default_routes(observed: &Value) -> impl Iterator<Item = &Value> {
    running(observed).filter(|route| is_default(route) && is_in_main_table(route))
}

/// The interface that holds an address, or the one of the most specific route to it.
fn towards(observed: &Value, ip: IpAddr) -> Option<(&str, Why)> {
    let holder = interfaces(observed)
        .iter()
        .find(|interface| state::addresses(interface).any(|held| held.addr() == ip));
    if let Some(holder) = holder {
        return Some((name(holder), Why::Holds(ip)));
    }
    let connected = interfaces(observed).iter().flat_map(|interface| {
        state::addresses(interface).map(move |address| (address.trunc(), name(interface)))
    });
    let routed = running(observed).filter(|route| is_in_main_table(route)).filter_map(|route| {
        Some((network(text(route, "destination")?)?, text(route, "next-hop-interface")?))
    });
    let best = connected
        .chain(routed)
        .filter(|(network, _)| network.contains(&ip))
        .max_by_key(|(network, _)| network.prefix_len());
    best.map(|(_, device)| (device, Why::LeadsTo(ip)))
}

/// What carries an interface: its ports, its base, the OVS bridge it belongs to and that bridge's NICs.
fn below(host: &InterfaceIndex<'_>, device: &str) -> Vec<String> {
    let mut lower: Vec<&str> = Vec::new();
    for interface in host.named(device) {
        lower.extend(state::base(interface).map(|(_, base)| base));
        if kind(interface) == InterfaceKind::OvsBridge {
            lower.extend(uplinks(host, interface));
        } else {
            lower.extend(state::ports(interface).unwrap_or_default());
        }
        let controller = text(interface, "controller").filter(|controller| !controller.is_empty());
        lower.extend(controller.filter(|controller| is_path(host, interface, controller)));
    }
    lower.retain(|lower| *lower != device);
    lower.into_iter().map(str::to_owned).collect()
}

/// An interface lives through its OVS bridge, and is reached through its VRF.
fn is_path(host: &InterfaceIndex<'_>, port: &Value, controller: &str) -> bool {
    match host.find(controller, InterfaceKind::OvsBridge) {
        Some(_) => kind(port) == InterfaceKind::OvsInterface,
        None => host
            .find(controller, InterfaceKind::Vrf)
            .is_some_and(|controller| kind(controller) == InterfaceKind::Vrf),
    }
}

/// The ports of an OVS bridge that lead off this host.
fn uplinks<'a>(host: &InterfaceIndex<'_>, bridge: &'a Value) -> Vec<&'a str> {
    let is_internal = |port: &&str| {
        host.find(port, InterfaceKind::OvsInterface)
            .is_some_and(|port| kind(port) == InterfaceKind::OvsInterface)
    };
    state::ports(bridge).unwrap_or_default().into_iter().filter(|port| !is_internal(port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bridged() -> Value {
        json!({"interfaces": [
            {"name": "bond0", "type": "bond", "link-aggregation": {"port": ["eth0", "eth1"]}},
            {"name": "eth0", "type": "ethernet", "controller": "bond0"},
            {"name": "eth1", "type": "ethernet", "controller": "bond0"},
            {"name": "br-ex", "type": "ovs-bridge", "bridge": {"port": [{"name": "bond0.7"}, {"name": "br-ex"}, {"name": "p1"}]}},
            {"name": "br-ex", "type": "ovs-interface", "controller": "br-ex",
             "ipv4": {"enabled": true, "address": [{"ip": "10.0.0.2", "prefix-length": 24}]}},
            {"name": "p1", "type": "ovs-interface", "controller": "br-ex"},
            {"name": "bond0.7", "type": "vlan", "vlan": {"base-iface": "bond0", "id": 7}},
            {"name": "eth9", "type": "ethernet", "ipv4": {"enabled": true, "address": [{"ip": "192.0.2.1", "prefix-length": 24}]}}],
            "routes": {"running": [
                {"destination": "0.0.0.0/0", "next-hop-interface": "br-ex", "table-id": 254},
                {"destination": "0.0.0.0/0", "next-hop-interface": "eth9", "table-id": 77},
                {"destination": "198.51.100.0/24", "next-hop-interface": "eth9", "table-id": 254}]}})
    }

    fn names(path: &OwnPath) -> Vec<&str> {
        path.devices().collect()
    }

    #[test]
    fn follows_the_layers_down_to_the_nics() {
        let path = OwnPath::of(&bridged(), None);
        assert_eq!(names(&path), ["bond0", "bond0.7", "br-ex", "eth0", "eth1"]);
        assert_eq!(
            path.explain("eth1").unwrap(),
            "eth1 is below br-ex, which carries the default route by which this host is reached"
        );
    }

    #[test]
    fn a_protected_address_adds_the_interface_that_has_it_or_leads_to_it() {
        let with = |ip: &str| OwnPath::of(&bridged(), Some(ip.parse().unwrap()));
        assert!(with("192.0.2.1").explain("eth9").unwrap().contains("has the protected address 192.0.2.1"));
        assert!(
            with("198.51.100.9")
                .explain("eth9")
                .unwrap()
                .contains("leads to the protected address 198.51.100.9")
        );
        assert!(!with("203.0.113.9").contains("eth9"));
    }
}
