//! What cannot be applied to this host, found before anything is touched.

use std::net::IpAddr;

use serde_json::Value;

use super::codes;
use crate::compare::{Declared, View, ovs, route};
use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::path::Path;
use crate::state::{self, interface, interfaces, is_absent, is_up, kind, list, name, text};

pub(super) fn find(view: &View<'_>, facts: &Facts) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    if ovs::needs_ovs(view.desired) && !facts.ovs_running {
        refusals.push(
            Diagnostic::new(
                codes::OVS_NOT_RUNNING,
                "the document needs Open vSwitch, which does not run on this host",
            )
            .at(Path::root())
            .hint("start Open vSwitch, or take its parts out of the document"),
        );
    }
    for declared in view.declared.iter().filter(|declared| is_up(&declared.want)) {
        let checks = [
            identity,
            existence,
            ports,
            base,
            controller,
            mac_source,
            mtu,
            loopback,
            addresses,
            completeness,
        ];
        refusals.extend(checks.iter().flat_map(|check| check(view, declared)));
    }
    refusals.extend(routes(view));
    refusals.extend(mappings(view));
    refusals
}

/// On this host, or made by the document and not taken away by it.
fn exists(view: &View<'_>, called: &str) -> bool {
    let device = view.device(called);
    match view.declares(device) {
        Some(want) if !is_up(want) => {
            interface(view.observed, device, "unknown").is_some_and(|got| !state::is_virtual(got))
        }
        Some(_) => true,
        None => interface(view.observed, device, "unknown").is_some() || is_new_peer(view, device),
    }
}

fn is_new_peer(view: &View<'_>, device: &str) -> bool {
    let peer = |declared: &Declared| {
        state::at(&declared.want, &["veth", "peer"]).and_then(Value::as_str) == Some(device)
    };
    view.declared.iter().any(|declared| is_up(&declared.want) && peer(declared))
}

fn observed<'v>(view: &'v View<'_>, want: &Value) -> Option<&'v Value> {
    interface(view.observed, name(want), kind(want))
}

fn identity(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let unmatched = |key: &str| observed(view, want).is_none_or(|got| got.get(key).is_none());
    let said = |key: &str| text(want, key).unwrap_or("none given").to_owned();
    match text(want, "identifier") {
        Some("mac-address") if unmatched("mac-address") => {
            let message = format!(
                "no device has the MAC address {} that {} is identified by",
                said("mac-address"),
                name(want)
            );
            vec![Diagnostic::new(codes::NO_SUCH_DEVICE, message).at(path.key("mac-address"))]
        }
        Some("pci-address") if unmatched("pci-address") => {
            let message = format!(
                "no device has the PCI address {} that {} is identified by",
                said("pci-address"),
                name(want)
            );
            vec![Diagnostic::new(codes::NO_SUCH_DEVICE, message).at(path.key("pci-address"))]
        }
        _ => Vec::new(),
    }
}

fn existence(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let named = interfaces(view.observed).iter().filter(|known| name(known) == name(want)).count();
    let untyped = kind(state::interface(view.desired, name(want), "unknown").unwrap_or(want)) == "unknown";
    if untyped && named > 1 {
        let message = format!("{} is both an Open vSwitch bridge and its internal interface", name(want));
        return vec![
            Diagnostic::new(codes::AMBIGUOUS_INTERFACE, message).at(path.clone()).hint("add a type"),
        ];
    }
    match observed(view, want) {
        None if text(want, "identifier").is_some_and(|identifier| identifier != "name") => Vec::new(),
        None if is_found_not_made(view, want) => {
            let message = format!("this host has no interface {}", name(want));
            vec![
                Diagnostic::new(codes::UNKNOWN_INTERFACE, message)
                    .at(path.key("name"))
                    .hint(alternatives(view)),
            ]
        }
        Some(got)
            if !state::same_kind(kind(want), kind(got))
                && kind(got) != "unknown"
                && !replaced_tun(want, got) =>
        {
            let message = format!("{} is of type {} on this host, not {}", name(want), kind(got), kind(want));
            vec![Diagnostic::new(codes::OTHER_TYPE, message).at(path.key("type"))]
        }
        _ => Vec::new(),
    }
}

/// With a userspace datapath the kernel shows an OVS internal interface as a tun device.
fn replaced_tun(want: &Value, got: &Value) -> bool {
    kind(want) == "ovs-interface" && kind(got) == "tun"
}

fn is_found_not_made(view: &View<'_>, want: &Value) -> bool {
    let nic = kind(want) == "ethernet" && state::at(want, &["veth", "peer"]).is_none();
    (nic && !is_new_peer(view, name(want)) && !name(want).starts_with("sriov:")) || kind(want) == "unknown"
}

fn alternatives(view: &View<'_>) -> String {
    let nics = interfaces(view.observed).iter().filter(|nic| matches!(kind(nic), "ethernet" | "veth"));
    let names: Vec<&str> = nics.map(name).take(8).collect();
    if names.is_empty() {
        "this host has no NIC".into()
    } else {
        format!("this host has {}", names.join(", "))
    }
}

fn ports(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let list = match kind(want) {
        "bond" if state::at(want, &["link-aggregation", "port"]).is_none() => {
            path.key("link-aggregation").key("ports-config")
        }
        "bond" => path.key("link-aggregation").key("port"),
        "vrf" => path.key("vrf").key("port"),
        _ => path.key("bridge").key("port"),
    };
    let implied = |port: &str| kind(want) == "ovs-bridge" && port == name(want);
    let unknown = state::ports(want)
        .unwrap_or_default()
        .into_iter()
        .filter(|port| !exists(view, port) && !implied(port));
    let refusal = |port: &str| {
        let message = format!("port {port} of {} exists nowhere", name(want));
        Diagnostic::new(codes::UNKNOWN_PORT, message).at(list.item(port)).hint(match kind(want) {
            "ovs-bridge" => format!(
                "declare {port} with type ovs-interface if Open vSwitch should make it; {}",
                alternatives(view)
            ),
            _ => alternatives(view),
        })
    };
    unknown.map(refusal).collect()
}

fn base(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let Some((section, base)) = state::base(want) else {
        return Vec::new();
    };
    let at = path.key(section).key("base-iface");
    if view
        .declares(view.device(base))
        .is_some_and(|base| is_absent(base) && !matches!(kind(base), "ethernet" | "veth"))
    {
        let message = format!("{} sits on {base}, which the document removes", name(want));
        return vec![Diagnostic::new(codes::BASE_GOES, message).at(at)];
    }
    if exists(view, base) {
        return Vec::new();
    }
    let message = format!("the base interface {base} of {} exists nowhere", name(want));
    vec![Diagnostic::new(codes::UNKNOWN_BASE, message).at(at).hint(alternatives(view))]
}

fn controller(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let Some(controller) = text(want, "controller").filter(|controller| !controller.is_empty()) else {
        return Vec::new();
    };
    let made =
        view.declared.iter().any(|declared| name(&declared.want) == controller && is_up(&declared.want));
    if made || interfaces(view.observed).iter().any(|known| name(known) == controller) {
        return Vec::new();
    }
    let message = format!("the controller {controller} of {} exists nowhere", name(want));
    vec![Diagnostic::new(codes::UNKNOWN_CONTROLLER, message).at(path.key("controller"))]
}

fn mac_source(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let Some(source) = text(want, "copy-mac-from") else {
        return Vec::new();
    };
    let device = view.device(source);
    let declared = view.declares(device).filter(|nic| is_up(nic));
    let known = [declared, interface(view.observed, device, "unknown")].into_iter().flatten();
    let has_mac = |nic: &Value| {
        ["mac-address", "permanent-mac-address"]
            .iter()
            .any(|key| text(nic, key).is_some_and(|mac| !mac.is_empty()))
    };
    if known.into_iter().any(has_mac) {
        return Vec::new();
    }
    let message = format!("{} copies its MAC address from {source}, whose address is not known", name(want));
    vec![
        Diagnostic::new(codes::UNKNOWN_MAC_SOURCE, message)
            .at(path.key("copy-mac-from"))
            .hint(alternatives(view)),
    ]
}

fn mtu(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let number = |interface: &Value, key: &str| interface.get(key).and_then(Value::as_u64);
    let Some(mtu) = number(want, "mtu").filter(|_| kind(want) != "ovs-bridge") else {
        return Vec::new();
    };
    let at = path.key("mtu");
    let limits = observed(view, want).map(|got| (number(got, "min-mtu"), number(got, "max-mtu")));
    if let Some((Some(least), Some(most))) = limits.filter(|limits| *limits != (Some(0), Some(0))) {
        if mtu < least || (most > 0 && mtu > most) {
            let message = format!("{} accepts an MTU of {least} to {most}, not {mtu}", name(want));
            return vec![Diagnostic::new(codes::MTU_OUT_OF_RANGE, message).at(at)];
        }
    }
    let Some(base) = state::base(want)
        .filter(|(section, _)| matches!(*section, "vlan" | "mac-vlan"))
        .map(|(_, base)| view.device(base))
    else {
        return Vec::new();
    };
    let declared = view.declares(base).and_then(|base| number(base, "mtu"));
    match declared.or_else(|| number(interface(view.observed, base, "unknown")?, "mtu")) {
        Some(below) if mtu > below => {
            let message =
                format!("{} has an MTU of {mtu}, its base interface {base} only {below}", name(want));
            vec![
                Diagnostic::new(codes::MTU_ABOVE_BASE, message)
                    .at(at)
                    .hint(format!("declare mtu: {mtu} for {base} as well")),
            ]
        }
        _ => Vec::new(),
    }
}

fn loopback(_: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let refuse = |message: String, at: Path| vec![Diagnostic::new(codes::LOOPBACK, message).at(at)];
    if name(want) == "lo" && state::at(want, &["ipv4", "enabled"]) == Some(&Value::Bool(false)) {
        return refuse(
            "the loopback interface cannot be without IPv4".into(),
            path.key("ipv4").key("enabled"),
        );
    }
    match (state::ports(want), state::base(want)) {
        (Some(ports), _) if ports.contains(&"lo") => {
            refuse(format!("the loopback interface cannot be a port of {}", name(want)), path.clone())
        }
        (_, Some((section, "lo"))) if section != "vxlan" && section != "ip-tunnel" => refuse(
            format!("{} cannot sit on the loopback interface", name(want)),
            path.key(section).key("base-iface"),
        ),
        _ => Vec::new(),
    }
}

/// Declared addresses that another interface has and keeps, and addresses on a port.
fn addresses(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    for family in ["ipv4", "ipv6"] {
        if state::at(want, &[family, "enabled"]) != Some(&Value::Bool(true)) {
            continue;
        }
        if let Some(controller) = keeps_controller(view, want) {
            let message =
                format!("{} is a port of {controller} and cannot have {family} switched on", name(want));
            refusals
                .push(Diagnostic::new(codes::PORT_WITH_ADDRESS, message).at(path.key(family).key("enabled")));
        }
        for (index, (ip, prefix)) in list(want, &[family, "address"])
            .iter()
            .map(state::address)
            .enumerate()
            .filter_map(|(i, a)| Some((i, a?)))
        {
            if let Some(holder) = other_holder(view, want, family, ip) {
                let message = format!("{ip}/{prefix} of {} is on {holder}, where it would stay", name(want));
                let at = path.key(family).key("address").index(index);
                let hint = format!("take it away from {holder} in the same document");
                refusals.push(Diagnostic::new(codes::ADDRESS_TAKEN, message).at(at).hint(hint));
            }
        }
    }
    refusals
}

/// The bridge or bond an interface is left in by the document.
fn keeps_controller(view: &View<'_>, want: &Value) -> Option<String> {
    let controller = ends_in(view, want)?;
    let found = || interface(view.observed, &controller, "unknown").map(kind);
    let declared =
        view.declared.iter().map(|declared| &declared.want).find(|other| name(other) == controller).map(kind);
    let carries_addresses = kind(want) == "ovs-interface" || declared.or_else(found) == Some("vrf");
    (!carries_addresses).then_some(controller)
}

fn ends_in(view: &View<'_>, want: &Value) -> Option<String> {
    if let Some(controller) = text(want, "controller") {
        return Some(controller.to_owned()).filter(|controller| !controller.is_empty());
    }
    let lists = |declared: &&Declared| {
        is_up(&declared.want)
            && state::ports(&declared.want)
                .is_some_and(|ports| ports.iter().any(|port| view.device(port) == name(want)))
    };
    if let Some(declared) = view.declared.iter().find(lists) {
        return Some(name(&declared.want).to_owned());
    }
    let now = text(observed(view, want)?, "controller").filter(|controller| !controller.is_empty())?;
    let released = view.declared.iter().any(|declared| {
        name(&declared.want) == now && (!is_up(&declared.want) || state::ports(&declared.want).is_some())
    });
    (!released).then(|| now.to_owned())
}

fn other_holder<'v>(view: &'v View<'_>, want: &Value, family: &str, ip: IpAddr) -> Option<&'v str> {
    if matches!(ip, IpAddr::V6(ip) if ip.segments()[0] & 0xffc0 == 0xfe80) {
        return None;
    }
    let may_share = |interface: &Value| {
        matches!(kind(interface), "loopback" | "dummy")
            || text(interface, "controller").is_some_and(|c| is_vrf(view, c))
    };
    let holds =
        |other: &&Value| name(other) != name(want) && state::addresses(other).any(|(held, _)| held == ip);
    let mut holders =
        interfaces(view.observed).iter().filter(holds).filter(|other| !may_share(other) && !may_share(want));
    holders.find(|other| keeps(view, other, family, ip)).map(name)
}

fn is_vrf(view: &View<'_>, controller: &str) -> bool {
    let declared = view.declares(controller).map(kind);
    declared.or_else(|| interface(view.observed, controller, "vrf").map(kind)) == Some("vrf")
}

fn keeps(view: &View<'_>, holder: &Value, family: &str, ip: IpAddr) -> bool {
    let becomes_port = |declared: &Declared| {
        is_up(&declared.want)
            && kind(&declared.want) != "vrf"
            && state::ports(&declared.want)
                .is_some_and(|ports| ports.iter().any(|port| view.device(port) == name(holder)))
    };
    if view.declared.iter().any(becomes_port) {
        return false;
    }
    let Some(declared) = view.declares(name(holder)) else {
        return !loses_ground(view, holder);
    };
    let off = state::at(declared, &[family, "enabled"]) == Some(&Value::Bool(false));
    let listed = state::at(declared, &[family, "address"]).and_then(Value::as_array);
    let dropped =
        listed.is_some_and(|list| !list.iter().filter_map(state::address).any(|(listed, _)| listed == ip));
    is_up(declared) && !off && !dropped
}

/// The OVS bridge or the base that an undeclared interface lives on is taken away.
fn loses_ground(view: &View<'_>, holder: &Value) -> bool {
    let going = |device: &str, of_kind: fn(&str) -> bool| {
        let wants = view.declared.iter().map(|declared| &declared.want);
        wants.filter(|want| name(want) == device && of_kind(kind(want))).any(is_absent)
    };
    let bridge = text(holder, "controller").filter(|_| kind(holder) == "ovs-interface");
    bridge.is_some_and(|bridge| going(bridge, |kind| kind == "ovs-bridge"))
        || state::base(holder)
            .is_some_and(|(_, base)| going(base, |kind| !matches!(kind, "ethernet" | "veth")))
}

fn completeness(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    if observed(view, want).is_some() {
        return Vec::new();
    }
    let lacks = match kind(want) {
        "bond" if state::at(want, &["link-aggregation", "mode"]).is_none() => ("link-aggregation", "mode"),
        "vrf" if state::at(want, &["vrf", "route-table-id"]).and_then(Value::as_u64).unwrap_or(0) == 0 => {
            ("vrf", "route-table-id")
        }
        "vlan" if state::base(want).is_none() => ("vlan", "base-iface"),
        "veth" if state::at(want, &["veth", "peer"]).is_none() && !is_new_peer(view, name(want)) => {
            ("veth", "peer")
        }
        _ => return Vec::new(),
    };
    let message =
        format!("{} does not exist yet, and to make it {}.{} must be said", name(want), lacks.0, lacks.1);
    vec![Diagnostic::new(codes::INCOMPLETE, message).at(path.key(lacks.0))]
}

fn routes(view: &View<'_>) -> Vec<Diagnostic> {
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
    let (declared, observed) = (view.declares(device), interface(view.observed, device, "unknown"));
    if declared.is_some_and(|want| !is_up(want)) {
        return unusable("which the document takes away".into());
    }
    if !exists(view, hop) && !is_implied_internal(view, hop) {
        let message = format!("the route to {label} leaves through {hop}, which exists nowhere");
        return Some(Diagnostic::new(codes::UNKNOWN_NEXT_HOP, message).at(at).hint(alternatives(view)));
    }
    let enabled = |interface: &'_ Value| state::flag(interface.get(family)?, "enabled");
    if declared.and_then(enabled).or_else(|| observed.and_then(enabled)) == Some(false) {
        return unusable(format!("which has {family} switched off"));
    }
    None
}

/// An OVS bridge brings an internal interface of its own name when it lists it as a port.
fn is_implied_internal(view: &View<'_>, device: &str) -> bool {
    let bridge = |declared: &Declared| {
        kind(&declared.want) == "ovs-bridge" && name(&declared.want) == device && is_up(&declared.want)
    };
    view.declared.iter().any(bridge)
}

fn mappings(view: &View<'_>) -> Vec<Diagnostic> {
    let wanted = list(view.desired, &["ovn", "bridge-mappings"]).iter().filter(|mapping| !is_absent(mapping));
    let missing = wanted.filter_map(|mapping| {
        let bridge = text(mapping, "bridge")?;
        let declared = view
            .declared
            .iter()
            .map(|declared| &declared.want)
            .find(|want| kind(want) == "ovs-bridge" && name(want) == bridge);
        let present =
            declared.map_or_else(|| interface(view.observed, bridge, "ovs-bridge").is_some(), is_up);
        (!present).then(|| {
            let localnet = text(mapping, "localnet").unwrap_or_default();
            let message = format!("{localnet} is mapped to the bridge {bridge}, which exists nowhere");
            Diagnostic::new(codes::UNKNOWN_MAPPED_BRIDGE, message)
                .at(Path::root().key("ovn").key("bridge-mappings").item(localnet))
        })
    });
    missing.collect()
}
