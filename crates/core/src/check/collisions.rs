//! Interfaces that the kernel cannot have at once.

use serde_json::Value;

use super::bases::{base_of, of_kind};
use super::view::{Interface, State, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::virtual_function::is_reference;

/// On one base, a VLAN ID is there once.
pub(super) fn vlans(state: &State<'_>) -> Vec<Diagnostic> {
    let hint = "give one of them another 'id:' or 'base-iface:', or remove it";
    let identity = |interface: &Interface<'_>, section: &Value| {
        let (_, base) = base_of(interface)?;
        let protocol = text(section.get("protocol")).unwrap_or("802.1q");
        let id = number(section.get("id"))?;
        Some(Identity { of: format!("{base} {protocol} {id}"), shown: format!("VLAN {id} on '{base}'") })
    };
    twice(state, &InterfaceKind::Vlan, identity, hint)
}

/// The kernel tells VXLANs apart by ID, port and family: neither by their base nor by their partner.
pub(super) fn vxlans(state: &State<'_>) -> Vec<Diagnostic> {
    let hint = "give one of them another 'id:' or 'destination-port:', or remove it";
    let identity = |_: &Interface<'_>, section: &Value| {
        let id = number(section.get("id"))?;
        let port = number(section.get("destination-port")).unwrap_or(NETWORKMANAGERS_PORT);
        let is_v6 =
            ["local", "remote"].iter().any(|end| text(section.get(end)).is_some_and(|ip| ip.contains(':')));
        Some(Identity { of: format!("{id} {port} {is_v6}"), shown: format!("VXLAN {id} on port {port}") })
    };
    twice(state, &InterfaceKind::Vxlan, identity, hint)
}

const NETWORKMANAGERS_PORT: i128 = 8472;

struct Identity {
    of: String,
    shown: String,
}

fn twice(
    state: &State<'_>,
    kind: &InterfaceKind,
    identity: impl Fn(&Interface<'_>, &Value) -> Option<Identity>,
    hint: &str,
) -> Vec<Diagnostic> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    let mut found = Vec::new();
    for (interface, (path, section)) in of_kind(state, kind) {
        let Some(this) = identity(interface, section) else { continue };
        match seen.iter().find(|(_, other)| *other == this.of) {
            Some((other, _)) => {
                let message = format!("'{}' and '{other}' are both {}", interface.name, this.shown);
                found.push(Diagnostic::new(codes::COLLISION, message).at(path.key("id")).hint(hint));
            }
            None => seen.push((interface.name, this.of)),
        }
    }
    found
}

/// A base carries MAC-VLANs and MAC-VTAPs, or IPVLANs: the kernel lets only one of them receive on it.
pub(super) fn bases(state: &State<'_>) -> Vec<Diagnostic> {
    let is_mac = |kind: &InterfaceKind| matches!(kind, InterfaceKind::MacVlan | InterfaceKind::MacVtap);
    let on_base = || state.up().filter_map(|interface| Some((interface, base_of(interface)?)));
    let ipvlans = on_base().filter(|(interface, _)| interface.kind == InterfaceKind::Ipvlan);
    ipvlans
        .filter_map(|(ipvlan, (path, base))| {
            let (other, _) = on_base().find(|(other, (_, below))| is_mac(&other.kind) && *below == base)?;
            let message = format!(
                "'{base}' cannot have the IPVLAN '{}' and the {} '{}' at once",
                ipvlan.name, other.kind, other.name
            );
            let hint = "put one of them on another base, or give both the same type";
            Some(Diagnostic::new(codes::COLLISION, message).at(path).hint(hint))
        })
        .collect()
}

/// NMState resolves functions that are called by their number as interfaces and as ports, but not as bases.
pub(super) fn functions(state: &State<'_>) -> Vec<Diagnostic> {
    let bases = state.up().filter_map(|interface| Some((interface, base_of(interface)?)));
    bases
        .filter(|(_, (_, base))| is_reference(base))
        .map(|(interface, (path, base))| {
            let message =
                format!("the base of '{}' cannot be called by its number: '{base}'", interface.name);
            let hint = "use the name that the virtual function has on the host";
            Diagnostic::new(codes::NO_BASE, message).at(path).hint(hint)
        })
        .collect()
}
