//! What reverts a policy, as a state: what it changed becomes what it was. Pure.
//!
//! Kept for policies with `onDelete: Revert`. Unlike the snapshot of a transaction it must still make sense
//! months later, beside policies that came since: it speaks only of what the policy itself changed.

mod database;
mod merge;
mod neutral;

use serde_json::{Map, Value, json};

pub use merge::{without, younger};

use crate::facts::Facts;
use crate::foreign_port;
use crate::path::PathStep;
use crate::plan::{Change, ChangeKind, Detail, Plan, Subject};
use crate::state;

/// What undoes `plan` on the host that looked like `observed`.
pub fn inverse(plan: &Plan, observed: &Value, facts: &Facts) -> Value {
    let mut back = Map::new();
    let interfaces: Vec<Value> =
        plan.changes.iter().filter_map(|change| interface(change, observed, facts)).collect();
    if !interfaces.is_empty() {
        back.insert("interfaces".into(), interfaces.into());
    }
    for (section, is_meant) in [
        ("routes", (|s| matches!(s, Subject::Route { .. })) as fn(&Subject) -> bool),
        ("route-rules", |s| matches!(s, Subject::RouteRule { .. })),
    ] {
        let mut entries = undone(plan, is_meant);
        if section == "routes" {
            entries.extend(lost_routes(plan, observed));
        }
        if !entries.is_empty() {
            back.insert(section.into(), json!({ "config": entries }));
        }
    }
    for change in &plan.changes {
        match change.subject {
            Subject::Dns => {
                let config = state::at(observed, &["dns-resolver", "config"]).cloned();
                let config = config.filter(|c| c.as_object().is_some_and(|m| !m.is_empty()));
                back.insert(
                    "dns-resolver".into(),
                    json!({ "config": config.unwrap_or_else(|| json!({ "server": [], "search": [] })) }),
                );
            }
            Subject::Hostname => {
                let config = state::at(observed, &["hostname", "config"]).cloned();
                back.insert("hostname".into(), json!({ "config": config.unwrap_or_else(|| "".into()) }));
            }
            Subject::OvsDb => database::undo(change, &mut back),
            _ => {}
        }
    }
    Value::Object(back)
}

/// Adds what a policy makes to the host as it was, and its MTUs and the like: the next policy, which goes in together with it,
/// builds on that.
pub fn make(host: &mut Value, desired: &Value) {
    let Some(there) = host.get_mut("interfaces").and_then(Value::as_array_mut) else { return };
    for wanted in state::interfaces(desired).iter().filter(|i| state::is_up(i)) {
        let is_meant = |i: &&mut Value| {
            state::name(i) == state::name(wanted)
                && state::kind(i).is_userspace() == state::kind(wanted).is_userspace()
        };
        match there.iter_mut().find(is_meant) {
            None => there.push(wanted.clone()),
            Some(found) => {
                for (key, value) in wanted.as_object().into_iter().flatten() {
                    if value.is_number() {
                        found[key] = value.clone();
                    }
                }
            }
        }
    }
}

fn interface(change: &Change, observed: &Value, facts: &Facts) -> Option<Value> {
    let Subject::Interface { name, kind } = &change.subject else { return None };
    let userspace = kind.is_userspace();
    let former = state::interfaces(observed)
        .iter()
        .find(|i| *name == *state::name(i) && state::kind(i).is_userspace() == userspace);
    let gone = || json!({ "name": name, "type": kind, "state": "absent" });
    let Some(former) = former else {
        return (change.kind == ChangeKind::Add).then(gone);
    };
    let profiled = facts
        .profiles
        .iter()
        .any(|p| p.active_on.as_deref() == Some(name) || p.interface.as_deref() == Some(name));
    if !profiled && !state::kind(former).is_virtual() {
        // Nobody had configured the NIC: reverting leaves no profile at all.
        return Some(json!({ "name": name, "type": state::kind(former), "state": "absent" }));
    }
    match change.kind {
        ChangeKind::Persist => None,
        ChangeKind::Add => Some(gone()),
        ChangeKind::Remove => Some(plain(former, observed)),
        ChangeKind::Modify => Some(sections(change, former, observed)),
    }
}

/// The sections of the former interface that the change touched, whole: addresses without their method,
/// or ports without their bridge's options, would be a state that never was. What was not there gets the value that
/// means so, since NMState leaves alone what a document does not mention.
fn sections(change: &Change, former: &Value, observed: &Value) -> Value {
    let mut back = json!({ "name": former["name"], "type": former["type"], "state": former["state"] });
    let mut single = Map::new();
    if becomes_port(change) {
        for family in ["ipv4", "ipv6"] {
            back[family] = former.get(family).cloned().unwrap_or_else(|| json!({ "enabled": false }));
        }
    }
    for detail in &change.details {
        let Some(PathStep::Key(key)) = detail.path.steps().get(2) else { continue };
        if is_single(key) {
            single_property(key, detail, &mut single);
        } else if let Some(value) = former.get(key).cloned().or_else(|| neutral::section(key)) {
            back[key] = value;
        }
    }
    let mut back = plain(&back, observed);
    for detail in &change.details {
        neutral::fill(&mut back, detail.path.steps().get(2..).unwrap_or_default(), &detail.got);
    }
    if let Some(map) = back.as_object_mut() {
        map.extend(single);
    }
    back
}

/// A port has no addresses: they go although no document says so.
fn becomes_port(change: &Change) -> bool {
    change.details.iter().any(|detail| {
        matches!(detail.path.steps().get(2), Some(PathStep::Key(key)) if key == "controller")
            && detail.want.as_str().is_some_and(|controller| !controller.is_empty())
    })
}

/// Sections whose entries are each on their own: the driver's settings, scripts, names, keys of a database.
fn is_single(key: &str) -> bool {
    matches!(key, "ethtool" | "dispatch" | "alt-names" | "ovs-db")
}

fn single_property(key: &str, detail: &Detail, back: &mut Map<String, Value>) {
    let rest = detail.path.steps().get(3..).unwrap_or_default();
    match (key, rest) {
        ("alt-names", [PathStep::Item(name), ..]) => {
            let entry = if detail.got.is_null() {
                json!({ "name": name, "state": "absent" })
            } else {
                json!({ "name": name })
            };
            let entries = back.entry(key).or_insert_with(|| json!([]));
            entries.as_array_mut().into_iter().for_each(|entries| entries.push(entry.clone()));
        }
        // A null takes a key out of the database.
        ("ovs-db", [PathStep::Key(column), PathStep::Key(name)]) => {
            back.entry(key).or_insert_with(|| json!({}))[column][name] = detail.got.clone();
        }
        ("dispatch", [PathStep::Key(script)]) => {
            let former = detail.got.as_str().unwrap_or_default();
            back.entry(key).or_insert_with(|| json!({}))[script] = former.into();
        }
        // What the driver did not report before it has no value for.
        ("ethtool", _) if !detail.got.is_null() => {
            let section = back.entry(key).or_insert_with(|| json!({}));
            let place = rest.iter().fold(section, |place, step| match step {
                PathStep::Key(name) | PathStep::Item(name) => &mut place[name],
                PathStep::Index(_) => place,
            });
            *place = detail.got.clone();
        }
        _ => {}
    }
}

const READ_ONLY: [&str; 8] = [
    "min-mtu",
    "max-mtu",
    "permanent-mac-address",
    "driver",
    "pci-address",
    // Single settings of it are reverted, see above: all of them at once no driver takes.
    "ethtool",
    "profile-name",
    "identifier",
];

/// An observed interface as something to ask for: without what DHCP and the driver gave, and without ports that
/// others attached and may have taken away since.
fn plain(interface: &Value, observed: &Value) -> Value {
    let mut copy = interface.clone();
    foreign_port::unmark(&mut copy);
    foreign_port::without_foreign_ports(&mut copy, observed);
    let Some(map) = copy.as_object_mut() else { return copy };
    for key in READ_ONLY {
        map.shift_remove(key);
    }
    for family in ["ipv4", "ipv6"] {
        let Some(section) = map.get_mut(family).and_then(Value::as_object_mut) else { continue };
        if let Some(addresses) = section.get_mut("address").and_then(Value::as_array_mut) {
            addresses.retain(|a| a.get("valid-life-time").is_none() && !is_link_local(a));
        }
    }
    copy
}

fn is_link_local(address: &Value) -> bool {
    state::text(address, "ip").is_some_and(|ip| ip.starts_with("fe80:"))
}

/// What the change added must go, what it took away must come back.
pub fn undone(plan: &Plan, is_meant: fn(&Subject) -> bool) -> Vec<Value> {
    let details = plan.changes.iter().filter(|change| is_meant(&change.subject)).flat_map(|c| &c.details);
    details
        .filter_map(|detail| match (&detail.want, &detail.got) {
            (want @ Value::Object(_), Value::Null) if !state::is_absent(want) => {
                let mut absent = want.clone();
                absent["state"] = "absent".into();
                Some(absent)
            }
            (Value::Null, got @ Value::Object(_)) => Some(got.clone()),
            _ => None,
        })
        .collect()
}

/// Nobody asks for them to go: routes vanish with the addresses of their interface, and do not return with them.
fn lost_routes(plan: &Plan, observed: &Value) -> Vec<Value> {
    let loses = |change: &Change, name: &str| {
        let is_meant = matches!(&change.subject, Subject::Interface { name: changed, .. } if changed == name);
        let of_addresses = change.details.iter().any(|detail| {
            matches!(detail.path.steps().get(2), Some(PathStep::Key(key)) if key == "ipv4" || key == "ipv6")
        });
        is_meant && (change.kind == ChangeKind::Remove || of_addresses || becomes_port(change))
    };
    let routes = state::at(observed, &["routes", "config"]).and_then(Value::as_array);
    let through = |route: &&Value| {
        let name = state::text(route, "next-hop-interface").unwrap_or_default();
        plan.changes.iter().any(|change| loses(change, name))
    };
    routes.into_iter().flatten().filter(through).cloned().collect()
}

#[cfg(test)]
mod tests;
