//! The document that makes NMState really do what was declared.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::compare::{Declared, View, route};
use crate::foreign_port;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::plan::{Change, ChangeKind, Plan, Subject};
use crate::state::{self, flag, is_absent, is_up, kind, list, name, text};

/// `desired` with what NMState needs in addition.
pub fn applicable(desired: &Value, observed: &Value) -> Value {
    let view = View::new(desired, observed, observed);
    let mut document = desired.clone();
    keep_foreign_ports(&view, &mut document);
    drop_stale_metrics(&view, observed, &mut document);
    ignore_lost_functions(&view, &mut document);
    store_rules_anew(&view, &mut document);
    document
}

/// NetworkManager keeps a rule in the profile of an interface. If all the host's rules are declared as they are, NMState
/// leaves them where they are, also in the profile of an interface that loses its addresses, and with it the rules. A
/// list that differs makes it choose interfaces again; a rule that is listed twice is still one rule.
fn store_rules_anew(view: &View<'_>, document: &mut Value) {
    let enabled = |interface: &Value, family: &str| flag(&interface[family], "enabled");
    let loses = |declared: &Declared| {
        let want = &declared.want;
        let Some(now) = view.now(name(want), kind(want)).filter(|now| is_up(now)) else { return false };
        let is_off = |family: &str| !is_up(want) || enabled(want, family) == Some(false);
        ["ipv4", "ipv6"].into_iter().any(|family| enabled(now, family) == Some(true) && is_off(family))
    };
    if !view.declared.iter().any(loses) {
        return;
    }
    let rules = document.get_mut("route-rules").and_then(|section| section.get_mut("config"));
    if let Some(rules) = rules.and_then(Value::as_array_mut) {
        let again = rules.iter().find(|rule| !is_absent(rule)).cloned();
        rules.extend(again);
    }
}

/// Virtual functions that their NIC loses, and nobody declares: NMState would activate those that leave a bond, or take the
/// names of interfaces that are gone, and fail. The caller deletes their profiles once NMState is done.
pub fn lost_functions(desired: &Value, observed: &Value) -> Vec<String> {
    lost(&View::new(desired, observed, observed)).map(ToOwned::to_owned).collect()
}

fn lost<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v str> {
    super::functions::going(view).filter(|function| view.declares(function).is_none())
}

fn ignore_lost_functions(view: &View<'_>, document: &mut Value) {
    let ignored = lost(view).map(|name| json!({"name": name, "type": "ethernet", "state": "ignore"}));
    if let Some(interfaces) = document.get_mut("interfaces").and_then(Value::as_array_mut) {
        interfaces.extend(ignored);
    }
}

/// NMState detaches every port that a bridge's list does not name, whoever attached it, and makes a profile for it. Those
/// of others are kept from it, also where they must leave: that is done without NetworkManager.
fn keep_foreign_ports(view: &View<'_>, document: &mut Value) {
    let mut left_alone = Vec::new();
    for declared in view.declared.iter().filter(|declared| is_up(&declared.want)) {
        let want = &declared.want;
        let bridge = matches!(kind(want), InterfaceKind::LinuxBridge | InterfaceKind::OvsBridge);
        let allowed = flag(&want["bridge"], "allow-extra-ports") == Some(true);
        let Some(wanted) = state::ports(want).filter(|_| bridge && !allowed) else { continue };
        let wanted: Vec<&str> = wanted.into_iter().map(|port| view.device(port)).collect();
        let had = view.now(name(want), kind(want)).and_then(state::ports).unwrap_or_default();
        let extra = had.into_iter().filter(|port| !wanted.contains(port));
        let (others, own): (Vec<&str>, Vec<&str>) =
            extra.partition(|port| view.is_hidden(port) || view.is_foreign(port));
        if own.is_empty() {
            // Covers those as well that others attach in this moment.
            allow_extra_ports(document, declared);
        } else {
            left_alone.extend(others.into_iter().filter_map(|port| view.now(port, InterfaceKind::Unknown)));
        }
    }
    let marked = left_alone.into_iter().filter(|interface| foreign_port::is_marked(interface));
    let ignored = marked.map(|i| json!({"name": name(i), "type": kind(i), "state": "ignore"}));
    if let Some(interfaces) = document.get_mut("interfaces").and_then(Value::as_array_mut) {
        interfaces.extend(ignored);
    }
}

fn allow_extra_ports(document: &mut Value, declared: &Declared) {
    let entries = document.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    let kind_of = kind(&declared.want);
    let same = |entry: &&mut Value| {
        declared.path == Path::interface(name(entry))
            && (kind(entry) == kind_of || kind(entry) == InterfaceKind::Unknown)
    };
    for entry in entries.filter(same).filter(|entry| entry["bridge"].is_object()) {
        entry["bridge"]["allow-extra-ports"] = true.into();
    }
}

/// NetworkManager takes a bond down when the bridge goes that the bond is a port of, and its ports with it. NMState takes
/// them for ports that nobody runs then, and lets them go, though the bond declares them: unless they are declared as well.
pub fn declare_ports_of_leaving(document: &mut Value, plan: &Plan, observed: &Value) {
    let Some(interfaces) = document.get_mut("interfaces").and_then(Value::as_array_mut) else { return };
    let leaving: BTreeSet<&str> = plan
        .changes
        .iter()
        .filter(|change| change.leaves_controller())
        .filter_map(Change::interface)
        .collect();
    let mut missing: Vec<Value> = Vec::new();
    for controller in interfaces.iter().filter(|i| is_up(i) && leaving.contains(name(i))) {
        for port in state::ports(controller).unwrap_or_default() {
            let now = state::interfaces(observed).iter().find(|i| name(i) == port && !kind(i).is_userspace());
            if let Some(now) = now.filter(|_| !interfaces.iter().any(|known| name(known) == port)) {
                missing.push(
                    json!({"name": port, "type": now["type"], "state": "up", "controller": name(controller)}),
                );
            }
        }
    }
    interfaces.extend(missing);
}

/// With the interfaces reset to their defaults NMState does not see which ports a bridge has, and leaves them attached:
/// those that a plan takes away are declared one by one.
pub fn detach_ports(document: &mut Value, plan: &Plan) {
    let Some(interfaces) = document.get_mut("interfaces").and_then(Value::as_array_mut) else { return };
    for change in &plan.changes {
        let Subject::Interface { name: device, kind } = &change.subject else { continue };
        let known = interfaces
            .iter()
            .any(|entry| name(entry) == device.as_str() && self::kind(entry) != InterfaceKind::OvsBridge);
        let leaves = change.details.iter().any(|detail| {
            detail.path == Path::interface(device).key("controller") && detail.want.as_str() == Some("")
        });
        let entry = match (change.kind, kind) {
            (ChangeKind::Modify, _) if leaves => {
                json!({"name": device, "type": kind, "state": "up", "controller": ""})
            }
            (ChangeKind::Remove, InterfaceKind::OvsInterface) => {
                json!({"name": device, "type": kind, "state": "absent"})
            }
            _ => continue,
        };
        if !known {
            interfaces.push(entry);
        }
    }
}

/// NMState takes a route that differs from an existing one in nothing but the metric for the existing one, reports
/// success and changes nothing: the old one must be declared absent beside it.
fn drop_stale_metrics(view: &View<'_>, observed: &Value, document: &mut Value) {
    let stale: Vec<Value> = route::declared(view)
        .iter()
        .filter(|want| !is_absent(want))
        .filter_map(|want| stale(want, observed))
        .collect();
    if let Some(routes) = document.pointer_mut("/routes/config").and_then(Value::as_array_mut) {
        routes.splice(0..0, stale);
    }
}

fn stale(want: &Value, observed: &Value) -> Option<Value> {
    let same = list(observed, &["routes", "config"]).iter().filter(|got| route::matches(want, got));
    let other_metric =
        same.clone().next().is_some() && !same.into_iter().any(|got| route::same_metric(want, got));
    other_metric.then(|| {
        let mut absent = json!({"state": "absent"});
        for key in ["destination", "next-hop-interface", "next-hop-address", "table-id"] {
            if let Some(said) = text(want, key).map(Value::from).or_else(|| want.get(key).cloned()) {
                absent[key] = said;
            }
        }
        absent
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(metric: u64) -> Value {
        json!({"destination": "198.51.100.0/24", "next-hop-interface": "br1", "metric": metric})
    }

    fn with(route: Value) -> Value {
        json!({"routes": {"config": [route]}})
    }

    #[test]
    fn a_new_metric_takes_the_old_route_away() {
        let document = applicable(&with(route(77)), &with(route(150)));
        assert_eq!(list(&document, &["routes", "config"]).len(), 2);
        assert_eq!(document["routes"]["config"][0]["state"], "absent");
        assert_eq!(document["routes"]["config"][0].get("metric"), None);
        assert_eq!(document["routes"]["config"][1], route(77));
    }

    #[test]
    fn anything_else_stays_as_written() {
        assert_eq!(applicable(&with(route(150)), &with(route(150))), with(route(150)));
        assert_eq!(applicable(&with(route(77)), &json!({})), with(route(77)));
    }

    /// A NIC that hands over to a bridge, and a rule that both know.
    fn handover(ipv4_of_nic: bool) -> Value {
        let nic =
            json!({"name": "eth0", "type": "ethernet", "state": "up", "ipv4": {"enabled": ipv4_of_nic}});
        json!({"interfaces": [nic], "route-rules": {"config": [{"family": "ipv4", "priority": 7, "route-table": 200}]}})
    }

    #[test]
    fn rules_are_stored_anew_when_an_interface_loses_its_addresses() {
        let rules = |desired: &Value, observed: &Value| {
            list(&applicable(desired, observed), &["route-rules", "config"]).len()
        };
        assert_eq!(rules(&handover(false), &handover(true)), 2);
        assert_eq!(rules(&handover(true), &handover(true)), 1);
        assert_eq!(rules(&handover(false), &handover(false)), 1);
        let mut silent = handover(true);
        silent["interfaces"][0].as_object_mut().unwrap().remove("ipv4");
        assert_eq!(rules(&silent, &handover(true)), 1);
        assert_eq!(rules(&json!({"interfaces": handover(false)["interfaces"]}), &handover(true)), 0);
    }

    #[test]
    fn the_ports_of_a_bond_that_leaves_its_bridge_are_declared() {
        let nic =
            |name: &str| json!({"name": name, "type": "ethernet", "state": "up", "controller": "bond0"});
        let bond = json!({"name": "bond0", "type": "bond", "state": "up", "controller": "br-ex",
            "link-aggregation": {"mode": "active-backup", "port": ["eth0", "eth1"]}});
        let bridge = json!({"name": "br-ex", "type": "ovs-bridge", "state": "up",
            "bridge": {"port": [{"name": "bond0"}]}});
        let observed = json!({"interfaces": [bond, nic("eth0"), nic("eth1"), bridge]});
        let alone = json!({"name": "bond0", "type": "bond", "state": "up", "ipv4": {"enabled": true, "dhcp": true},
            "link-aggregation": {"mode": "active-backup", "port": ["eth0", "eth1"]}});
        let gone = json!({"name": "br-ex", "type": "ovs-bridge", "state": "absent"});
        let mut desired = json!({"interfaces": [alone, gone, {"name": "eth1", "mtu": 1500}]});
        let plan = crate::plan::plan(&desired, &observed, &crate::plan::Facts::default()).unwrap();
        assert!(["eth0", "eth1"].iter().all(|port| plan.touched.contains(*port)), "{plan:#?}");
        declare_ports_of_leaving(&mut desired, &plan, &observed);
        assert_eq!(desired["interfaces"].as_array().unwrap().len(), 4, "eth1 was declared");
        assert_eq!(desired["interfaces"][3], nic("eth0"));
        let as_it_is = json!({"interfaces": [{"name": "bond0", "type": "bond", "mtu": 1400}]});
        let plan = crate::plan::plan(&as_it_is, &observed, &crate::plan::Facts::default()).unwrap();
        let mut desired = as_it_is.clone();
        declare_ports_of_leaving(&mut desired, &plan, &observed);
        assert_eq!(desired, as_it_is);
    }
}
