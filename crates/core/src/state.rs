//! Reading a state document: who is in it, what lies below what, which route leads where.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use crate::interface_kind::InterfaceKind;

/// Sections that name the interface their owner is stacked on.
const STACKED: [&str; 8] =
    ["vlan", "vxlan", "mac-vlan", "mac-vtap", "ipvlan", "macsec", "infiniband", "ip-tunnel"];

pub fn list<'a>(value: &'a Value, keys: &[&str]) -> &'a [Value] {
    at(value, keys).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

pub fn flag(value: &Value, key: &str) -> Option<bool> {
    value.get(key).and_then(Value::as_bool)
}

pub fn interfaces(state: &Value) -> &[Value] {
    list(state, &["interfaces"])
}

pub fn name(interface: &Value) -> &str {
    text(interface, "name").unwrap_or_default()
}

/// The type as written; `unknown` where none is given.
pub fn kind(interface: &Value) -> InterfaceKind {
    text(interface, "type").map(InterfaceKind::from).unwrap_or_default()
}

/// By name; an OVS bridge and its internal interface share one, and are two.
pub fn is_same_interface(one: &Value, other: &Value) -> bool {
    name(one) == name(other) && kind(one).is_userspace() == kind(other).is_userspace()
}

pub fn condition(interface: &Value) -> &str {
    text(interface, "state").unwrap_or("up")
}

pub fn is_up(interface: &Value) -> bool {
    condition(interface) == "up"
}

pub fn is_absent(entry: &Value) -> bool {
    text(entry, "state") == Some("absent")
}

/// The names of the ports; `None` when the document does not speak of them.
pub fn ports(interface: &Value) -> Option<Vec<&str>> {
    match kind(interface) {
        InterfaceKind::LinuxBridge => Some(names(at(interface, &["bridge", "port"])?)),
        InterfaceKind::OvsBridge => Some(ovs_members(at(interface, &["bridge", "port"])?)),
        InterfaceKind::Bond => bond_ports(interface.get("link-aggregation")?),
        InterfaceKind::Vrf => Some(strings(at(interface, &["vrf", "port"])?)),
        InterfaceKind::Hsr => {
            Some(["port1", "port2"].iter().filter_map(|key| text(interface.get("hsr")?, key)).collect())
        }
        _ => None,
    }
}

fn bond_ports(bond: &Value) -> Option<Vec<&str>> {
    bond.get("port").map(strings).or_else(|| bond.get("ports-config").map(names))
}

/// An OVS bond is a port without a device; its members are the interfaces.
fn ovs_members(ports: &Value) -> Vec<&str> {
    let ports = ports.as_array().map_or(&[][..], Vec::as_slice);
    ports
        .iter()
        .flat_map(|port| match port.get("link-aggregation") {
            Some(bond) => bond.get("port").map(names).unwrap_or_default(),
            None => vec![name(port)],
        })
        .collect()
}

fn names(items: &Value) -> Vec<&str> {
    items.as_array().map_or(&[][..], Vec::as_slice).iter().map(name).collect()
}

pub fn strings(items: &Value) -> Vec<&str> {
    items.as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_str).collect()
}

/// The section and the interface that this one is stacked on: a VLAN's base, a MAC-VLAN's base.
pub fn base(interface: &Value) -> Option<(&'static str, &str)> {
    STACKED
        .iter()
        .find_map(|section| Some((*section, text(interface.get(section)?, "base-iface")?)))
        .filter(|(_, base)| !base.is_empty())
}

/// The addresses of both families with their prefix lengths.
pub fn addresses(interface: &Value) -> impl Iterator<Item = IpNet> + '_ {
    ["ipv4", "ipv6"]
        .into_iter()
        .filter(|family| at(interface, &[family, "enabled"]) != Some(&Value::Bool(false)))
        .flat_map(|family| list(interface, &[family, "address"]))
        .filter_map(address)
}

pub fn address(entry: &Value) -> Option<IpNet> {
    let prefix = entry.get("prefix-length")?.as_u64()?.try_into().ok()?;
    IpNet::new(text(entry, "ip")?.parse().ok()?, prefix).ok()
}

/// An address with its prefix length, host bits kept; a bare address is a network of its own.
pub fn prefix(written: &str) -> Option<IpNet> {
    written.parse().ok().or_else(|| written.parse::<IpAddr>().ok().map(IpNet::from))
}

/// A network in its plain form: host bits cleared.
pub fn network(written: &str) -> Option<IpNet> {
    prefix(written).map(|network| network.trunc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_network_loses_its_host_bits() {
        let plain = |text: &str| network(text).map(|network| network.to_string());
        assert_eq!(plain("10.1.2.3/8").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(plain("10.1.2.3/0").as_deref(), Some("0.0.0.0/0"));
        assert_eq!(plain("10.1.2.3").as_deref(), Some("10.1.2.3/32"));
        assert_eq!(plain("2001:db8::1/64").as_deref(), Some("2001:db8::/64"));
        assert_eq!(plain("::/0").as_deref(), Some("::/0"));
        for bad in
            ["", "default", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "10.0.0.0/8/8", "10.0.0.0/-1"]
        {
            assert_eq!(plain(bad), None, "{bad}");
        }
    }

    #[test]
    fn members_of_an_ovs_bond_are_ports() {
        let bridge = json!({"type": "ovs-bridge", "bridge": {"port": [
            {"name": "b0", "link-aggregation": {"port": [{"name": "eth1"}, {"name": "eth2"}]}}, {"name": "br"}]}});
        assert_eq!(ports(&bridge), Some(vec!["eth1", "eth2", "br"]));
    }
}
