//! MAC addresses of what is made anew. A bond takes that of the port that comes first, which may be another one than before, and a
//! virtual function gets a random one: a lease would move with it. Ports follow their bond.

use std::collections::BTreeSet;

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::mac_address::MacAddress;
use linesman_core::state::{interfaces, kind, list, name, text};
use serde_json::Value;

use crate::netlink::Netlink;

/// Bonds and virtual functions that have another MAC address than before, with the former one. Pure.
pub fn wrong(former: &Value, now: &Value) -> Vec<(String, MacAddress)> {
    let mac = |interface: &Value| -> Option<MacAddress> { text(interface, "mac-address")?.parse().ok() };
    let functions = functions(former);
    let is_port = |interface: &Value| text(interface, "controller").is_some_and(|name| !name.is_empty());
    let is_made = |interface: &&Value| match kind(interface) {
        InterfaceKind::Bond => true,
        InterfaceKind::Ethernet => functions.contains(name(interface)) && !is_port(interface),
        _ => false,
    };
    let moved = |was: &Value| {
        let wanted = mac(was)?;
        let same = |is: &&Value| name(is) == name(was) && kind(is) == kind(was);
        let found = interfaces(now).iter().find(same).and_then(mac)?;
        (found != wanted && wanted.is_ethernet()).then(|| (name(was).to_owned(), wanted))
    };
    interfaces(former).iter().filter(is_made).filter_map(moved).collect()
}

/// The interfaces that virtual functions are.
fn functions(host: &Value) -> BTreeSet<&str> {
    let all = interfaces(host).iter().flat_map(|nic| list(nic, &["ethernet", "sr-iov", "vfs"]));
    all.filter_map(|vf| text(vf, "iface-name")).collect()
}

pub async fn set_right(macs: &[(String, MacAddress)]) {
    if macs.is_empty() {
        return;
    }
    let Ok(netlink) = Netlink::open() else { return };
    for (interface, mac) in macs {
        if let Err(error) = netlink.set_mac(interface, mac.bytes()).await {
            tracing::warn!(interface, %error, "cannot restore the MAC address");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_bonds_whose_address_moved_are_set_right() {
        let state = |first: &str, nic: &str| {
            let bond = |name: &str, mac: &str| json!({"name": name, "type": "bond", "mac-address": mac});
            json!({"interfaces": [
                bond("bond0", first), bond("bond1", "02:00:00:00:00:05"),
                {"name": "eth1", "type": "ethernet", "mac-address": nic},
            ]})
        };
        let former = state("02:00:00:00:00:02", "02:00:00:00:00:02");
        let now = state("02:00:00:00:00:03", "02:00:00:00:00:03");
        let mac: MacAddress = "02:00:00:00:00:02".parse().unwrap();
        assert_eq!(wrong(&former, &now), [("bond0".to_owned(), mac)]);
        assert!(wrong(&former, &former).is_empty());
        assert!(wrong(&former, &json!({"interfaces": []})).is_empty());
    }

    #[test]
    fn so_are_virtual_functions_that_are_no_ports() {
        let state = |first: &str, second: &str| {
            json!({"interfaces": [
                {"name": "eth1", "type": "ethernet", "mac-address": first, "ethernet": {"sr-iov": {"vfs": [
                    {"id": 0, "iface-name": "eth3"}, {"id": 1, "iface-name": "eth4"}]}}},
                {"name": "eth3", "type": "ethernet", "mac-address": first},
                {"name": "eth4", "type": "ethernet", "mac-address": second, "controller": "bond0"},
            ]})
        };
        let former = state("02:00:00:00:00:02", "02:00:00:00:00:02");
        let moved = wrong(&former, &state("02:00:00:00:00:03", "02:00:00:00:00:03"));
        assert_eq!(moved, [("eth3".to_owned(), "02:00:00:00:00:02".parse().unwrap())]);
    }
}
