//! What nobody declared goes along with a change: addresses, routes, OVSDB keys and ports of others.

use std::collections::BTreeSet;
use std::net::IpAddr;

use linesman_core::plan::{Plan, Subject, takes};
use linesman_core::state::interfaces;
use serde_json::Value;

use crate::netlink::{self, AddressFact, LinkFact, Netlink, RouteFact};
use crate::ovs::{self, Written};
use crate::restore::foreign;
use crate::snapshot::Snapshot;

/// Returns what could not be carried, for the outcome's notes.
pub async fn carry(snapshot: &Snapshot, plan: &Plan, desired: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(keys) = &snapshot.ovs {
        match ovs::carry(keys, &plan.touched, &Written::of(desired, plan)).await {
            Ok(left) => {
                notes.extend(left.iter().map(|what| format!("{what}, set by others, was not preserved")))
            }
            Err(e) => notes.push(format!("Open vSwitch database keys set by others were not preserved: {e}")),
        }
    }
    if let Err(e) = ovs::renumber(&plan.uplinks).await {
        notes.push(format!("OpenFlow port numbers of uplinks were not preserved: {e}"));
    }
    if snapshot.foreign.is_empty() && snapshot.routes.is_empty() && snapshot.links.is_empty() {
        return notes;
    }
    if let Err(e) = carry_links(snapshot).await {
        notes.push(format!("ports set up by others were not preserved: {e}"));
    }
    if let Err(e) = carry_addresses(snapshot, plan, desired, &mut notes).await {
        notes.push(format!("addresses set by others were not preserved: {e}"));
    }
    match carry_routes(snapshot, plan, desired).await {
        Ok(lost) => notes.extend(lost),
        Err(e) => notes.push(format!("routes set by others were not preserved: {e}")),
    }
    notes
}

/// Ports of others that Open vSwitch made anew with their bridge: they have another index then.
async fn carry_links(snapshot: &Snapshot) -> netlink::Result<()> {
    if snapshot.links.is_empty() {
        return Ok(());
    }
    let netlink = Netlink::open()?;
    let links = netlink.links().await?;
    for link in &snapshot.links {
        if links.iter().any(|now| now.name == link.name && now.index != link.index) {
            netlink.restore_link(link).await?;
        }
    }
    Ok(())
}

async fn carry_routes(snapshot: &Snapshot, plan: &Plan, desired: &Value) -> netlink::Result<Vec<String>> {
    if snapshot.routes.is_empty() {
        return Ok(Vec::new());
    }
    let netlink = Netlink::open()?;
    let (links, addresses) = (netlink.links().await?, netlink.addresses().await?);
    let routes = moved_routes(snapshot, plan, desired, &links, &addresses);
    let lost = foreign::restore_routes(&netlink, &routes).await?;
    Ok(lost.into_iter().map(|what| format!("set by others, was not preserved: {what}")).collect())
}

/// The routes of others where they belong now: with the addresses of their interface. Pure.
///
/// A route that the plan removes by its destination goes; one whose interface is gone has no way to lead.
fn moved_routes(
    snapshot: &Snapshot,
    plan: &Plan,
    desired: &Value,
    links: &[LinkFact],
    addresses: &[AddressFact],
) -> Vec<RouteFact> {
    let removed: BTreeSet<&str> = plan
        .changes
        .iter()
        .filter(|change| change.details.iter().any(|detail| detail.want.is_null()))
        .filter_map(|change| match &change.subject {
            Subject::Route { destination } => Some(destination.as_str()),
            _ => None,
        })
        .collect();
    let place = |name: &str| home(snapshot, desired, links, addresses, name);
    let mut moved = Vec::new();
    for route in snapshot.routes.iter().filter(|route| !removed.contains(route.destination.as_str())) {
        let there = route
            .interfaces
            .iter()
            .try_fold(route.clone(), |route, name| place(name).map(|to| route.through(name, &to)));
        moved.extend(there);
    }
    moved
}

async fn carry_addresses(
    snapshot: &Snapshot,
    plan: &Plan,
    desired: &Value,
    notes: &mut Vec<String>,
) -> netlink::Result<()> {
    let netlink = Netlink::open()?;
    let (links, addresses) = (netlink.links().await?, netlink.addresses().await?);
    for (address, place) in places(snapshot, plan, desired, &links, &addresses) {
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
/// On its own interface; or, where that became a port, on the one that took its addresses over. What the plan takes away
/// belongs nowhere, whoever it was taken for.
fn places(
    snapshot: &Snapshot,
    plan: &Plan,
    desired: &Value,
    links: &[LinkFact],
    addresses: &[AddressFact],
) -> Vec<(AddressFact, Option<String>)> {
    let wanted = |f: &&AddressFact| {
        !addresses.iter().any(|a| a.ip == f.ip)
            && !forbids_extra(desired, &f.interface, f.ip)
            && !takes(plan, &f.interface, f.ip)
    };
    let place = |f: &AddressFact| home(snapshot, desired, links, addresses, &f.interface);
    snapshot.foreign.iter().filter(wanted).map(|f| (f.clone(), place(f))).collect()
}

/// Where what was on this interface is now.
fn home(
    snapshot: &Snapshot,
    desired: &Value,
    links: &[LinkFact],
    addresses: &[AddressFact],
    name: &str,
) -> Option<String> {
    match links.iter().find(|l| l.name == name) {
        Some(link) if link.controller.is_none() && !is_ovs_port(desired, &snapshot.state, name) => {
            Some(name.to_string())
        }
        _ => successor(snapshot, addresses, name),
    }
}

/// The interface that now has an address which `former` had. A link-local one says nothing: it comes with the MAC address, which a
/// bond shares with its ports and the VLANs on them.
fn successor(snapshot: &Snapshot, addresses: &[AddressFact], former: &str) -> Option<String> {
    let had: Vec<IpAddr> = named(&snapshot.state, former)
        .flat_map(|i| ["/ipv4/address", "/ipv6/address"].into_iter().flat_map(|p| ips(i, p)))
        .filter(|ip| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::path::Path;
    use linesman_core::plan::{Change, ChangeKind, Detail};
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
    fn a_vlan_with_the_same_mac_address_has_not_taken_over() {
        let snapshot = Snapshot {
            state: json!({ "interfaces": [{ "name": "bond0",
                "ipv4": { "address": [{ "ip": "10.9.0.2" }] },
                "ipv6": { "address": [{ "ip": "fe80::9:ff:fe00:100" }] } }] }),
            ..Snapshot::default()
        };
        let now =
            [AddressFact::test("other.5", "fe80::9:ff:fe00:100"), AddressFact::test("br-ex", "10.9.0.2")];
        assert_eq!(successor(&snapshot, &now, "bond0").as_deref(), Some("br-ex"));
    }

    #[test]
    fn a_route_follows_the_addresses_and_one_that_the_plan_removes_does_not() {
        let route = |destination: &str| RouteFact {
            destination: destination.into(),
            table: 254,
            metric: 0,
            protocol: 12,
            interfaces: vec!["eth0".into()],
            message: String::new(),
        };
        let snapshot = Snapshot {
            state: json!({ "interfaces": [{ "name": "eth0", "ipv4": { "address": [{ "ip": "10.9.0.2" }] } }] }),
            routes: vec![route("203.0.113.0/24"), route("198.51.100.0/24")],
            ..Snapshot::default()
        };
        let plan = Plan {
            changes: vec![Change {
                kind: ChangeKind::Remove,
                subject: Subject::Route { destination: "198.51.100.0/24".into() },
                details: vec![Detail { path: Path::root(), want: Value::Null, got: json!({}) }],
            }],
            ..Plan::default()
        };
        let now = [AddressFact::test("br-ex", "10.9.0.2")];
        let moved = moved_routes(&snapshot, &plan, &json!({}), &[], &now);
        assert_eq!(moved, [route("203.0.113.0/24").through("eth0", "br-ex")]);
        assert_eq!(moved_routes(&snapshot, &plan, &json!({}), &[], &[]), []);
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
