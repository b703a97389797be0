//! What nobody declared goes along with a change: addresses and OVSDB keys of others.

use std::collections::BTreeSet;
use std::net::IpAddr;

use linesman_core::plan::Plan;
use linesman_core::state::interfaces;
use serde_json::Value;

use crate::netlink::{self, AddressFact, LinkFact, Netlink};
use crate::ovs;
use linesman_ovsdb::{Column, Table};

use crate::ovs::KeyPath;
use crate::snapshot::Snapshot;

/// Returns what could not be carried, for the outcome's notes.
pub async fn carry(snapshot: &Snapshot, plan: &Plan, desired: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(keys) = &snapshot.ovs
        && let Err(e) = ovs::carry(keys, &plan.touched, &declared_keys(desired)).await
    {
        notes.push(format!("Open vSwitch database keys set by others were not preserved: {e}"));
    }
    if snapshot.foreign.is_empty() {
        return notes;
    }
    if let Err(e) = carry_addresses(snapshot, desired, &mut notes).await {
        notes.push(format!("addresses set by others were not preserved: {e}"));
    }
    notes
}

async fn carry_addresses(
    snapshot: &Snapshot,
    desired: &Value,
    notes: &mut Vec<String>,
) -> netlink::Result<()> {
    let netlink = Netlink::open()?;
    let (links, addresses) = (netlink.links().await?, netlink.addresses().await?);
    for (address, place) in places(snapshot, desired, &links, &addresses) {
        match place {
            Some(interface) => {
                let fact = AddressFact { interface: interface.clone(), ..address.clone() };
                if let Err(e) = netlink.restore_address(&fact).await {
                    notes.push(format!(
                        "address {} on {interface}, set by others, was not preserved: {e}",
                        address.ip
                    ));
                }
            }
            None => notes.push(format!(
                "address {} on {}, set by others, was not preserved: its interface no longer exists",
                address.ip, address.interface
            )),
        }
    }
    Ok(())
}

/// Where each missing foreign address belongs now. Pure.
///
/// On its own interface; or, where that became a port, on the one that took its addresses over.
fn places(
    snapshot: &Snapshot,
    desired: &Value,
    links: &[LinkFact],
    addresses: &[AddressFact],
) -> Vec<(AddressFact, Option<String>)> {
    let wanted = |f: &&AddressFact| {
        !addresses.iter().any(|a| a.ip == f.ip) && !forbids_extra(desired, &f.interface, f.ip)
    };
    let place = |f: &AddressFact| {
        let home = links.iter().find(|l| l.name == f.interface);
        match home {
            Some(link)
                if link.controller.is_none() && !is_ovs_port(desired, &snapshot.state, &f.interface) =>
            {
                Some(f.interface.clone())
            }
            _ => successor(snapshot, addresses, &f.interface),
        }
    };
    snapshot.foreign.iter().filter(wanted).map(|f| (f.clone(), place(f))).collect()
}

/// The interface that now has an address which `former` had.
fn successor(snapshot: &Snapshot, addresses: &[AddressFact], former: &str) -> Option<String> {
    let had: Vec<IpAddr> = named(&snapshot.state, former)
        .flat_map(|i| ["/ipv4/address", "/ipv6/address"].into_iter().flat_map(|p| ips(i, p)))
        .collect();
    let took = addresses.iter().find(|a| a.interface != former && had.contains(&a.ip))?;
    Some(took.interface.clone())
}

fn ips(interface: &Value, pointer: &str) -> Vec<IpAddr> {
    let list = interface.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|a| a["ip"].as_str()?.parse().ok()).collect()
}

/// An OVS bridge and its internal port share a name.
fn named<'a>(state: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let name = name.to_string();
    interfaces(state).iter().filter(move |i| i["name"] == name)
}

fn forbids_extra(desired: &Value, name: &str, ip: IpAddr) -> bool {
    let family = if ip.is_ipv4() { "ipv4" } else { "ipv6" };
    named(desired, name).any(|i| i[family]["allow-extra-address"] == false)
}

/// A port of a userspace bridge has no controller as the kernel sees it. Its internal interface is a port
/// too, but one that keeps its addresses.
fn is_ovs_port(desired: &Value, before: &Value, name: &str) -> bool {
    let is_port = |bridge: &Value| {
        let ports = bridge.pointer("/bridge/port").and_then(Value::as_array);
        ports.into_iter().flatten().any(|p| p["name"] == name)
    };
    let internal = |state| named(state, name).any(|i| i["type"] == "ovs-interface");
    let mut bridges = interfaces(desired).iter().filter(|i| i["type"] == "ovs-bridge");
    bridges.any(is_port) && !internal(desired) && !internal(before)
}

/// Keys that the document itself sets or removes are not foreign.
fn declared_keys(desired: &Value) -> BTreeSet<KeyPath> {
    let mut keys = BTreeSet::new();
    for (column, field) in [(Column::ExternalIds, "external_ids"), (Column::OtherConfig, "other_config")] {
        for key in desired["ovs-db"][field].as_object().into_iter().flat_map(|m| m.keys()) {
            keys.insert(KeyPath { table: Table::OpenVSwitch, row: String::new(), column, key: key.clone() });
        }
        for interface in interfaces(desired) {
            let name = interface["name"].as_str().unwrap_or_default();
            for key in interface["ovs-db"][field].as_object().into_iter().flat_map(|m| m.keys()) {
                for table in [Table::Bridge, Table::Port, Table::Interface] {
                    keys.insert(KeyPath { table, row: name.to_string(), column, key: key.clone() });
                }
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_address_follows_the_one_that_took_over() {
        let snapshot = Snapshot {
            state: json!({ "interfaces": [
                { "name": "eth0", "ipv4": { "address": [{ "ip": "10.9.0.2" }, { "ip": "10.9.0.99" }] } } ] }),
            ..Snapshot::default()
        };
        let now = [AddressFact::test("br-ex", "10.9.0.2")];
        assert_eq!(successor(&snapshot, &now, "eth0").as_deref(), Some("br-ex"));
        assert_eq!(successor(&snapshot, &[], "eth0"), None);
    }

    #[test]
    fn a_bridge_and_its_port_of_the_same_name_are_both_looked_at() {
        let snapshot = Snapshot {
            state: json!({ "interfaces": [
                { "name": "br-ex", "type": "ovs-bridge" },
                { "name": "br-ex", "type": "ovs-interface", "ipv4": { "address": [{ "ip": "10.9.0.2" }] } } ] }),
            ..Snapshot::default()
        };
        let now = [AddressFact::test("eth0", "10.9.0.2")];
        assert_eq!(successor(&snapshot, &now, "br-ex").as_deref(), Some("eth0"));
    }

    #[test]
    fn the_internal_interface_of_a_bridge_keeps_its_addresses() {
        let ports = json!([{ "name": "eth0" }, { "name": "br-ex" }]);
        let bridge = json!({ "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": ports } });
        let internal = json!({ "name": "br-ex", "type": "ovs-interface" });
        let (desired, before) = (json!({ "interfaces": [bridge] }), json!({ "interfaces": [internal] }));
        assert!(is_ovs_port(&desired, &before, "eth0"));
        assert!(!is_ovs_port(&desired, &before, "br-ex"));
    }

    #[test]
    fn a_document_can_forbid_extra_addresses() {
        let desired = json!({ "interfaces": [{ "name": "eth0", "ipv4": { "allow-extra-address": false } }] });
        assert!(forbids_extra(&desired, "eth0", "10.0.0.1".parse().unwrap()));
        assert!(!forbids_extra(&desired, "eth0", "fd00::1".parse().unwrap()));
    }
}
