//! What cannot be applied to this host, found before anything is touched.

mod address;
mod daemon;
mod hardware;
mod ifcfg;
mod kernel;
mod route;

use serde_json::Value;

use super::{codes, functions};
use crate::check::interfaces::tun;
use crate::compare::{Declared, View, ovs};
use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, interfaces, is_absent, is_up, kind, name, text};
use crate::virtual_function::is_reference;
use address::addresses;
pub(super) use daemon::{datapaths, needs_supplicant};
pub use hardware::Asked;
pub(super) use hardware::asked;
pub(super) use ifcfg::profiles as ifcfg_profiles;
pub(super) use kernel::made;

pub(super) fn find(view: &View<'_>, facts: &Facts) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    if ovs::needs_ovs(view.desired) && !facts.ovs_running {
        refusals.push(
            Diagnostic::new(
                codes::OVS_NOT_RUNNING,
                "the document needs Open vSwitch, which is not running on this host",
            )
            .at(Path::root())
            .hint("start Open vSwitch, or remove its interfaces and keys from the document"),
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
    refusals.extend(view.declared.iter().filter_map(|declared| only_shown(view, declared)));
    refusals.extend(kernel::lacking(view, facts));
    refusals.extend(daemon::lacking(view, facts));
    refusals.extend(hardware::lacking(view, facts));
    refusals.extend(route::routes(view));
    refusals.extend(route::mappings(view));
    refusals
}

/// Tun devices, declared without a type, and as ports that they are not yet: NMState ignores them.
fn only_shown(view: &View<'_>, Declared { path, want }: &Declared) -> Option<Diagnostic> {
    if kind(want) == InterfaceKind::Tun && observed(view, want).is_some() {
        return Some(tun(name(want)).at(path.clone()));
    }
    let is_tun = |port: &&str| {
        let got =
            view.now(view.device(port), InterfaceKind::Unknown).filter(|got| kind(got) == InterfaceKind::Tun);
        got.is_some_and(|got| text(got, "controller") != Some(name(want)))
    };
    let declared_otherwise = |port: &&str| view.declares(view.device(port)).is_some();
    let ports = state::ports(want).filter(|_| is_up(want))?;
    let port = ports.into_iter().find(|port| is_tun(port) && !declared_otherwise(port))?;
    Some(tun(port).at(path.clone()).hint("remove it from the ports; the program that made it attaches it"))
}

/// On this host, or made by the document and not taken away by it.
fn exists(view: &View<'_>, called: &str) -> bool {
    let device = view.device(called);
    match view.declares(device) {
        Some(want) if !is_up(want) => {
            view.now(device, InterfaceKind::Unknown).is_some_and(|got| !kind(got).is_virtual())
        }
        Some(_) => true,
        None => {
            view.now(device, InterfaceKind::Unknown).is_some()
                || is_new_peer(view, device)
                || functions::will_be(view, device)
        }
    }
}

fn is_new_peer(view: &View<'_>, device: &str) -> bool {
    let peer = |declared: &Declared| {
        state::at(&declared.want, &["veth", "peer"]).and_then(Value::as_str) == Some(device)
    };
    view.declared.iter().any(|declared| is_up(&declared.want) && peer(declared))
}

fn observed<'v>(view: &'v View<'_>, want: &Value) -> Option<&'v Value> {
    view.now(name(want), kind(want))
}

fn identity(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let unmatched = |key: &str| observed(view, want).is_none_or(|got| got.get(key).is_none());
    let said = |key: &str| text(want, key).unwrap_or("none given").to_owned();
    match text(want, "identifier") {
        Some("mac-address") if unmatched("mac-address") => {
            let message = format!(
                "no device has the MAC address {}, which identifies {}",
                said("mac-address"),
                name(want)
            );
            vec![Diagnostic::new(codes::NO_SUCH_DEVICE, message).at(path.key("mac-address"))]
        }
        Some("pci-address") if unmatched("pci-address") => {
            let message = format!(
                "no device has the PCI address {}, which identifies {}",
                said("pci-address"),
                name(want)
            );
            vec![Diagnostic::new(codes::NO_SUCH_DEVICE, message).at(path.key("pci-address"))]
        }
        _ => Vec::new(),
    }
}

fn existence(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    if view.is_ambiguous(name(want)) {
        let message = format!("{} is both an Open vSwitch bridge and its internal interface", name(want));
        return vec![
            Diagnostic::new(codes::AMBIGUOUS_INTERFACE, message).at(path.clone()).hint("add a type"),
        ];
    }
    match observed(view, want) {
        None if text(want, "identifier").is_some_and(|identifier| identifier != "name") => Vec::new(),
        None if is_reference(name(want)) => functions::unknown(view, name(want), path).into_iter().collect(),
        // Which names they will have, nobody knows before.
        None if kind(want) == InterfaceKind::Ethernet && functions::are_made(view) => Vec::new(),
        None if is_found_not_made(view, want) => {
            let message = format!("this host has no interface {}", name(want));
            vec![
                Diagnostic::new(codes::UNKNOWN_INTERFACE, message)
                    .at(path.key("name"))
                    .hint(alternatives(view)),
            ]
        }
        Some(got)
            if !kind(want).is_same_device(&kind(got))
                && kind(got) != InterfaceKind::Unknown
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
    kind(want) == InterfaceKind::OvsInterface && kind(got) == InterfaceKind::Tun
}

fn is_found_not_made(view: &View<'_>, want: &Value) -> bool {
    let nic = kind(want) == InterfaceKind::Ethernet && state::at(want, &["veth", "peer"]).is_none();
    let infiniband = kind(want) == InterfaceKind::Infiniband
        && state::base(want).is_none_or(|(_, base)| base.is_empty() || base == name(want));
    (nic && !is_new_peer(view, name(want))) || infiniband || kind(want) == InterfaceKind::Unknown
}

fn alternatives(view: &View<'_>) -> String {
    let nics = interfaces(view.observed).iter().filter(|nic| kind(nic).is_nic());
    let names: Vec<&str> = nics.map(name).take(8).collect();
    if names.is_empty() {
        "this host has no NIC".into()
    } else {
        format!("this host has {}", names.join(", "))
    }
}

fn ports(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let list = match kind(want) {
        InterfaceKind::Bond if state::at(want, &["link-aggregation", "port"]).is_none() => {
            path.key("link-aggregation").key("ports-config")
        }
        InterfaceKind::Bond => path.key("link-aggregation").key("port"),
        InterfaceKind::Vrf => path.key("vrf").key("port"),
        _ => path.key("bridge").key("port"),
    };
    let implied = |port: &str| kind(want) == InterfaceKind::OvsBridge && port == name(want);
    let unknown = state::ports(want)
        .unwrap_or_default()
        .into_iter()
        .filter(|port| !exists(view, port) && !implied(port));
    let refusal = |port: &str| {
        let message = format!("port {port} of {} does not exist", name(want));
        Diagnostic::new(codes::UNKNOWN_PORT, message).at(list.item(port)).hint(match kind(want) {
            InterfaceKind::OvsBridge => format!(
                "declare {port} with type ovs-interface if Open vSwitch should create it; {}",
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
    if view.declares(view.device(base)).is_some_and(|base| is_absent(base) && !kind(base).is_nic()) {
        let message = format!("{} is based on {base}, which the document removes", name(want));
        return vec![Diagnostic::new(codes::BASE_GOES, message).at(at)];
    }
    if exists(view, base) {
        return Vec::new();
    }
    let message = format!("the base interface {base} of {} does not exist", name(want));
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
    let message = format!("the controller {controller} of {} does not exist", name(want));
    vec![Diagnostic::new(codes::UNKNOWN_CONTROLLER, message).at(path.key("controller"))]
}

fn mac_source(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    let Some(source) = text(want, "copy-mac-from") else {
        return Vec::new();
    };
    let device = view.device(source);
    let declared = view.declares(device).filter(|nic| is_up(nic));
    let known = [declared, view.now(device, InterfaceKind::Unknown)].into_iter().flatten();
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
    let Some(mtu) = number(want, "mtu").filter(|_| kind(want) != InterfaceKind::OvsBridge) else {
        return Vec::new();
    };
    let at = path.key("mtu");
    let limits = observed(view, want).map(|got| (number(got, "min-mtu"), number(got, "max-mtu")));
    if let Some((Some(least), Some(most))) = limits
        && (mtu < least || (most > 0 && mtu > most))
    {
        let message = format!("{} accepts an MTU of {least} to {most}, not {mtu}", name(want));
        return vec![Diagnostic::new(codes::MTU_OUT_OF_RANGE, message).at(at)];
    }
    // A document may leave out what stays.
    let Some(base) = state::base(want)
        .or_else(|| state::base(observed(view, want)?))
        .filter(|(section, _)| matches!(*section, "vlan" | "mac-vlan" | "mac-vtap"))
        .map(|(_, base)| view.device(base))
    else {
        return Vec::new();
    };
    let declared = view.declares(base).and_then(|base| number(base, "mtu"));
    match declared.or_else(|| number(view.now(base, InterfaceKind::Unknown)?, "mtu")) {
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
            "IPv4 cannot be disabled on the loopback interface".into(),
            path.key("ipv4").key("enabled"),
        );
    }
    match (state::ports(want), state::base(want)) {
        (Some(ports), _) if ports.contains(&"lo") => {
            refuse(format!("the loopback interface cannot be a port of {}", name(want)), path.clone())
        }
        (_, Some((section, "lo"))) if section != "vxlan" && section != "ip-tunnel" => refuse(
            format!("{} cannot be based on the loopback interface", name(want)),
            path.key(section).key("base-iface"),
        ),
        _ => Vec::new(),
    }
}

fn completeness(view: &View<'_>, Declared { path, want }: &Declared) -> Vec<Diagnostic> {
    if observed(view, want).is_some() {
        return Vec::new();
    }
    let lacks = match kind(want) {
        InterfaceKind::Bond if state::at(want, &["link-aggregation", "mode"]).is_none() => {
            ("link-aggregation", "mode")
        }
        InterfaceKind::Vrf
            if state::at(want, &["vrf", "route-table-id"]).and_then(Value::as_u64).unwrap_or(0) == 0 =>
        {
            ("vrf", "route-table-id")
        }
        InterfaceKind::Vlan if state::base(want).is_none() => ("vlan", "base-iface"),
        InterfaceKind::Veth
            if state::at(want, &["veth", "peer"]).is_none() && !is_new_peer(view, name(want)) =>
        {
            ("veth", "peer")
        }
        _ => return Vec::new(),
    };
    let message =
        format!("{} does not exist yet; {}.{} is required to create it", name(want), lacks.0, lacks.1);
    vec![Diagnostic::new(codes::INCOMPLETE, message).at(path.key(lacks.0))]
}
