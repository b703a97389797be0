//! The list of interfaces: keys, names, types, and each only once.

use std::collections::HashMap;

use serde_json::Value;

use super::MAX_DIAGNOSTICS;
use super::schema_errors::hint_for;
use super::view::{Interface, Presence, State, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::interface_name::{BadName, InterfaceName};
use crate::path::Path;
use crate::virtual_function::{VirtualFunction, is_reference};

pub(super) const TOP_KEYS: [&str; 8] =
    ["interfaces", "routes", "route-rules", "dns-resolver", "hostname", "ovs-db", "ovn", "description"];

/// What people call a type that NMState calls otherwise.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("bridge", "linux-bridge' or 'ovs-bridge"),
    ("br", "linux-bridge' or 'ovs-bridge"),
    ("nic", "ethernet"),
    ("eth", "ethernet"),
    ("physical", "ethernet"),
    ("tap", "tun"),
    ("team", "bond"),
    ("ovs-port", "ovs-interface"),
];

pub(super) const BASE_KEYS: [&str; 26] = [
    "name",
    "profile-name",
    "description",
    "type",
    "driver",
    "state",
    "identifier",
    "mac-address",
    "permanent-mac-address",
    "pci-address",
    "mtu",
    "min-mtu",
    "max-mtu",
    "wait-ip",
    "ipv4",
    "ipv6",
    "mptcp",
    "controller",
    "accept-all-mac-addresses",
    "copy-mac-from",
    "ovs-db",
    "802.1x",
    "lldp",
    "ethtool",
    "dispatch",
    "alt-names",
];

pub(super) fn top_keys(state: &State<'_>) -> Vec<Diagnostic> {
    let keys = state.value.as_object().into_iter().flat_map(|map| map.keys());
    let unknown = keys.filter(|key| !TOP_KEYS.contains(&key.as_str()));
    unknown
        .take(MAX_DIAGNOSTICS)
        .map(|key| {
            let diagnostic = Diagnostic::new(codes::UNKNOWN_KEY, format!("unknown key '{key}'"));
            diagnostic.at(Path::root().key(key)).hint(hint_for(key, &TOP_KEYS).unwrap_or_default())
        })
        .collect()
}

/// NMState silently drops keys of an interface that it does not know.
pub(super) fn keys(state: &State<'_>) -> Vec<Diagnostic> {
    let kept = state.interfaces.iter().filter(|i| !matches!(i.presence, Presence::Absent | Presence::Ignore));
    kept.flat_map(unknown_keys).take(MAX_DIAGNOSTICS).collect()
}

fn unknown_keys(interface: &Interface<'_>) -> Vec<Diagnostic> {
    let own: Vec<&str> = match &interface.kind {
        InterfaceKind::Unknown | InterfaceKind::Other(_) => {
            InterfaceKind::ALL.iter().flat_map(InterfaceKind::sections).copied().collect()
        }
        kind => kind.sections().to_vec(),
    };
    let known: Vec<&str> = BASE_KEYS.into_iter().chain(own).collect();
    let keys = interface.value.as_object().into_iter().flat_map(|map| map.keys());
    let unknown = keys.filter(|key| !known.contains(&key.as_str()));
    unknown.take(MAX_DIAGNOSTICS).map(|key| unknown_key(interface, key, &known)).collect()
}

fn unknown_key(interface: &Interface<'_>, key: &str, known: &[&str]) -> Diagnostic {
    let owners = InterfaceKind::ALL.iter().filter(|kind| kind.sections().contains(&key));
    let owners: Vec<&str> = owners.map(InterfaceKind::as_str).collect();
    let path = interface.path.key(key);
    if owners.is_empty() {
        let diagnostic =
            Diagnostic::new(codes::UNKNOWN_FIELD, format!("unknown field '{key}' of an interface"));
        return diagnostic.at(path).hint(hint_for(key, known).unwrap_or_default());
    }
    let message = format!("an interface of type '{}' has no '{key}'", interface.kind);
    Diagnostic::new(codes::UNKNOWN_FIELD, message)
        .at(path)
        .hint(format!("'{key}' belongs to type {}", owners.join(" or ")))
}

pub(super) fn names(state: &State<'_>) -> Vec<Diagnostic> {
    state.interfaces.iter().filter_map(name_fault).collect()
}

fn name_fault(interface: &Interface<'_>) -> Option<Diagnostic> {
    let path = interface.path.key("name");
    match interface.get("name") {
        Some(Value::String(name))
            if !name.is_empty() && (interface.name.is_empty() || interface.is_matched()) =>
        {
            None
        }
        Some(Value::String(name)) => bad_name(name, interface).map(|diagnostic| diagnostic.at(path)),
        Some(Value::Number(_) | Value::Bool(_)) => None,
        _ if !interface.value.is_object() => None,
        _ => Some(unnamed(interface)),
    }
}

fn unnamed(interface: &Interface<'_>) -> Diagnostic {
    let hint = match interface.is_matched() {
        true => "add 'name:'; with 'identifier:' it becomes the name of the profile",
        false => "add 'name:'",
    };
    Diagnostic::new(codes::UNNAMED, "this interface has no name").at(interface.path.clone()).hint(hint)
}

fn bad_name(name: &str, interface: &Interface<'_>) -> Option<Diagnostic> {
    if is_reference(name) && interface.kind.is_nic() {
        return bad_reference(name);
    }
    let bad = InterfaceName::check(name).err()?;
    let (code, hint) = match bad {
        BadName::Empty | BadName::Dots(_) => return Some(Diagnostic::new(codes::BAD_NAME, bad.to_string())),
        BadName::Character { .. } => (codes::BAD_NAME, "names have no spaces, '/', ':' or '%'"),
        BadName::TooLong { .. } if may_be_long(interface) => return None,
        BadName::TooLong { .. } => {
            (codes::LONG_NAME, "choose a shorter name; 'alt-names' may contain the long one")
        }
    };
    Some(Diagnostic::new(code, bad.to_string()).hint(hint))
}

fn bad_reference(name: &str) -> Option<Diagnostic> {
    if VirtualFunction::parse(name).is_some() {
        return None;
    }
    let message = format!("'{name}' does not name a virtual function");
    Some(Diagnostic::new(codes::BAD_NAME, message).hint("write the NIC and the number, as in sriov:eth1:0"))
}

/// The kernel never sees OVS bridges, patch and DPDK ports; their names are keys in a database.
fn may_be_long(interface: &Interface<'_>) -> bool {
    interface.kind.is_userspace() || interface.get("patch").is_some() || interface.get("dpdk").is_some()
}

pub(super) fn kinds(state: &State<'_>) -> Vec<Diagnostic> {
    let ours = state.interfaces.iter().filter(|interface| interface.presence != Presence::Ignore);
    ours.filter_map(unknown_kind).take(MAX_DIAGNOSTICS).collect()
}

fn unknown_kind(interface: &Interface<'_>) -> Option<Diagnostic> {
    let InterfaceKind::Other(kind) = &interface.kind else { return None };
    let known: Vec<&str> = InterfaceKind::ALL.iter().map(InterfaceKind::as_str).collect();
    let other = OTHER_WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(kind));
    let hint = match other {
        Some((_, meant)) => format!("did you mean '{meant}'?"),
        None => hint_for(kind, &known).unwrap_or_default(),
    };
    let diagnostic = Diagnostic::new(codes::UNKNOWN_TYPE, format!("unknown interface type '{kind}'"));
    Some(diagnostic.at(interface.path.key("type")).hint(hint))
}

/// An OVS bridge and its internal interface share a name; two kernel interfaces cannot.
pub(super) fn duplicates(state: &State<'_>) -> Vec<Diagnostic> {
    let mut seen: HashMap<(&str, Option<&InterfaceKind>), &Interface<'_>> = HashMap::new();
    let named = state.interfaces.iter().filter(|interface| !interface.name.is_empty());
    named
        .filter_map(|interface| {
            let userspace = Some(&interface.kind).filter(|kind| kind.is_userspace());
            let first = *seen.entry((interface.name, userspace)).or_insert(interface);
            (first.path != interface.path).then(|| twice(interface, first))
        })
        .collect()
}

fn twice(interface: &Interface<'_>, first: &Interface<'_>) -> Diagnostic {
    let position = first.path.last().map_or(0, |step| match step {
        crate::path::PathStep::Index(index) => index + 1,
        _ => 0,
    });
    let message = format!("the interface '{}' is already entry {position} of this list", interface.name);
    let hint = "merge the two entries into one";
    Diagnostic::new(codes::INTERFACE_TWICE, message).at(interface.path.key("name")).hint(hint)
}

/// NMState looks for such a device among those of its type only.
fn untyped(interface: &Interface<'_>, identifier: &str) -> Diagnostic {
    let message = format!("'identifier: {identifier}' needs 'type', which is missing");
    let diagnostic = Diagnostic::new(codes::IDENTIFIER, message).at(interface.path.key("identifier"));
    diagnostic.hint("add the type of the device, such as 'type: ethernet'")
}

/// NMState reports tun devices, and ignores them when it applies a state.
pub(super) fn only_shown(state: &State<'_>) -> Vec<Diagnostic> {
    let declared = state.interfaces.iter().filter(|interface| interface.presence != Presence::Ignore);
    declared
        .filter(|interface| interface.kind == InterfaceKind::Tun)
        .map(|interface| tun(interface.name).at(interface.path.key("type")))
        .collect()
}

/// Why a tun or tap interface cannot be declared.
pub(crate) fn tun(name: &str) -> Diagnostic {
    let message = format!("'{name}' is a tun or tap interface, which NMState can only show");
    let hint = "remove it from the document, or set 'state: ignore'; the program that made it configures it";
    Diagnostic::new(codes::ONLY_SHOWN, message).hint(hint)
}

pub(super) fn identifiers(state: &State<'_>) -> Vec<Diagnostic> {
    state.interfaces.iter().filter_map(incomplete_identifier).collect()
}

fn incomplete_identifier(interface: &Interface<'_>) -> Option<Diagnostic> {
    let wanted = text(interface.get("identifier")).filter(|_| interface.is_matched())?;
    if interface.presence == Presence::Absent {
        return None;
    }
    if interface.get(wanted).is_some_and(|value| !value.is_null()) {
        return interface.get("type").is_none_or(Value::is_null).then(|| untyped(interface, wanted));
    }
    let message = format!("'identifier: {wanted}' needs '{wanted}', which is missing");
    let hint = format!("add '{wanted}:' with the address of the device");
    Some(Diagnostic::new(codes::IDENTIFIER, message).at(interface.path.key("identifier")).hint(hint))
}
