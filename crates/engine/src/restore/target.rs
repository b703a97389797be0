//! What "as before" means after a rollback, as a state to compare with. Pure.

use linesman_core::plan::Plan;
use serde_json::{Map, Value, json};

use crate::netlink::AddressFact;
use crate::snapshot::Snapshot;

/// The touched part of the former state: its interfaces, routes, DNS and hostname; what the change
/// had made must be gone. Foreign addresses and keys in OVSDB are put back separately.
pub fn target(snapshot: &Snapshot, plan: &Plan) -> Value {
    let mut state = Map::new();
    let mut interfaces: Vec<Value> = list(&snapshot.state, "/interfaces")
        .iter()
        .filter(|i| name(i).is_some_and(|n| plan.touched.contains(n)) && i["state"] != "ignore")
        .map(|i| comparable(i, &snapshot.foreign))
        .collect();
    let existed = |n: &str| list(&snapshot.state, "/interfaces").iter().any(|i| name(i) == Some(n));
    interfaces
        .extend(plan.created.iter().filter(|n| !existed(n)).map(|n| json!({ "name": n, "state": "absent" })));
    state.insert("interfaces".into(), interfaces.into());
    let routes: Vec<Value> = list(&snapshot.state, "/routes/config")
        .iter()
        .filter(|r| r["next-hop-interface"].as_str().is_some_and(|n| plan.touched.contains(n)))
        .cloned()
        .collect();
    if !routes.is_empty() {
        state.insert("routes".into(), json!({ "config": routes }));
    }
    for key in ["dns-resolver", "hostname"] {
        if let Some(config) = snapshot.state.get(key).and_then(|v| v.get("config")) {
            state.insert(key.into(), json!({ "config": config }));
        }
    }
    Value::Object(state)
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
fn comparable(interface: &Value, foreign: &[AddressFact]) -> Value {
    let mut copy = interface.clone();
    let Some(map) = copy.as_object_mut() else { return copy };
    for key in NO_GOAL {
        map.remove(key);
    }
    if !matches!(interface["type"].as_str(), Some("ethernet")) {
        map.remove("mac-address");
    }
    let of_others = |address: &Value| {
        foreign.iter().any(|f| {
            Some(f.interface.as_str()) == name(interface)
                && address["ip"].as_str().and_then(|ip| ip.parse().ok()) == Some(f.ip)
        })
    };
    for family in ["ipv4", "ipv6"] {
        if let Some(addresses) =
            map.get_mut(family).and_then(|f| f.get_mut("address")).and_then(Value::as_array_mut)
        {
            addresses.retain(|a| !of_others(a) && a.get("valid-life-time").is_none());
        }
    }
    copy
}

fn list<'a>(state: &'a Value, pointer: &str) -> &'a [Value] {
    state.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn name(interface: &Value) -> Option<&str> {
    interface["name"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn only_what_was_touched_is_held_to_the_former_state() {
        let plan = Plan {
            touched: ["eth0".to_string(), "br-ex".into()].into(),
            created: ["br-ex".to_string()].into(),
            ..Plan::default()
        };
        let expected = json!({
            "interfaces": [
                { "name": "eth0", "type": "ethernet", "state": "up",
                  "ipv4": { "enabled": true, "address": [{ "ip": "10.9.0.2" }] } },
                { "name": "br-ex", "state": "absent" }
            ],
            "routes": { "config": [{ "destination": "0.0.0.0/0", "next-hop-interface": "eth0" }] },
            "hostname": { "config": "n1" }
        });
        assert_eq!(target(&snapshot(), &plan), expected);
    }
}
