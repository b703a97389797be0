//! Which interface is a port of which controller.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::view::{Interface, Presence, State, items, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;

/// One entry of a controller's list of ports.
pub(super) struct Port<'a> {
    pub name: &'a str,
    pub path: Path,
    pub controller: &'a str,
    pub controller_kind: InterfaceKind,
    pub controller_path: Path,
}

pub(super) fn ports_of<'a>(interface: &Interface<'a>) -> Vec<Port<'a>> {
    listed(interface)
        .into_iter()
        .map(|(path, name)| Port {
            name,
            path,
            controller: interface.name,
            controller_kind: interface.kind.clone(),
            controller_path: interface.path.clone(),
        })
        .collect()
}

fn listed<'a>(interface: &Interface<'a>) -> Vec<(Path, &'a str)> {
    match interface.kind {
        InterfaceKind::LinuxBridge => {
            list(interface.section(&["bridge"]), &["port", "ports"]).iter().filter_map(named).collect()
        }
        InterfaceKind::OvsBridge => {
            list(interface.section(&["bridge"]), &["port", "ports"]).iter().flat_map(ovs_port).collect()
        }
        InterfaceKind::Bond => {
            let lists = ["port", "ports", "ports-config"];
            list(interface.section(&["link-aggregation", "bond"]), &lists).iter().filter_map(named).collect()
        }
        InterfaceKind::Vrf => {
            list(interface.section(&["vrf"]), &["port", "ports"]).iter().filter_map(named).collect()
        }
        InterfaceKind::Hsr => hsr_ports(interface),
        _ => Vec::new(),
    }
}

/// The first of `keys` that holds a list, with the place of each item.
fn list<'a>(section: Option<(Path, &'a Value)>, keys: &[&str]) -> Vec<(Path, &'a Value)> {
    let Some((path, section)) = section else { return Vec::new() };
    let key = keys.iter().find(|key| section.get(key).is_some_and(Value::is_array));
    key.map_or_else(Vec::new, |key| items(section.get(key), &path.key(*key)).collect())
}

/// A port is a name, or a mapping with one.
fn named<'a>((path, item): &(Path, &'a Value)) -> Option<(Path, &'a str)> {
    match item {
        Value::String(_) => Some((path.clone(), text(Some(item))?)),
        _ => Some((path.key("name"), text(item.get("name"))?)),
    }
    .filter(|(_, name)| !name.is_empty())
}

/// An OVS bond is no interface itself; its ports are.
fn ovs_port<'a>(entry: &(Path, &'a Value)) -> Vec<(Path, &'a str)> {
    let (path, item) = entry;
    let bond = ["link-aggregation", "bond"].into_iter().find_map(|key| Some((path.key(key), item.get(key)?)));
    match bond {
        Some(bond) => list(Some(bond), &["port", "ports"]).iter().filter_map(named).collect(),
        None => named(entry).into_iter().collect(),
    }
}

fn hsr_ports<'a>(interface: &Interface<'a>) -> Vec<(Path, &'a str)> {
    let Some((path, section)) = interface.section(&["hsr"]) else { return Vec::new() };
    ["port1", "port2"].into_iter().filter_map(|key| Some((path.key(key), text(section.get(key))?))).collect()
}

pub(super) fn twice(state: &State<'_>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let again = state.ports.iter().filter(|port| !seen.insert((&port.controller_path, port.name)));
    again
        .map(|port| {
            let message = format!("'{}' is listed twice as a port of '{}'", port.name, port.controller);
            Diagnostic::new(codes::PORT_TWICE, message).at(port.path.clone()).hint("keep one of the two")
        })
        .collect()
}

pub(super) fn shared(state: &State<'_>) -> Vec<Diagnostic> {
    let mut owners: HashMap<&str, &Port<'_>> = HashMap::new();
    let mut found = Vec::new();
    for port in &state.ports {
        let owner = *owners.entry(port.name).or_insert(port);
        if owner.controller_path != port.controller_path {
            found.push(two_controllers(port.name, owner.controller, port.controller, &port.path));
        }
    }
    let by_port = state.up().filter_map(|i| Some((i, declared_controller(i)?)));
    let contrary = by_port.filter_map(|(interface, controller)| {
        let owner = owners
            .get(interface.name)
            .filter(|owner| !controller.is_empty() && owner.controller != controller)?;
        Some(two_controllers(interface.name, owner.controller, controller, &interface.path.key("controller")))
    });
    found.extend(contrary);
    found
}

fn two_controllers(port: &str, first: &str, second: &str, path: &Path) -> Diagnostic {
    let message = format!("'{port}' cannot be a port of both '{first}' and '{second}'");
    Diagnostic::new(codes::PORT_SHARED, message)
        .at(path.clone())
        .hint("an interface has one controller at most")
}

/// What the port itself says about its controller; empty means that it shall have none.
fn declared_controller<'a>(interface: &Interface<'a>) -> Option<&'a str> {
    text(interface.get("controller")).filter(|_| !interface.kind.is_userspace())
}

/// `controller:` of a port against the list of ports of that controller.
pub(super) fn controllers(state: &State<'_>) -> Vec<Diagnostic> {
    let lists = PortLists {
        owner: state.ports.iter().map(|port| (port.name, port.controller)).collect(),
        listing: state.ports.iter().map(|port| port.controller).collect(),
    };
    state.up().filter_map(|interface| controller_fault(state, &lists, interface)).collect()
}

struct PortLists<'p> {
    /// Who lists this port.
    owner: HashMap<&'p str, &'p str>,
    /// Who lists any ports at all.
    listing: HashSet<&'p str>,
}

fn controller_fault(
    state: &State<'_>,
    lists: &PortLists<'_>,
    interface: &Interface<'_>,
) -> Option<Diagnostic> {
    let wanted = declared_controller(interface)?;
    let name = interface.name;
    let owner = lists.owner.get(name);
    let refuse = |message: String, hint: &str| {
        let diagnostic = Diagnostic::new(codes::CONTROLLER, message).at(interface.path.key("controller"));
        Some(diagnostic.hint(hint))
    };
    if wanted.is_empty() {
        let message =
            format!("'{name}' is declared to have no controller, but is listed as a port of '{}'", owner?);
        return refuse(message, "remove it from that list, or remove 'controller'");
    }
    if state.controller(wanted)?.presence == Presence::Absent {
        let message = format!("the controller '{wanted}' of '{name}' is removed by this document");
        return refuse(message, "keep the controller, or name another one");
    }
    if lists.listing.contains(wanted) && owner.is_none() {
        let message =
            format!("'{name}' names '{wanted}' as its controller, but is not among the ports of '{wanted}'");
        return refuse(message, "add it to that port list, which must be complete");
    }
    None
}

/// The frames of a port belong to its controller, so an address on it would never be reached.
pub(super) fn with_ip(state: &State<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for (name, controller, kind) in attached(state) {
        let Some(port) = state.kernel(name).filter(|port| port.presence == Presence::Up) else { continue };
        if !may_have_ip(port, kind) {
            found.extend(
                ["ipv4", "ipv6"].into_iter().filter_map(|family| ip_on_port(port, family, controller)),
            );
        }
    }
    found
}

/// Port, controller and the type of that.
fn attached<'s, 'a>(state: &'s State<'a>) -> Vec<(&'a str, &'a str, &'s InterfaceKind)> {
    let listed = state.ports.iter().map(|port| (port.name, port.controller, &port.controller_kind));
    let declared = state.up().filter_map(|interface| {
        let controller = state.controller(declared_controller(interface)?)?;
        Some((interface.name, controller.name, &controller.kind))
            .filter(|_| controller.presence == Presence::Up)
    });
    let mut seen = HashSet::new();
    listed.chain(declared).filter(|(port, ..)| seen.insert(*port)).collect()
}

/// The ports of a VRF keep their addresses, and so does the internal interface of an OVS bridge.
fn may_have_ip(port: &Interface<'_>, controller_kind: &InterfaceKind) -> bool {
    *controller_kind == InterfaceKind::Vrf
        || port.kind == InterfaceKind::OvsInterface
        || (*controller_kind == InterfaceKind::OvsBridge && port.kind == InterfaceKind::Unknown)
}

fn ip_on_port(port: &Interface<'_>, family: &str, controller: &str) -> Option<Diagnostic> {
    if port.ip_enabled(family) != Some(true) {
        return None;
    }
    let message = format!("'{}' is a port of '{controller}' and cannot have {family} enabled", port.name);
    let hint = format!("put the addresses on '{controller}', and set 'enabled: false' here");
    Some(Diagnostic::new(codes::PORT_WITH_IP, message).at(port.path.key(family).key("enabled")).hint(hint))
}

pub(super) fn absent(state: &State<'_>) -> Vec<Diagnostic> {
    let removed = state.ports.iter().filter(|port| state.removes(port.name));
    removed
        .map(|port| {
            let message =
                format!("the port '{}' of '{}' is removed by this document", port.name, port.controller);
            let hint = "remove it from the ports, or remove its 'state: absent'";
            Diagnostic::new(codes::PORT_ABSENT, message).at(port.path.clone()).hint(hint)
        })
        .collect()
}
