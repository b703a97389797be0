//! Addresses that cannot be where they are declared.

use std::net::IpAddr;

use serde_json::Value;

use super::codes;
use crate::compare::{Declared, View};
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::state::{self, is_absent, is_up, kind, list, name, text};

/// Declared addresses that another interface has and keeps, and addresses on a port.
pub(super) fn addresses(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    for family in ["ipv4", "ipv6"] {
        if state::at(want, &[family, "enabled"]) != Some(&Value::Bool(true)) {
            continue;
        }
        if family == "ipv4" && has_nothing(view, want) {
            let message = format!("IPv4 of {} is enabled, but has neither an address nor DHCP", name(want));
            let hint = "add 'dhcp: true' or a list under 'address'; or set 'enabled: false'";
            let diagnostic = Diagnostic::new(codes::INCOMPLETE, message).at(path.key(family).key("enabled"));
            refusals.push(diagnostic.hint(hint));
        }
        if family == "ipv6" && is_autoconf_alone(view, want) {
            let message = format!(
                "IPv6 of {} has 'autoconf: true' without 'dhcp: true', which NetworkManager does not support",
                name(want)
            );
            let hint = "add 'dhcp: true': DHCPv6 is only used if the router announces it";
            let diagnostic = Diagnostic::new(codes::INCOMPLETE, message).at(path.key(family).key("autoconf"));
            refusals.push(diagnostic.hint(hint));
        }
        if let Some(controller) = keeps_controller(view, want) {
            let message =
                format!("{} is a port of {controller} and cannot have {family} enabled", name(want));
            refusals
                .push(Diagnostic::new(codes::PORT_WITH_ADDRESS, message).at(path.key(family).key("enabled")));
        }
        for (index, address) in list(want, &[family, "address"])
            .iter()
            .map(state::address)
            .enumerate()
            .filter_map(|(i, a)| Some((i, a?)))
        {
            if let Some(holder) = other_holder(view, want, family, address.addr()) {
                let message = format!("{address} of {} is already assigned to {holder}", name(want));
                let at = path.key(family).key("address").index(index);
                let hint = format!("remove it from {holder} in the same document");
                refusals.push(Diagnostic::new(codes::ADDRESS_TAKEN, message).at(at).hint(hint));
            }
        }
    }
    refusals
}

fn is_autoconf_alone(view: &View<'_>, want: &Value) -> bool {
    let said = |key: &str| state::at(want, &["ipv6", key]).and_then(Value::as_bool);
    let now = super::observed(view, want).and_then(|got| got.get("ipv6")).unwrap_or(&Value::Null);
    let leased = state::flag(now, "enabled") == Some(true) && state::flag(now, "dhcp") == Some(true);
    said("autoconf") == Some(true) && !said("dhcp").unwrap_or(leased)
}

/// NetworkManager disables IPv4 that has no address, no DHCP and no route. What the document does not say stays as it
/// is on the host; an empty list of addresses says that none are meant.
fn has_nothing(view: &View<'_>, want: &Value) -> bool {
    let now = super::observed(view, want).and_then(|got| got.get("ipv4")).unwrap_or(&Value::Null);
    let is_on = state::flag(now, "enabled") == Some(true);
    let said = |key: &str| state::at(want, &["ipv4", key]).filter(|value| !value.is_null());
    let dhcp = said("dhcp").or(now.get("dhcp").filter(|_| is_on)) == Some(&Value::Bool(true));
    let addresses = said("address").is_some() || (is_on && !list(now, &["address"]).is_empty());
    let has_route = |state: &Value| {
        list(state, &["routes", "config"]).iter().any(|route| {
            let out = text(route, "next-hop-interface").map(|hop| view.device(hop));
            let is_v4 = text(route, "destination").is_some_and(|destination| !destination.contains(':'));
            is_v4 && !is_absent(route) && out == Some(name(want))
        })
    };
    !dhcp && !addresses && !has_route(view.desired) && !has_route(view.observed)
}

/// The bridge or bond an interface is left in by the document.
fn keeps_controller(view: &View<'_>, want: &Value) -> Option<String> {
    let controller = ends_in(view, want)?;
    let found = || view.now(&controller, InterfaceKind::Unknown).map(kind);
    let declared =
        view.declared.iter().map(|declared| &declared.want).find(|other| name(other) == controller).map(kind);
    let carries_addresses =
        kind(want) == InterfaceKind::OvsInterface || declared.or_else(found) == Some(InterfaceKind::Vrf);
    (!carries_addresses).then_some(controller)
}

fn ends_in(view: &View<'_>, want: &Value) -> Option<String> {
    if let Some(controller) = text(want, "controller") {
        return Some(controller.to_owned()).filter(|controller| !controller.is_empty());
    }
    if let Some(controller) = view.claimed_by(name(want)) {
        return Some(name(controller).to_owned());
    }
    let now = text(super::observed(view, want)?, "controller").filter(|controller| !controller.is_empty())?;
    let released = view.declared_as(now).any(|want| !is_up(want) || state::ports(want).is_some());
    (!released).then(|| now.to_owned())
}

fn other_holder<'v>(view: &'v View<'_>, want: &Value, family: &str, ip: IpAddr) -> Option<&'v str> {
    if matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()) {
        return None;
    }
    let may_share = |interface: &Value| {
        matches!(kind(interface), InterfaceKind::Loopback | InterfaceKind::Dummy)
            || text(interface, "controller").is_some_and(|c| is_vrf(view, c))
    };
    let others = view.holders(ip).iter().filter(|other| name(other) != name(want));
    let mut holders = others.filter(|other| !may_share(other) && !may_share(want));
    holders.find(|other| keeps(view, other, family, ip)).map(|other| name(other))
}

fn is_vrf(view: &View<'_>, controller: &str) -> bool {
    let declared = view.declares(controller).map(kind);
    declared.or_else(|| view.now(controller, InterfaceKind::Vrf).map(kind)) == Some(InterfaceKind::Vrf)
}

fn keeps(view: &View<'_>, holder: &Value, family: &str, ip: IpAddr) -> bool {
    if view.claimed_by(name(holder)).is_some_and(|controller| kind(controller) != InterfaceKind::Vrf) {
        return false;
    }
    let Some(declared) = view.declares(name(holder)) else {
        return !loses_ground(view, holder);
    };
    let off = state::at(declared, &[family, "enabled"]) == Some(&Value::Bool(false));
    let listed = state::at(declared, &[family, "address"]).and_then(Value::as_array);
    let dropped =
        listed.is_some_and(|list| !list.iter().filter_map(state::address).any(|listed| listed.addr() == ip));
    is_up(declared) && !off && !dropped
}

/// The OVS bridge or the base that an undeclared interface lives on is taken away.
fn loses_ground(view: &View<'_>, holder: &Value) -> bool {
    let going = |device: &str, of_kind: fn(InterfaceKind) -> bool| {
        let wants = view.declared.iter().map(|declared| &declared.want);
        wants.filter(|want| name(want) == device && of_kind(kind(want))).any(is_absent)
    };
    let bridge = text(holder, "controller").filter(|_| kind(holder) == InterfaceKind::OvsInterface);
    bridge.is_some_and(|bridge| going(bridge, |kind| kind == InterfaceKind::OvsBridge))
        || state::base(holder).is_some_and(|(_, base)| going(base, |kind| !kind.is_nic()))
}
