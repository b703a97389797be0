//! br-ex as OVN-Kubernetes needs it: an Open vSwitch bridge with one uplink, and an interface of the same name that
//! carries the addresses.

use linesman_core::codes::day1::{BR_EX, NO_BR_EX, UPLINK};
use linesman_core::diagnostic::Diagnostic;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::path::Path;
use linesman_core::state::{interfaces, is_absent, is_up, kind, name, text};
use serde_json::Value;

const BR_EX_NAME: &str = "br-ex";

struct Entry<'a> {
    path: Path,
    value: &'a Value,
}

/// `needed`: the cluster's network plugin uses br-ex. A host that shall have none says so: `state: absent`.
pub fn bridge(state: &Value, needed: bool) -> Vec<Diagnostic> {
    let entries = entries(state);
    let of = |wanted: InterfaceKind| {
        entries.iter().find(|entry| kind(entry.value) == wanted && is_up(entry.value))
    };
    if entries.is_empty() {
        return if needed { vec![missing()] } else { Vec::new() };
    }
    if entries.iter().all(|entry| is_absent(entry.value)) {
        return Vec::new();
    }
    match (of(InterfaceKind::OvsBridge), of(InterfaceKind::OvsInterface)) {
        (Some(bridge), Some(_)) => ports(state, bridge),
        (Some(bridge), None) => {
            let message = "br-ex has no ovs-interface of the same name, which would carry its addresses";
            let hint = "add an interface 'name: br-ex' with 'type: ovs-interface'";
            let incomplete = Diagnostic::new(BR_EX, message).at(bridge.path.key("name")).hint(hint);
            std::iter::once(incomplete).chain(ports(state, bridge)).collect()
        }
        (None, Some(interface)) => {
            let message = "br-ex has an ovs-interface, but no ovs-bridge";
            let hint = "add an interface 'name: br-ex' with 'type: ovs-bridge' and its ports";
            vec![Diagnostic::new(BR_EX, message).at(interface.path.key("name")).hint(hint)]
        }
        (None, None) => vec![of_other_type(&entries[0])],
    }
}

fn entries(state: &Value) -> Vec<Entry<'_>> {
    let path = Path::root().key("interfaces");
    let all = interfaces(state).iter().enumerate().map(|(i, value)| Entry { path: path.index(i), value });
    all.filter(|entry| name(entry.value) == BR_EX_NAME).collect()
}

fn missing() -> Diagnostic {
    let hint = "add the ovs-bridge br-ex with its uplink; for a host without it, add 'name: br-ex' with \
                'type: ovs-bridge' and 'state: absent'";
    Diagnostic::new(NO_BR_EX, "br-ex is not declared").at(Path::root().key("interfaces")).hint(hint)
}

fn of_other_type(entry: &Entry<'_>) -> Diagnostic {
    let message = format!("br-ex is of type '{}' and state '{}'", kind(entry.value), state_of(entry.value));
    let at = if is_up(entry.value) { "type" } else { "state" };
    let hint = "declare an ovs-bridge and an ovs-interface of this name, both 'state: up'";
    Diagnostic::new(BR_EX, message).at(entry.path.key(at)).hint(hint)
}

fn state_of(entry: &Value) -> &str {
    text(entry, "state").unwrap_or("up")
}

/// One of a bridge's ports. The members of an Open vSwitch bond share one.
struct Port<'a> {
    path: Path,
    members: Vec<&'a str>,
}

fn ports(state: &Value, bridge: &Entry<'_>) -> Vec<Diagnostic> {
    let (at, ports) = listed(bridge);
    let mut found = Vec::new();
    if !ports.iter().any(|port| port.members == [BR_EX_NAME]) {
        let message = "the ports of br-ex do not include the interface br-ex";
        found.push(Diagnostic::new(BR_EX, message).at(at.clone()).hint("add '- name: br-ex' to its ports"));
    }
    let is_internal = |port: &&Port<'_>| {
        port.members.iter().all(|member| *member == BR_EX_NAME || is_inside(state, member))
    };
    let uplinks: Vec<&Port<'_>> = ports.iter().filter(|port| !is_internal(port)).collect();
    match uplinks.as_slice() {
        [] => {
            let hint = "add the NIC, bond or VLAN that leads out to its ports";
            found.push(Diagnostic::new(UPLINK, "br-ex has no uplink").at(at).hint(hint));
        }
        [uplink] => found.extend(undefined(state, uplink)),
        [_, second, ..] => {
            let message = "br-ex has more than one uplink: frames would go round in a loop";
            let hint = "keep one uplink, or make the NICs ports of a bond and the bond the uplink";
            found.push(Diagnostic::new(UPLINK, message).at(second.path.clone()).hint(hint));
        }
    }
    found
}

/// A patch port or an internal port leads nowhere outside; a DPDK port is a NIC.
fn is_inside(state: &Value, member: &str) -> bool {
    let mut declared = interfaces(state).iter().filter(|interface| name(interface) == member);
    declared
        .any(|interface| kind(interface) == InterfaceKind::OvsInterface && interface.get("dpdk").is_none())
}

fn undefined(state: &Value, uplink: &Port<'_>) -> Vec<Diagnostic> {
    let is_defined = |member: &str| {
        let mut declared = interfaces(state).iter().filter(|interface| name(interface) == member);
        // What a capture found is known only on a host.
        declared.any(is_up) || member.contains("{{")
    };
    let unknown = uplink.members.iter().filter(|member| !is_defined(member));
    unknown
        .map(|member| {
            let message = format!("the uplink '{member}' of br-ex is not defined in this document");
            let hint = "add it to 'interfaces', with its type, 'state: up', and IPv4 and IPv6 disabled";
            Diagnostic::new(UPLINK, message).at(uplink.path.clone()).hint(hint)
        })
        .collect()
}

/// The place of the list, and its ports.
fn listed<'a>(bridge: &Entry<'a>) -> (Path, Vec<Port<'a>>) {
    let Some(section) = bridge.value.get("bridge") else { return (bridge.path.key("name"), Vec::new()) };
    let key = if section.get("ports").is_some() { "ports" } else { "port" };
    let at = bridge.path.key("bridge").key(key);
    let items = section.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let port = |(index, item): (usize, &'a Value)| {
        let bond = item.get("link-aggregation").and_then(|bond| bond.get("port"));
        let members = match bond.and_then(Value::as_array) {
            Some(members) => members.iter().map(name).collect(),
            None => vec![name(item)],
        };
        Port { path: at.index(index).key("name"), members }
    };
    let ports = items.iter().enumerate().map(port).collect();
    (at, ports)
}
