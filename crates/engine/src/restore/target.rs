//! What "as before" means after a rollback, as a state to compare with. Pure.

use std::collections::BTreeSet;

use linesman_core::inverse::undone;
use linesman_core::plan::{Plan, Subject};
use linesman_core::state::{interfaces, list};
use serde_json::{Map, Value, json};

use crate::snapshot::Snapshot;

/// The touched part of the former state: its interfaces, routes, DNS and hostname; what the change
/// had made must be gone. Foreign addresses and keys in OVSDB are put back separately.
pub fn target(snapshot: &Snapshot, plan: &Plan) -> Value {
    let mut state = Map::new();
    let mut touched: Vec<Value> = interfaces(&snapshot.state)
        .iter()
        .filter(|i| name(i).is_some_and(|n| plan.touched.contains(n)) && i["state"] != "ignore")
        .map(|i| comparable(i, snapshot))
        .map(|i| without_borrowed_flag(i, plan))
        .collect();
    let existed = |n: &str| interfaces(&snapshot.state).iter().any(|i| name(i) == Some(n));
    touched
        .extend(plan.created.iter().filter(|n| !existed(n)).map(|n| json!({ "name": n, "state": "absent" })));
    state.insert("interfaces".into(), touched.into());
    let through = |r: &&Value| r["next-hop-interface"].as_str().is_some_and(|n| plan.touched.contains(n));
    let routes = list(&snapshot.state, &["routes", "config"]).iter();
    let mut routes: Vec<Value> = routes.filter(through).cloned().collect();
    routes.extend(undone(plan, |subject| matches!(subject, Subject::Route { .. })));
    if !routes.is_empty() {
        state.insert("routes".into(), json!({ "config": routes }));
    }
    let rules = undone(plan, |subject| matches!(subject, Subject::RouteRule { .. }));
    if !rules.is_empty() {
        state.insert("route-rules".into(), json!({ "config": rules }));
    }
    // What others name the host meanwhile is theirs.
    let renames = plan.changes.iter().any(|change| change.subject == Subject::Hostname);
    for key in ["dns-resolver", "hostname"].into_iter().filter(|key| renames || *key != "hostname") {
        if let Some(config) = snapshot.state.get(key).and_then(|v| v.get("config")) {
            state.insert(key.into(), json!({ "config": config }));
        }
    }
    Value::Object(state)
}

/// What NetworkManager brings back by itself: rules that it forgot, metrics that it chooses, and what others had set are
/// set right afterwards.
pub fn loose(goal: &Value, snapshot: &Snapshot, foreign_ports: &BTreeSet<String>) -> Value {
    let mut goal = without_foreign_routes(goal, snapshot, foreign_ports);
    remove(&mut goal, "route-rules");
    for route in goal.pointer_mut("/routes/config").and_then(Value::as_array_mut).into_iter().flatten() {
        remove(route, "metric");
    }
    for interface in goal["interfaces"].as_array_mut().into_iter().flatten() {
        remove(interface, "alt-names");
        for family in ["ipv4", "ipv6"] {
            for key in ["auto-route-metric", "prefix-route-metric"] {
                remove(&mut interface[family], key);
            }
        }
    }
    goal
}

/// A state without ports of others: of those in bridges of Open vSwitch the database says more than nmstate does, and
/// those in Linux bridges come back when everything else has.
pub fn without_foreign_ports(state: &Value, ports: &BTreeSet<String>) -> Value {
    let mut state = state.clone();
    if ports.is_empty() {
        return state;
    }
    let Some(interfaces) = state["interfaces"].as_array_mut() else { return state };
    let is_foreign = |entry: &Value| name(entry).is_some_and(|n| ports.contains(n));
    interfaces.retain(|i| i["type"] == "ovs-bridge" || !is_foreign(i));
    let is_bridge = |i: &Value| i["type"] == "ovs-bridge" || i["type"] == "linux-bridge";
    for bridge in interfaces.iter_mut().filter(|i| is_bridge(i)) {
        if let Some(members) = bridge.pointer_mut("/bridge/port").and_then(Value::as_array_mut) {
            members.retain(|port| !is_foreign(port));
        }
    }
    state
}

/// The routes that NetworkManager's profiles bring.
pub fn without_foreign_routes(goal: &Value, snapshot: &Snapshot, foreign_ports: &BTreeSet<String>) -> Value {
    let mut goal = goal.clone();
    if let Some(routes) = goal.pointer_mut("/routes/config").and_then(Value::as_array_mut) {
        routes.retain(|route| !snapshot.is_route_of_others(route) && !foreign_ports.contains(hop(route)));
    }
    goal
}

fn hop(route: &Value) -> &str {
    route["next-hop-interface"].as_str().unwrap_or_default()
}

fn remove(value: &mut Value, key: &str) {
    if let Some(map) = value.as_object_mut() {
        map.shift_remove(key);
    }
}

const NO_GOAL: [&str; 9] = [
    "min-mtu",
    "max-mtu",
    "permanent-mac-address",
    "lldp",
    "driver",
    "ethtool",
    "pci-address",
    "mptcp",
    "ovs-db",
];

/// An observed interface as something to ask for.
///
/// What NetworkManager makes anew gets a new MAC from the kernel, counters and neighbours are no
/// state, and minimum and maximum MTU belong to the driver. Endpoints of MPTCP follow the profile, unless
/// NetworkManager died: the kernel then keeps its former ones, and they are in the way of the new.
fn comparable(interface: &Value, snapshot: &Snapshot) -> Value {
    let mut copy = interface.clone();
    let Some(map) = copy.as_object_mut() else { return copy };
    for key in NO_GOAL {
        map.remove(key);
    }
    if !matches!(interface["type"].as_str(), Some("ethernet")) {
        map.remove("mac-address");
    }
    let of_others =
        |address: &Value| snapshot.is_address_of_others(name(interface).unwrap_or_default(), address);
    for family in ["ipv4", "ipv6"] {
        if let Some(addresses) =
            map.get_mut(family).and_then(|f| f.get_mut("address")).and_then(Value::as_array_mut)
        {
            addresses.retain(|a| !of_others(a) && a.get("valid-life-time").is_none());
        }
    }
    copy
}

const PROMISCUOUS: &str = "accept-all-mac-addresses";

/// A capture or a userspace bridge makes a NIC promiscuous for as long as it runs, and one that is killed
/// leaves it so until the next boot. The flag is a goal only where the change itself had turned it off.
fn without_borrowed_flag(mut interface: Value, plan: &Plan) -> Value {
    let is_this = |subject: &Subject| matches!(subject, Subject::Interface { name, .. } if interface["name"] == *name.as_str());
    let mut details = plan.changes.iter().filter(|c| is_this(&c.subject)).flat_map(|c| &c.details);
    let ours = details.any(|detail| detail.path.to_string().ends_with(PROMISCUOUS));
    if !ours && interface[PROMISCUOUS] == true {
        remove(&mut interface, PROMISCUOUS);
    }
    interface
}

fn name(interface: &Value) -> Option<&str> {
    interface["name"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{AddressFact, RouteFact};
    use linesman_core::path::Path;
    use linesman_core::plan::{Change, ChangeKind, Detail};

    fn snapshot() -> Snapshot {
        Snapshot {
            state: json!({
                "interfaces": [
                    { "name": "eth0", "type": "ethernet", "state": "up", "max-mtu": 9000,
                      "ipv4": { "enabled": true, "address": [{ "ip": "10.9.0.2" }, { "ip": "10.9.0.99" }] } },
                    { "name": "eth1", "type": "ethernet", "state": "up" }
                ],
                "routes": { "config": [
                    { "destination": "0.0.0.0/0", "next-hop-interface": "eth0" },
                    { "destination": "10.7.0.0/16", "next-hop-interface": "eth1" }
                ]},
                "hostname": { "running": "n1", "config": "n1" }
            }),
            foreign: vec![AddressFact::test("eth0", "10.9.0.99")],
            ..Snapshot::default()
        }
    }

    #[test]
    fn only_changed_interfaces_must_be_in_the_previous_state() {
        let plan = Plan {
            touched: ["eth0".into(), "br-ex".into()].into(),
            created: ["br-ex".into()].into(),
            ..Plan::default()
        };
        let expected = json!({
            "interfaces": [
                { "name": "eth0", "type": "ethernet", "state": "up",
                  "ipv4": { "enabled": true, "address": [{ "ip": "10.9.0.2" }] } },
                { "name": "br-ex", "state": "absent" }
            ],
            "routes": { "config": [{ "destination": "0.0.0.0/0", "next-hop-interface": "eth0" }] }
        });
        assert_eq!(target(&snapshot(), &plan), expected);
    }

    #[test]
    fn the_host_has_its_previous_name_only_if_the_change_gave_it_another() {
        let renamed = Change { kind: ChangeKind::Modify, subject: Subject::Hostname, details: Vec::new() };
        assert_eq!(target(&snapshot(), &Plan::default()).get("hostname"), None);
        let plan = Plan { changes: vec![renamed], ..Plan::default() };
        assert_eq!(target(&snapshot(), &plan)["hostname"], json!({ "config": "n1" }));
    }

    #[test]
    fn a_temporary_flag_is_not_restored() {
        let state = json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", PROMISCUOUS: true }] });
        let snapshot = Snapshot { state, ..Snapshot::default() };
        let mut plan = Plan { touched: ["eth0".into()].into(), ..Plan::default() };
        assert_eq!(target(&snapshot, &plan)["interfaces"][0].get(PROMISCUOUS), None);
        plan.changes.push(Change {
            kind: ChangeKind::Modify,
            subject: Subject::Interface { name: "eth0".into(), kind: "ethernet".into() },
            details: vec![Detail {
                path: Path::root().key(PROMISCUOUS),
                want: false.into(),
                got: true.into(),
            }],
        });
        assert_eq!(target(&snapshot, &plan)["interfaces"][0][PROMISCUOUS], true);
    }

    #[test]
    fn ports_of_others_are_compared_in_the_database() {
        let state = json!({ "interfaces": [
            { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "eth0" }, { "name": "vport0" }] } },
            { "name": "vport0", "type": "ovs-interface", "state": "down" } ] });
        assert_eq!(
            without_foreign_ports(&state, &["vport0".to_string()].into()),
            json!({ "interfaces": [
                { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "eth0" }] } } ] })
        );
    }

    #[test]
    fn routes_of_others_are_not_asked_of_networkmanager() {
        let mut snapshot = snapshot();
        snapshot.routes = vec![RouteFact {
            destination: "203.0.113.0/24".into(),
            table: 254,
            metric: 32,
            protocol: 3,
            interfaces: vec!["eth0".into()],
            message: String::new(),
        }];
        let route = |to: &str| json!({ "destination": to, "next-hop-interface": "eth0", "table-id": 254 });
        let goal = json!({ "routes": { "config": [route("203.0.113.0/24"), route("0.0.0.0/0")] } });
        let own = without_foreign_routes(&goal, &snapshot, &BTreeSet::new());
        assert_eq!(own["routes"]["config"], json!([route("0.0.0.0/0")]));
    }

    #[test]
    fn a_relaxed_target_still_requires_its_routes() {
        let goal = json!({ "interfaces": [], "route-rules": { "config": [] }, "routes": { "config": [
            { "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "metric": 100, "table-id": 254 } ] } });
        let goal = loose(&goal, &snapshot(), &BTreeSet::new());
        assert_eq!(
            goal["routes"]["config"][0],
            json!({ "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "table-id": 254 })
        );
    }

    #[test]
    fn additions_must_be_removed_and_removals_restored() {
        let rule = |priority| json!({ "priority": priority, "route-table": 200 });
        let change = |want, got| Change {
            kind: ChangeKind::Add,
            subject: Subject::RouteRule { selector: String::new() },
            details: vec![Detail { path: Path::root(), want, got }],
        };
        let changes = vec![change(rule(1), Value::Null), change(Value::Null, rule(2))];
        let goal = target(&Snapshot::default(), &Plan { changes, ..Plan::default() });
        let mut gone = rule(1);
        gone["state"] = "absent".into();
        assert_eq!(goal["route-rules"]["config"], json!([gone, rule(2)]));
    }
}
