//! What a change brings with it: ports that move, interfaces that lose what they live on.

use std::collections::BTreeSet;

use serde_json::Value;

use super::change::subject;
use super::{Change, ChangeKind, Detail, Subject};
use crate::bond_option;
use crate::compare::View;
use crate::foreign_port;
use crate::interface_kind::InterfaceKind;
use crate::interface_name::InterfaceName;
use crate::path::{Path, PathStep};
use crate::state::{self, interfaces, is_up, kind, list, name, text};

/// Ports that come to a controller or leave one, said at the port as well.
pub(super) fn ports(view: &View<'_>, changes: &mut Vec<Change>) {
    for (port, controller) in moves(view) {
        let Some(observed) = view.now(&port, InterfaceKind::Unknown) else {
            continue;
        };
        let now = text(observed, "controller").unwrap_or_default();
        if now == controller || is_going(view, changes, &port) {
            continue;
        }
        let detail = Detail {
            path: Path::interface(&port).key("controller"),
            want: controller.clone().into(),
            got: now.into(),
        };
        include(changes, observed, detail);
    }
}

fn is_going(view: &View<'_>, changes: &[Change], port: &str) -> bool {
    let removed =
        changes.iter().any(|change| change.kind == ChangeKind::Remove && change.interface() == Some(port));
    removed
        || (view
            .now(port, InterfaceKind::Unknown)
            .is_some_and(|port| kind(port) == InterfaceKind::OvsInterface))
}

fn include(changes: &mut Vec<Change>, device: &Value, detail: Detail) {
    let wanted =
        |change: &&mut Change| change.interface() == Some(name(device)) && !is_bridge(&change.subject);
    match changes.iter_mut().find(wanted) {
        Some(change) if change.details.iter().any(|known| known.path == detail.path) => {}
        Some(change) => change.details.push(detail),
        None => {
            changes.push(Change { kind: ChangeKind::Modify, subject: subject(device), details: vec![detail] })
        }
    }
}

fn is_bridge(subject: &Subject) -> bool {
    matches!(subject, Subject::Interface { kind, .. } if *kind == InterfaceKind::OvsBridge)
}

/// Every port that a declared port list takes or gives up, and the controller it ends with.
fn moves(view: &View<'_>) -> Vec<(String, String)> {
    let mut taken: Vec<(String, String)> = Vec::new();
    let mut left: Vec<(String, String)> = Vec::new();
    for declared in &view.declared {
        let want = &declared.want;
        let had = view.now(name(want), kind(want)).and_then(state::ports).unwrap_or_default();
        let wants = wanted_ports(view, want);
        for port in wants.iter().flatten().filter(|port| !had.contains(port)) {
            taken.push(((*port).to_owned(), name(want).to_owned()));
        }
        if let Some(wants) = wants.filter(|_| !allows_extra(want)) {
            // A bridge without ports cannot live: it keeps the internal interface of its own name.
            let keeps_last = is_up(want) && wants.is_empty() && kind(want) == InterfaceKind::OvsBridge;
            let stays = |port: &str| wants.contains(&port) || (keeps_last && port == name(want));
            let left_alone =
                |port: &str| if is_up(want) { view.stays_with(want, port) } else { view.is_hidden(port) };
            let leaving = had.iter().filter(|port| !stays(port) && !left_alone(port));
            left.extend(leaving.map(|port| ((*port).to_owned(), String::new())));
        }
    }
    left.retain(|(port, _)| !taken.iter().any(|(other, _)| other == port));
    taken.extend(left);
    taken
}

fn wanted_ports<'v>(view: &'v View<'_>, want: &'v Value) -> Option<Vec<&'v str>> {
    if !is_up(want) {
        return Some(Vec::new());
    }
    Some(state::ports(want)?.into_iter().map(|port| view.device(port)).collect())
}

fn allows_extra(want: &Value) -> bool {
    ["allow-extra-ports", "allow-extra-patch-ports"]
        .iter()
        .any(|key| state::at(want, &["bridge", key]) == Some(&Value::Bool(true)))
}

/// Interfaces that cannot outlive what goes: those stacked on it, an OVS bridge's internal ports, a veth's peer, virtual
/// functions that their NIC loses.
pub(super) fn orphans(view: &View<'_>, changes: &mut Vec<Change>) {
    loop {
        let next = interfaces(view.observed).iter().find(|candidate| {
            !is_removed(changes, candidate)
                && !stays(view, candidate)
                && lives_on_removed(view, changes, candidate)
        });
        let Some(orphan) = next else {
            return;
        };
        changes.retain(|change| change.subject != subject(orphan));
        changes.push(Change { kind: ChangeKind::Remove, subject: subject(orphan), details: Vec::new() });
    }
}

fn stays(view: &View<'_>, candidate: &Value) -> bool {
    view.declared_as(name(candidate)).any(|want| is_up(want) && kind(want).is_same_device(&kind(candidate)))
}

fn is_removed(changes: &[Change], candidate: &Value) -> bool {
    changes.iter().any(|change| change.kind == ChangeKind::Remove && change.subject == subject(candidate))
}

fn lives_on_removed(view: &View<'_>, changes: &[Change], candidate: &Value) -> bool {
    let base = state::base(candidate).map(|(_, base)| base);
    let peer = state::at(candidate, &["veth", "peer"]).and_then(Value::as_str);
    let bridge = text(candidate, "controller").filter(|_| kind(candidate) == InterfaceKind::OvsInterface);
    let expelled = || moves(view).iter().any(|(port, to)| port == name(candidate) && to.is_empty());
    let is_lost = super::functions::going(view).any(|function| function == name(candidate));
    is_lost
        || base.is_some_and(|base| goes(changes, base, |kind| !kind.is_nic()))
        || peer.is_some_and(|peer| goes(changes, peer, |kind| *kind == InterfaceKind::Veth))
        || bridge.is_some_and(|bridge| {
            goes(changes, bridge, |kind| *kind == InterfaceKind::OvsBridge) || expelled()
        })
}

fn goes(changes: &[Change], device: &str, of_kind: fn(&InterfaceKind) -> bool) -> bool {
    changes.iter().filter(|change| change.kind == ChangeKind::Remove).any(|change| match &change.subject {
        Subject::Interface { name, kind } => name == device && of_kind(kind),
        _ => false,
    })
}

/// All interfaces whose profile or device may change.
pub(super) fn touched(view: &View<'_>, changes: &[Change]) -> BTreeSet<InterfaceName> {
    let mut touched: BTreeSet<InterfaceName> =
        changes.iter().filter_map(Change::interface).map(InterfaceName::from).collect();
    for change in changes {
        touched.extend(mentioned(view, change));
        touched.extend(bridge_of_foreign(view, change));
    }
    touched.extend(super::functions::made_anew(view).map(InterfaceName::from));
    touched.extend(interrupted(view, changes));
    touched
}

/// Ports of bonds that lose them for a moment, and what is on such a bond, which the kernel sets down and up with it: because
/// of an option, or because NetworkManager activates a bond anew that is no port any more.
fn interrupted(view: &View<'_>, changes: &[Change]) -> BTreeSet<InterfaceName> {
    let is_bond =
        |change: &Change| matches!(&change.subject, Subject::Interface { kind: InterfaceKind::Bond, .. });
    let loses_ports = |change: &&Change| {
        change.kind == ChangeKind::Modify
            && (change.details.iter().any(|detail| bond_option::interrupts(&detail.path))
                || (is_bond(change) && change.leaves_controller()))
    };
    let mut lower: Vec<&str> = changes.iter().filter(loses_ports).filter_map(Change::interface).collect();
    let ports = lower.iter().filter_map(|bond| view.now(bond, InterfaceKind::Bond)).filter_map(state::ports);
    let mut interrupted: BTreeSet<InterfaceName> = ports.flatten().map(InterfaceName::from).collect();
    while let Some(base) = lower.pop() {
        let on_it =
            |upper: &&Value| is_up(upper) && state::base(upper).is_some_and(|(_, below)| below == base);
        for upper in interfaces(view.observed).iter().filter(on_it).map(name) {
            if interrupted.insert(upper.into()) {
                lower.push(upper);
            }
        }
    }
    interrupted
}

/// A port of others that goes is taken from its bridge in the database, and must come back to it in a rollback.
fn bridge_of_foreign(view: &View<'_>, change: &Change) -> Option<InterfaceName> {
    let port = change.interface().filter(|_| change.kind == ChangeKind::Remove)?;
    view.now(port, InterfaceKind::Unknown).filter(|port| foreign_port::is_marked(port))?;
    let holds = |bridge: &&Value| state::ports(bridge).is_some_and(|ports| ports.contains(&port));
    interfaces(view.observed).iter().find(holds).map(|bridge| name(bridge).into())
}

fn mentioned(view: &View<'_>, change: &Change) -> Vec<InterfaceName> {
    let mut names = Vec::new();
    for detail in &change.details {
        let entries = [&detail.want, &detail.got];
        match (&change.subject, detail.path.last()) {
            (Subject::Interface { .. }, Some(PathStep::Key(key))) if key == "controller" => {
                names.extend(entries.iter().filter_map(|entry| entry.as_str()).map(InterfaceName::from));
            }
            (Subject::Interface { .. }, _) => names.extend(port_of(detail)),
            (Subject::Route { destination }, _) => names.extend(next_hops(view, destination, &entries)),
            (Subject::RouteRule { .. }, _) => {
                names.extend(entries.iter().filter_map(|rule| text(rule, "iif")).map(InterfaceName::from));
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// A port that is a detail of its controller's change.
fn port_of(detail: &Detail) -> Option<InterfaceName> {
    match detail.path.steps() {
        [.., PathStep::Key(list), PathStep::Item(port)] if list == "port" || list == "ports-config" => {
            Some(port.as_str().into())
        }
        _ => None,
    }
}

fn next_hops(view: &View<'_>, destination: &str, entries: &[&Value]) -> Vec<InterfaceName> {
    let hop = |route: &Value| text(route, "next-hop-interface").map(|hop| view.device(hop).into());
    let said: Vec<InterfaceName> = entries.iter().filter_map(|route| hop(route)).collect();
    if !said.is_empty() {
        return said;
    }
    let routes = list(view.desired, &["routes", "config"]).iter();
    routes.filter(|route| text(route, "destination") == Some(destination)).filter_map(hop).collect()
}

/// New interfaces, with what comes with them: the internal one of an OVS bridge, the other end of a veth pair.
pub(super) fn created(view: &View<'_>, changes: &[Change]) -> BTreeSet<InterfaceName> {
    let mut created = super::named(changes, ChangeKind::Add);
    let up = view.declared.iter().map(|declared| &declared.want).filter(|want| is_up(want));
    for want in up {
        let bridged =
            state::ports(want).filter(|_| kind(want) == InterfaceKind::OvsBridge).unwrap_or_default();
        let peer = state::at(want, &["veth", "peer"]).and_then(Value::as_str);
        let new = bridged.into_iter().chain(peer).map(|device| view.device(device));
        created.extend(
            new.filter(|device| view.now(device, InterfaceKind::Unknown).is_none()).map(InterfaceName::from),
        );
    }
    created
}
