//! Interfaces that are built on a base, or need a number or a partner of their own.

use serde_json::Value;

use super::view::{Interface, State, boolean, items, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;

const VLAN_IDS: std::ops::RangeInclusive<i128> = 0..=4094;
/// On a bridge, 0 means "no VLAN".
const BRIDGE_VLAN_IDS: std::ops::RangeInclusive<i128> = 1..=4094;
/// 24 bits.
const VXLAN_IDS: std::ops::RangeInclusive<i128> = 0..=16_777_215;

/// What the interface is built on, and where that is said.
pub(super) fn base_of<'a>(interface: &Interface<'a>) -> Option<(Path, &'a str)> {
    let section = interface.kind.base_section()?;
    let base = text(interface.get(section)?.get("base-iface")).filter(|base| !base.is_empty())?;
    Some((interface.path.key(section).key("base-iface"), base))
}

pub(super) fn bases(state: &State<'_>) -> Vec<Diagnostic> {
    state.up().filter_map(|interface| no_base(interface).or_else(|| absent_base(state, interface))).collect()
}

/// A section that is given has to be complete; one that is not leaves an existing interface as it is.
fn no_base(interface: &Interface<'_>) -> Option<Diagnostic> {
    let key = interface.kind.base_section().filter(|_| interface.kind.needs_base())?;
    let section = interface.get(key).filter(|section| section.is_object())?;
    if section.get("base-iface").is_some_and(|base| !base.is_null() && base.as_str() != Some("")) {
        return None;
    }
    let message = format!("'{}' has no base interface", interface.name);
    let diagnostic = Diagnostic::new(codes::NO_BASE, message).at(interface.path.key(key));
    Some(diagnostic.hint("add 'base-iface:' with the name of the interface below it"))
}

fn absent_base(state: &State<'_>, interface: &Interface<'_>) -> Option<Diagnostic> {
    let (path, base) = base_of(interface)?;
    if !state.removes(base) {
        return None;
    }
    let message =
        format!("'{base}', the base interface of '{}', is removed by this document", interface.name);
    Some(Diagnostic::new(codes::BASE_ABSENT, message).at(path).hint("remove both, or keep both"))
}

pub(super) fn vlans(state: &State<'_>) -> Vec<Diagnostic> {
    let hint = "use 1 to 4094 (0 marks frames that carry only a priority)";
    ids(state, &InterfaceKind::Vlan, &VLAN_IDS, codes::BAD_VLAN_ID, hint)
}

pub(super) fn vxlans(state: &State<'_>) -> Vec<Diagnostic> {
    ids(state, &InterfaceKind::Vxlan, &VXLAN_IDS, codes::BAD_VXLAN_ID, "use 0 to 16777215")
}

/// The interfaces of a type that shall be up, each with the section that is named like the type.
pub(super) fn of_kind<'s, 'a>(
    state: &'s State<'a>,
    kind: &'s InterfaceKind,
) -> impl Iterator<Item = (&'s Interface<'a>, (Path, &'a Value))> {
    let up = state.up().filter(move |interface| interface.kind == *kind);
    up.filter_map(|interface| Some((interface, interface.section(interface.kind.sections().get(..1)?)?)))
}

fn ids(
    state: &State<'_>,
    kind: &InterfaceKind,
    range: &std::ops::RangeInclusive<i128>,
    code: &'static str,
    hint: &str,
) -> Vec<Diagnostic> {
    let sections = of_kind(state, kind);
    sections
        .filter_map(|(interface, (path, section))| {
            let Some(id) = section.get("id") else {
                let message = format!("'{}' has no {kind} ID", interface.name);
                return Some(Diagnostic::new(code, message).at(path).hint("add 'id:'"));
            };
            out_of_range(Some(id), range, &path.key("id"), code, hint)
        })
        .collect()
}

fn out_of_range(
    value: Option<&Value>,
    range: &std::ops::RangeInclusive<i128>,
    path: &Path,
    code: &'static str,
    hint: &str,
) -> Option<Diagnostic> {
    let number = number(value).filter(|number| !range.contains(number))?;
    Some(Diagnostic::new(code, format!("the ID {number} is out of range")).at(path.clone()).hint(hint))
}

/// VLAN filtering on the ports of bridges.
pub(super) fn bridge_vlans(state: &State<'_>) -> Vec<Diagnostic> {
    let bridges =
        state.up().filter(|i| matches!(i.kind, InterfaceKind::LinuxBridge | InterfaceKind::OvsBridge));
    let lists = bridges.filter_map(|bridge| bridge.section(&["bridge"])).flat_map(|(path, section)| {
        ["port", "ports"].into_iter().flat_map(move |key| items(section.get(key), &path.key(key)))
    });
    lists.filter_map(|(path, port)| Some((path.key("vlan"), port.get("vlan")?))).flat_map(port_vlan).collect()
}

fn port_vlan((path, vlan): (Path, &Value)) -> Vec<Diagnostic> {
    let hint = "use 1 to 4094";
    let check =
        |value, path: &Path| out_of_range(value, &BRIDGE_VLAN_IDS, path, codes::BAD_BRIDGE_VLAN, hint);
    // NMState reads a tag of 0 as "none".
    let tag = vlan.get("tag").filter(|tag| number(Some(tag)) != Some(0));
    let mut found: Vec<Diagnostic> = check(tag, &path.key("tag")).into_iter().collect();
    for (path, trunk) in items(vlan.get("trunk-tags"), &path.key("trunk-tags")) {
        found.extend(check(trunk.get("id"), &path.key("id")));
        let Some(range) = trunk.get("id-range") else { continue };
        let path = path.key("id-range");
        found.extend(["min", "max"].into_iter().filter_map(|key| check(range.get(key), &path.key(key))));
        if let (Some(min), Some(max)) = (number(range.get("min")), number(range.get("max")))
            && min > max
        {
            let message = format!("the range {min} to {max} is reversed");
            found
                .push(Diagnostic::new(codes::BAD_BRIDGE_VLAN, message).at(path).hint("swap 'min' and 'max'"));
        }
    }
    found.extend(contradiction(&path, vlan));
    found.extend(overlap(&path, vlan));
    found
}

/// What only one of the two modes has.
fn contradiction(path: &Path, vlan: &Value) -> Option<Diagnostic> {
    let given = |key: &str| match vlan.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::Array(tags)) => !tags.is_empty(),
        _ => true,
    };
    let native = boolean(vlan.get("enable-native")) == Some(true);
    let (key, message, hint) = match vlan.get("mode").and_then(Value::as_str).unwrap_or_default() {
        "access" if given("trunk-tags") => (
            "trunk-tags",
            "a port in access mode has no trunk tags",
            "use 'mode: trunk', or remove 'trunk-tags:'",
        ),
        "access" if native => (
            "enable-native",
            "a port in access mode has no native VLAN",
            "use 'mode: trunk', or remove 'enable-native:'",
        ),
        "trunk" if given("tag") && number(vlan.get("tag")) != Some(0) && !native => (
            "tag",
            "in trunk mode the tag is that of the native VLAN, which is not enabled",
            "add 'enable-native: true', or list the tag under 'trunk-tags:'",
        ),
        _ => return None,
    };
    Some(Diagnostic::new(codes::BAD_BRIDGE_VLAN, message).at(path.key(key)).hint(hint))
}

/// The first of the trunk's tags that an earlier entry has already.
fn overlap(path: &Path, vlan: &Value) -> Option<Diagnostic> {
    let range = |tag: &Value| match (tag.get("id"), tag.get("id-range")) {
        (Some(id), _) => number(Some(id)).map(|id| (id, id)),
        (None, Some(range)) => Some((number(range.get("min"))?, number(range.get("max"))?)),
        _ => None,
    };
    let tags: Vec<(Path, (i128, i128))> = items(vlan.get("trunk-tags"), &path.key("trunk-tags"))
        .filter_map(|(path, tag)| Some((path, range(tag)?)))
        .collect();
    tags.iter().enumerate().find_map(|(index, (path, (min, max)))| {
        let (_, other) = tags[..index].iter().find(|(_, other)| other.0 <= *max && *min <= other.1)?;
        let said =
            |(min, max): (i128, i128)| if min == max { min.to_string() } else { format!("{min} to {max}") };
        let message = format!("{} and {} have tags in common", said((*min, *max)), said(*other));
        Some(Diagnostic::new(codes::BAD_BRIDGE_VLAN, message).at(path.clone()).hint("list each tag once"))
    })
}

pub(super) fn ipvlans(state: &State<'_>) -> Vec<Diagnostic> {
    let both = |section: &Value| {
        boolean(section.get("private")) == Some(true) && boolean(section.get("vepa")) == Some(true)
    };
    of_kind(state, &InterfaceKind::Ipvlan)
        .filter(|(_, (_, section))| both(section))
        .map(|(interface, (path, _))| {
            let message = format!("'{}' cannot be private and in VEPA mode at once", interface.name);
            Diagnostic::new(codes::IPVLAN_FLAGS, message)
                .at(path.key("vepa"))
                .hint("keep one of 'private:' and 'vepa:'")
        })
        .collect()
}

pub(super) fn veths(state: &State<'_>) -> Vec<Diagnostic> {
    let sections = of_kind(state, &InterfaceKind::Veth);
    sections
        .filter_map(|(interface, (path, section))| {
            let refuse = |message: String, path: Path| {
                let hint = "add 'peer:' with the name of the other end";
                Some(Diagnostic::new(codes::VETH_PEER, message).at(path).hint(hint))
            };
            match section.get("peer") {
                None | Some(Value::Null) => refuse(format!("'{}' has no peer", interface.name), path),
                Some(peer) if peer == "" => {
                    refuse(format!("'{}' has no peer", interface.name), path.key("peer"))
                }
                Some(peer) if peer == interface.name && !interface.name.is_empty() => {
                    refuse(format!("'{}' cannot be its own peer", interface.name), path.key("peer"))
                }
                Some(_) => None,
            }
        })
        .collect()
}

pub(super) fn mac_vlans(state: &State<'_>) -> Vec<Diagnostic> {
    let sections = of_kind(state, &InterfaceKind::MacVlan).chain(of_kind(state, &InterfaceKind::MacVtap));
    sections
        .filter_map(|(interface, (path, section))| match section.get("mode").and_then(Value::as_str) {
            None if section.get("mode").is_none_or(Value::is_null) => {
                let message = format!("'{}' has no mode", interface.name);
                let hint = "add 'mode:' with bridge, vepa, private, passthru or source";
                Some(Diagnostic::new(codes::MAC_VLAN_MODE, message).at(path).hint(hint))
            }
            Some(mode) if mode != "passthru" && boolean(section.get("promiscuous")) == Some(false) => {
                let message =
                    format!("'{}' cannot be without promiscuous mode in mode {mode}", interface.name);
                let hint = "use mode passthru, or remove 'promiscuous:'";
                Some(Diagnostic::new(codes::MAC_VLAN_MODE, message).at(path.key("promiscuous")).hint(hint))
            }
            _ => None,
        })
        .collect()
}

pub(super) fn vrfs(state: &State<'_>) -> Vec<Diagnostic> {
    let sections = of_kind(state, &InterfaceKind::Vrf);
    sections
        .filter(|(_, (_, section))| match section.get("route-table-id") {
            None | Some(Value::Null) => true,
            table => number(table) == Some(0),
        })
        .map(|(interface, (path, _))| {
            let message = format!("the VRF '{}' has no routing table", interface.name);
            let hint = "add 'route-table-id:' with a number that no other table has";
            Diagnostic::new(codes::VRF_TABLE, message).at(path).hint(hint)
        })
        .collect()
}
