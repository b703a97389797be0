//! A state that is too large for the cluster loses what people miss least, and reports that.

use serde_json::{Map, Value, json};

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state;

/// The first one that is enough ends it. Each names what it took away, and how much of it.
const STEPS: [fn(&mut Value) -> Option<String>; 6] =
    [defaults, ethtool, neighbors, running_routes, details, interfaces];

/// What was left out, in words.
pub fn cut(state: &mut Value, budget: usize) -> Vec<String> {
    let mut omitted = Vec::new();
    for step in STEPS {
        if size(state) <= budget {
            return omitted;
        }
        omitted.extend(step(state));
    }
    while size(state) > budget && !state::interfaces(state).is_empty() {
        omitted.extend(interfaces(state));
    }
    omitted.dedup();
    omitted
}

fn size(state: &Value) -> usize {
    serde_json::to_string(state).map_or(usize::MAX, |text| text.len())
}

fn each_interface(state: &mut Value, mut change: impl FnMut(&mut Map<String, Value>) -> bool) -> usize {
    let interfaces = state.get_mut("interfaces").and_then(Value::as_array_mut);
    let maps = interfaces.into_iter().flatten().filter_map(Value::as_object_mut);
    maps.map(|interface| usize::from(change(interface))).sum()
}

/// What an interface has unless somebody asked for something else.
fn defaults(state: &mut Value) -> Option<String> {
    let off = [
        ("accept-all-mac-addresses", json!(false)),
        ("wait-ip", json!("any")),
        ("lldp", json!({ "enabled": false })),
        ("mptcp", json!({ "address-flags": [] })),
        ("ipv4", json!({ "enabled": false })),
        ("ipv6", json!({ "enabled": false })),
        ("ethtool", json!({})),
    ];
    let count = each_interface(state, |interface| {
        let before = interface.len();
        interface.retain(|key, value| {
            !value.is_null() && !off.iter().any(|(name, is)| name == key && is == value)
        });
        interface.len() < before
    });
    (count > 0).then(|| format!("default settings of {count} interfaces"))
}

fn ethtool(state: &mut Value) -> Option<String> {
    let count = each_interface(state, |interface| interface.shift_remove("ethtool").is_some());
    (count > 0).then(|| format!("ethtool: of {count} interfaces"))
}

fn neighbors(state: &mut Value) -> Option<String> {
    let count = each_interface(state, |interface| {
        let lldp = interface.get_mut("lldp").and_then(Value::as_object_mut);
        lldp.is_some_and(|lldp| lldp.shift_remove("neighbors").is_some())
    });
    (count > 0).then(|| format!("LLDP neighbors: of {count} interfaces"))
}

fn running_routes(state: &mut Value) -> Option<String> {
    let running = state.get_mut("routes")?.as_object_mut()?.shift_remove("running")?;
    let count = running.as_array().map_or(0, Vec::len);
    (count > 0).then(|| format!("routes.running: {count} routes"))
}

/// What distinguishes an interface from others.
const ESSENTIAL: [&str; 11] = [
    "name",
    "type",
    "state",
    "mtu",
    "mac-address",
    "controller",
    "ipv4",
    "ipv6",
    "vlan",
    "link-aggregation",
    "bridge",
];

fn details(state: &mut Value) -> Option<String> {
    let count = each_interface(state, |interface| {
        let before = interface.len();
        interface.retain(|key, _| ESSENTIAL.contains(&key.as_str()));
        interface.len() < before
    });
    (count > 0)
        .then(|| format!("all but name, type, state, addresses, VLAN, ports and MTU of {count} interfaces"))
}

/// A quarter at a time, from the end; NICs, bonds and bridges are what others stand on, and stay longest.
fn interfaces(state: &mut Value) -> Option<String> {
    let list = state.get_mut("interfaces").and_then(Value::as_array_mut)?;
    let carries = |interface: &Value| {
        use InterfaceKind::{Bond, Ethernet, LinuxBridge, OvsBridge};
        matches!(state::kind(interface), Ethernet | Bond | OvsBridge | LinuxBridge)
    };
    list.sort_by_key(|interface| !carries(interface));
    let left = list.len() * 3 / 4;
    let names: Vec<String> =
        list.drain(left..).map(|interface| state::name(&interface).to_string()).collect();
    let (first, last) = (names.first()?, names.last()?);
    Some(format!("{} interfaces, from {first} to {last}", names.len()))
}
