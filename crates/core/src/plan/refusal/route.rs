//! Routes and mappings that lead nowhere.

use serde_json::Value;

use super::{alternatives, codes, exists};
use crate::compare::{Declared, View, route};
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, is_absent, is_up, kind, list, name, text};

pub(super) fn routes(view: &View<'_>) -> Vec<Diagnostic> {
    let at = Path::root().key("routes").key("config");
    let wanted = list(view.desired, &["routes", "config"]).iter().enumerate();
    let wanted = wanted.filter(|(_, route)| !is_absent(route) && text(route, "state") != Some("ignore"));
    wanted
        .filter_map(|(index, route)| next_hop(view, route, at.index(index).key("next-hop-interface")))
        .collect()
}

fn next_hop(view: &View<'_>, route: &Value, at: Path) -> Option<Diagnostic> {
    let hop = text(route, "next-hop-interface")?;
    let label = route::label(route);
    let family = if label.contains(':') { "ipv6" } else { "ipv4" };
    let unusable = |why: String| {
        let message = format!("the route to {label} leaves through {hop}, {why}");
        Some(Diagnostic::new(codes::NEXT_HOP_UNUSABLE, message).at(at.clone()))
    };
    let device = view.device(hop);
    let (declared, observed) = (view.declares(device), view.now(device, InterfaceKind::Unknown));
    if declared.is_some_and(|want| !is_up(want)) {
        return unusable("which the document removes".into());
    }
    if !exists(view, hop) && !is_implied_internal(view, hop) {
        let message = format!("the route to {label} leaves through {hop}, which does not exist");
        return Some(Diagnostic::new(codes::UNKNOWN_NEXT_HOP, message).at(at).hint(alternatives(view)));
    }
    let enabled = |interface: &'_ Value| state::flag(interface.get(family)?, "enabled");
    if declared.and_then(enabled).or_else(|| observed.and_then(enabled)) == Some(false) {
        return unusable(format!("which has {family} disabled"));
    }
    None
}

/// An OVS bridge brings an internal interface of its own name when it lists it as a port.
fn is_implied_internal(view: &View<'_>, device: &str) -> bool {
    let bridge = |declared: &Declared| {
        kind(&declared.want) == InterfaceKind::OvsBridge
            && name(&declared.want) == device
            && is_up(&declared.want)
    };
    view.declared.iter().any(bridge)
}

pub(super) fn mappings(view: &View<'_>) -> Vec<Diagnostic> {
    let wanted = list(view.desired, &["ovn", "bridge-mappings"]).iter().filter(|mapping| !is_absent(mapping));
    let missing = wanted.filter_map(|mapping| {
        let bridge = text(mapping, "bridge")?;
        let declared = view
            .declared
            .iter()
            .map(|declared| &declared.want)
            .find(|want| kind(want) == InterfaceKind::OvsBridge && name(want) == bridge);
        let present = declared.map_or_else(|| view.now(bridge, InterfaceKind::OvsBridge).is_some(), is_up);
        (!present).then(|| {
            let localnet = text(mapping, "localnet").unwrap_or_default();
            let message = format!("{localnet} is mapped to the bridge {bridge}, which does not exist");
            Diagnostic::new(codes::UNKNOWN_MAPPED_BRIDGE, message)
                .at(Path::root().key("ovn").key("bridge-mappings").item(localnet))
        })
    });
    missing.collect()
}
