//! What a document needs and a host may not have yet: NICs whose drivers are late.

use std::collections::BTreeSet;

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::mac_address::MacAddress;
use linesman_core::state::{self, interfaces};
use linesman_core::virtual_function;
use serde_json::Value;

use crate::select::{Choice, Identity, Match, Nic};

/// NICs of the document that are not there, by name or by the MAC address that it finds them by.
pub fn missing(document: &Value, nics: &[Nic]) -> Vec<String> {
    let declared: BTreeSet<&str> = interfaces(document).iter().map(state::name).collect();
    let is_nic = |interface: &&Value| {
        let makes_functions = virtual_function::is_reference(state::name(interface));
        state::kind(interface) == InterfaceKind::Ethernet && !state::is_absent(interface) && !makes_functions
    };
    let is_there = |interface: &Value| {
        let by_mac = state::text(interface, "identifier") == Some("mac-address");
        let mac = state::text(interface, "mac-address").and_then(|mac| mac.parse::<MacAddress>().ok());
        match mac.filter(|_| by_mac) {
            Some(mac) => nics.iter().any(|nic| nic.mac == mac),
            None => nics.iter().any(|nic| nic.name == state::name(interface)),
        }
    };
    let nics_of_their_own = interfaces(document).iter().filter(is_nic).filter(|nic| !is_there(nic));
    let mut missing: BTreeSet<String> = nics_of_their_own.map(|nic| state::name(nic).to_owned()).collect();
    for interface in interfaces(document).iter().filter(|interface| !state::is_absent(interface)) {
        let ports = state::ports(interface).unwrap_or_default();
        let base = state::base(interface).map(|(_, base)| base);
        let used = ports.into_iter().chain(base).filter(|name| !virtual_function::is_reference(name));
        let unknown =
            used.filter(|name| !declared.contains(name) && nics.iter().all(|nic| nic.name != *name));
        missing.extend(unknown.map(str::to_owned));
    }
    // What a capture finds on the host is there.
    missing.into_iter().filter(|name| !name.contains("{{")).collect()
}

/// A NIC or a host name that comes late may still lead to another document.
pub fn uncertain(choice: &Choice, identity: &Identity) -> bool {
    let is_unnamed = crate::host_name::is_localhost(&identity.hostname);
    match choice {
        Choice::File { why: Match::ClusterWide { .. }, .. } | Choice::None { .. } => {
            is_unnamed || identity.nics.is_empty()
        }
        Choice::File { .. } | Choice::Ambiguous { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nic(name: &str, mac: &str) -> Nic {
        Nic { name: name.into(), mac: mac.parse().unwrap() }
    }

    #[test]
    fn nics_are_needed_by_name_or_mac_address() {
        let document = json!({ "interfaces": [
            { "name": "eth0", "type": "ethernet" },
            { "name": "uplink", "type": "ethernet", "identifier": "mac-address", "mac-address": "52:54:00:00:00:0b" },
            { "name": "old", "type": "ethernet", "state": "absent" },
            { "name": "bond0", "type": "bond", "link-aggregation": { "port": ["eth0", "eth7"] } },
            { "name": "bond0.7", "type": "vlan", "vlan": { "base-iface": "bond0", "id": 7 } },
            { "name": "eth8.7", "type": "vlan", "vlan": { "base-iface": "eth8", "id": 7 } },
            { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "bond0.7" }, { "name": "br-ex" }] } },
            { "name": "br-ex", "type": "ovs-interface" } ] });
        assert_eq!(missing(&document, &[]), ["eth0", "eth7", "eth8", "uplink"]);
        let nics = [
            nic("eth0", "52:54:00:00:00:0a"),
            nic("ens3", "52:54:00:00:00:0b"),
            nic("eth8", "52:54:00:00:00:0c"),
        ];
        assert_eq!(missing(&document, &nics), ["eth7"]);
        let captured = json!({ "interfaces": [{ "name": "{{ capture.uplink.interfaces.0.name }}", "type": "ethernet" }] });
        assert!(missing(&captured, &nics).is_empty());
    }

    #[test]
    fn a_host_without_a_name_may_get_one() {
        let none = Choice::None { reason: String::new() };
        let file = Choice::File { file: "a.yml".into(), why: Match::Assigned };
        let named = Identity { hostname: "a".into(), nics: vec![nic("eth0", "52:54:00:00:00:0a")] };
        let unnamed = Identity { hostname: "localhost".into(), ..named.clone() };
        assert!(uncertain(&none, &unnamed) && !uncertain(&none, &named));
        assert!(uncertain(&none, &Identity { nics: Vec::new(), ..named }));
        assert!(!uncertain(&file, &unnamed));
    }
}
