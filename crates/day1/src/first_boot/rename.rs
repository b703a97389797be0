//! NICs that are called differently than their document says: firmware, kernels and slots change names, not MAC addresses.

use std::collections::BTreeMap;

use linesman_core::mac_address::MacAddress;
use serde_json::{Value, json};

use crate::select::Nic;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    pub from: String,
    pub to: String,
}

/// Properties whose value is the name of an interface, wherever they are in a document.
const NAMES: [&str; 10] = [
    "name",
    "base-iface",
    "controller",
    "copy-mac-from",
    "next-hop-interface",
    "iif",
    "physdev",
    "primary",
    "port1",
    "port2",
];
/// Lists of such names.
const LISTS: [&str; 4] = ["port", "ports", "slaves", "interfaces"];

/// Of the NICs as they are known (name and MAC address), those that have another name on this host. A name that another
/// NIC has taken over counts, too: two NICs may have swapped theirs.
pub fn renamed(known: &BTreeMap<String, MacAddress>, nics: &[Nic]) -> Vec<Renamed> {
    let elsewhere = |(name, mac): (&String, &MacAddress)| {
        let mut holders = nics.iter().filter(|nic| nic.mac == *mac);
        let first = holders.next()?;
        let keeps_name = first.name == *name || holders.any(|nic| nic.name == *name);
        (!keeps_name).then(|| Renamed { from: name.clone(), to: first.name.clone() })
    };
    known.iter().filter_map(elsewhere).collect()
}

/// What was known, by the names of today.
#[must_use]
pub fn known_as(known: &BTreeMap<String, MacAddress>, nics: &[Nic]) -> BTreeMap<String, MacAddress> {
    let renamed = renamed(known, nics);
    let today = |name: &String| {
        renamed.iter().find(|renamed| renamed.from == *name).map_or(name, |renamed| &renamed.to).clone()
    };
    known.iter().map(|(name, mac)| (today(name), mac.clone())).collect()
}

/// Whether the document calls an interface by this name, anywhere.
pub fn mentions(document: &Value, name: &str) -> bool {
    let mut other = document.clone();
    replace(&mut other, &[Renamed { from: name.to_owned(), to: String::new() }]);
    other != *document
}

/// The document with the names of this host. Profiles of the former names go, unless a NIC has such a name now: what
/// another NIC is used for is not this document's business.
#[must_use]
pub fn with_names(document: &Value, renamed: &[Renamed], nics: &[Nic]) -> Value {
    let mut document = document.clone();
    replace(&mut document, renamed);
    if let Some(interfaces) = document.get_mut("interfaces").and_then(Value::as_array_mut) {
        for Renamed { from, .. } in renamed {
            let is_used = interfaces.iter().any(|interface| interface["name"] == **from)
                || nics.iter().any(|nic| nic.name == *from);
            if !is_used {
                interfaces.push(json!({ "name": from, "type": "ethernet", "state": "absent" }));
            }
        }
    }
    document
}

/// All at once: two NICs may have swapped their names.
fn replace(value: &mut Value, renamed: &[Renamed]) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_name = NAMES.contains(&key.as_str());
                match value {
                    Value::String(text) if is_name => replace_name(text, renamed),
                    Value::Array(items) if LISTS.contains(&key.as_str()) => {
                        for item in items {
                            match item {
                                Value::String(text) => replace_name(text, renamed),
                                other => replace(other, renamed),
                            }
                        }
                    }
                    other => replace(other, renamed),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, renamed)),
        _ => {}
    }
}

fn replace_name(name: &mut String, renamed: &[Renamed]) {
    if let Some(found) = renamed.iter().find(|renamed| renamed.from == *name) {
        name.clone_from(&found.to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "52:54:00:00:00:0A";
    const B: &str = "52:54:00:00:00:0B";

    fn nic(name: &str, mac: &str) -> Nic {
        Nic { name: name.into(), mac: mac.parse().unwrap() }
    }

    fn known() -> BTreeMap<String, MacAddress> {
        [("eth0".to_owned(), A.parse().unwrap()), ("eth1".to_owned(), B.parse().unwrap())].into()
    }

    fn change(from: &str, to: &str) -> Renamed {
        Renamed { from: from.into(), to: to.into() }
    }

    #[test]
    fn a_nic_is_known_by_its_mac_address() {
        assert_eq!(renamed(&known(), &[nic("eth0", A), nic("eth1", B)]), []);
        assert_eq!(renamed(&known(), &[nic("ens3", A), nic("eth1", B)]), [change("eth0", "ens3")]);
        assert_eq!(renamed(&known(), &[nic("eth1", B)]), [], "a NIC that is missing has no other name");
        let swapped = [nic("eth0", B), nic("eth1", A)];
        assert_eq!(renamed(&known(), &swapped), [change("eth0", "eth1"), change("eth1", "eth0")]);
        let today: BTreeMap<_, _> =
            [("eth0".to_owned(), B.parse().unwrap()), ("eth1".to_owned(), A.parse().unwrap())].into();
        assert_eq!(known_as(&known(), &swapped), today);
        let with_bridge = [nic("br-ex", A), nic("eth0", A), nic("eth1", B)];
        assert_eq!(renamed(&known(), &with_bridge), [], "a bridge may have the MAC address of its NIC");
    }

    #[test]
    fn every_mention_follows() {
        let document = json!({
            "interfaces": [
                { "name": "eth0", "type": "ethernet", "description": "eth0" },
                { "name": "eth0.7", "type": "vlan", "vlan": { "base-iface": "eth0", "id": 7 } },
                { "name": "bond0", "type": "bond", "link-aggregation": { "port": ["eth0", "eth1"], "options": { "primary": "eth0" } } },
                { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "eth0" }] } },
                { "name": "br-ex", "type": "ovs-interface", "copy-mac-from": "eth0" }
            ],
            "routes": { "config": [{ "next-hop-interface": "eth0" }] },
            "hostname": { "config": "eth0" }
        });
        let expected = json!({
            "interfaces": [
                { "name": "ens3", "type": "ethernet", "description": "eth0" },
                { "name": "eth0.7", "type": "vlan", "vlan": { "base-iface": "ens3", "id": 7 } },
                { "name": "bond0", "type": "bond", "link-aggregation": { "port": ["ens3", "eth1"], "options": { "primary": "ens3" } } },
                { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "ens3" }] } },
                { "name": "br-ex", "type": "ovs-interface", "copy-mac-from": "ens3" },
                { "name": "eth0", "type": "ethernet", "state": "absent" }
            ],
            "routes": { "config": [{ "next-hop-interface": "ens3" }] },
            "hostname": { "config": "eth0" }
        });
        assert_eq!(with_names(&document, &[change("eth0", "ens3")], &[]), expected);
        assert!(mentions(&document, "eth1") && !mentions(&document, "eth2"));
        let taken = with_names(&document, &[change("eth0", "ens3")], &[nic("eth0", B)]);
        let names: Vec<&str> =
            taken["interfaces"].as_array().unwrap().iter().filter_map(|i| i["name"].as_str()).collect();
        assert!(!names.contains(&"eth0"), "another NIC has the name now, and keeps its profiles");
    }

    #[test]
    fn swapped_names_stay_in_use() {
        let document = json!({ "interfaces": [{ "name": "eth0", "mtu": 1 }, { "name": "eth1", "mtu": 2 }] });
        let swapped = with_names(&document, &[change("eth0", "eth1"), change("eth1", "eth0")], &[]);
        assert_eq!(
            swapped,
            json!({ "interfaces": [{ "name": "eth1", "mtu": 1 }, { "name": "eth0", "mtu": 2 }] })
        );
    }
}
