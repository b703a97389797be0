//! Open vSwitch: bridges, the keys of its database, and OVN's bridge mappings.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::bridge::{Ports, filter};
use super::findings::Findings;
use super::interface::without;
use super::view::{Declared, View};
use crate::interface_kind::{InterfaceKind, Requirement};
use crate::path::Path;
use crate::state::{self, flag, is_absent, kind, list, name, text};

pub(super) fn bridge(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let (want, at) = (&declared.want["bridge"], declared.path.key("bridge"));
    found.holds(&at.key("options"), &want["options"], state::at(got, &["bridge", "options"]));
    let Some(wanted) = want.get("port").and_then(Value::as_array) else {
        return;
    };
    // A bridge without ports cannot live: it gets an internal interface of its own name.
    let own = [json!({"name": name(&declared.want)})];
    let wanted: &[Value] = if wanted.is_empty() { &own } else { wanted };
    let got = visible_ports(view, want, list(got, &["bridge", "port"]));
    let extra = flag(want, "allow-extra-ports") == Some(true);
    Ports { view, bridge: &declared.want, at: at.key("port"), got: &got, extra }.compare(wanted, port, found);
}

/// A new bridge that says nothing of ports gets an internal interface of its own name.
pub(super) fn implied_interface(view: &View<'_>, want: &Value, found: &mut Findings) {
    let before = view.was(name(want), InterfaceKind::OvsBridge).and_then(state::ports);
    let without_ports = state::ports(want).or(before).is_none_or(|ports| ports.is_empty());
    if kind(want) == InterfaceKind::OvsBridge
        && without_ports
        && view.now(name(want), InterfaceKind::OvsInterface).is_none()
    {
        found.missing(
            Path::interface(name(want)).key("bridge").key("port").item(name(want)),
            json!({"name": name(want)}),
        );
    }
}

/// Patch ports to another bridge belong to whoever made them, if the document says so.
fn visible_ports(view: &View<'_>, want: &Value, got: &[Value]) -> Vec<Value> {
    let others = flag(want, "allow-extra-patch-ports") == Some(true);
    let declared = state::list(want, &["port"]);
    let is_foreign_patch = |port: &&Value| {
        let interface = view.now(name(port), InterfaceKind::OvsInterface);
        let patch = interface.is_some_and(|interface| interface.get("patch").is_some_and(Value::is_object));
        others && patch && !declared.iter().any(|entry| name(entry) == name(port))
    };
    got.iter().filter(|port| !is_foreign_patch(port)).cloned().collect()
}

fn port(view: &View<'_>, at: &Path, want: &Value, got: &Value, found: &mut Findings) {
    if let Some(vlan) = want.get("vlan").filter(|vlan| !vlan.is_null()) {
        filter(&at.key("vlan"), vlan, got.get("vlan"), found);
    }
    if let Some(bond) = want.get("link-aggregation").filter(|bond| !bond.is_null()) {
        bond_port(view, &at.key("link-aggregation"), bond, got.get("link-aggregation"), found);
    }
}

fn bond_port(view: &View<'_>, at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    found.holds(at, &without(want, &["port", "ovs-db"]), got);
    if let Some(database) = want.get("ovs-db") {
        keys(&at.key("ovs-db"), database, got.and_then(|got| got.get("ovs-db")), false, found);
    }
    let members = |bond: &Value| -> Option<Vec<String>> {
        let members = bond.get("port")?.as_array()?;
        Some(members.iter().map(|member| view.device(name(member)).to_owned()).collect())
    };
    let (Some(wanted), had) = (members(want), got.and_then(members).unwrap_or_default()) else {
        return;
    };
    for member in wanted.iter().filter(|member| !had.contains(member)) {
        found.missing(at.key("port").item(member), json!({"name": member}));
    }
    for member in had.iter().filter(|member| !wanted.contains(member)) {
        found.surplus(at.key("port").item(member), json!({"name": member}));
    }
}

/// Keys of a database map: a value must be there, a null must not; an empty map empties the whole column
/// where `purges` says that NMState does so.
pub(super) fn keys(at: &Path, want: &Value, got: Option<&Value>, purges: bool, found: &mut Findings) {
    for column in ["external_ids", "other_config"] {
        let Some(wanted) = want.get(column).and_then(Value::as_object) else {
            continue;
        };
        let had = got.and_then(|got| got.get(column));
        for (key, value) in by_key(wanted) {
            let (at, had) = (at.key(column).key(key), had.and_then(|had| had.get(key)));
            match (value, had) {
                (Value::Null, Some(had)) if !had.is_null() => found.surplus(at, had.clone()),
                (Value::Null, _) => {}
                (value, had) => found.equal(&at, value, had.unwrap_or(&Value::Null)),
            }
        }
        if purges && wanted.is_empty() {
            purged(&at.key(column), had, found);
        }
    }
}

fn purged(at: &Path, had: Option<&Value>, found: &mut Findings) {
    for (key, value) in had.and_then(Value::as_object).map(by_key).into_iter().flatten() {
        found.surplus(at.key(key), value.clone());
    }
}

/// NMState hands these maps over in random order.
pub(crate) fn by_key(map: &Map<String, Value>) -> BTreeMap<&String, &Value> {
    map.iter().collect()
}

pub(super) fn database(view: &View<'_>, found: &mut Findings) {
    let Some(want) = view.desired.get("ovs-db").filter(|want| want.is_object()) else {
        return;
    };
    let (at, had) = (Path::root().key("ovs-db"), view.observed.get("ovs-db"));
    keys(&at, want, had, true, found);
    if want.get("external_ids").is_none() && want.get("other_config").is_none() {
        for column in ["external_ids", "other_config"] {
            purged(&at.key(column), had.and_then(|had| had.get(column)), found);
        }
    }
}

pub(super) fn mappings(view: &View<'_>, found: &mut Findings) {
    let at = Path::root().key("ovn").key("bridge-mappings");
    let had = list(view.observed, &["ovn", "bridge-mappings"]);
    for want in list(view.desired, &["ovn", "bridge-mappings"]) {
        let localnet = text(want, "localnet").unwrap_or_default();
        let had = had.iter().find(|had| text(had, "localnet") == Some(localnet));
        let bridge = |mapping: &Value| mapping.get("bridge").cloned().unwrap_or(Value::Null);
        match (is_absent(want), had) {
            (true, Some(had)) => found.surplus(at.item(localnet), bridge(had)),
            (false, None) => found.missing(at.item(localnet), bridge(want)),
            (false, Some(had)) => {
                found.holds(&at.item(localnet).key("bridge"), &bridge(want), Some(&bridge(had)))
            }
            (true, None) => {}
        }
    }
}

/// Whether a declared state needs Open vSwitch to be running.
pub(crate) fn needs_ovs(desired: &Value) -> bool {
    let ovs = |interface: &Value| {
        kind(interface).requirement() == Requirement::OpenVswitch && !is_absent(interface)
    };
    let speaks = |key| {
        desired.get(key).is_some_and(|section: &Value| section.as_object().is_some_and(|o| !o.is_empty()))
    };
    state::interfaces(desired).iter().any(ovs) || speaks("ovs-db") || speaks("ovn")
}
