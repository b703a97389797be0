//! One interface: whether it is there, and every property of it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

use super::findings::Findings;
use super::view::{Declared, View};
use super::{bond, bridge, ethernet, ip, ovs};
use crate::foreign_port;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, condition, is_up, kind, name, text};

pub(super) fn compare(view: &View<'_>, declared: &Declared, found: &mut Findings) {
    let got = view.now(name(&declared.want), kind(&declared.want));
    match (condition(&declared.want), got) {
        ("up", Some(got)) => properties(view, declared, got, found),
        ("up", None) => found.missing(declared.path.clone(), declared.want.clone()),
        (_, Some(got)) => gone(declared, got, found),
        (_, None) => {}
    }
}

/// What a person needs to know of an interface that should not be there.
fn summary(interface: &Value) -> Value {
    json!({"name": name(interface), "type": kind(interface), "state": condition(interface)})
}

fn gone(declared: &Declared, got: &Value, found: &mut Findings) {
    if kind(got).is_virtual() {
        found.surplus(declared.path.clone(), summary(got));
    } else if kind(got) == InterfaceKind::Loopback {
        // The loopback is never removed; removing its profile leaves the kernel's two addresses.
        for address in state::addresses(got).filter(|address| !is_kernel_loopback(address.addr())) {
            found.surplus(declared.path.key("address").item(address.to_string()), address.to_string());
        }
    } else if is_up(got) {
        found.add(declared.path.key("state"), condition(&declared.want), condition(got));
    }
}

fn is_kernel_loopback(ip: IpAddr) -> bool {
    ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST
}

fn properties(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let Declared { path, want } = declared;
    if let Some(mac) = copied_mac(view, want) {
        found.equal(&path.key("copy-mac-from"), &mac, got.get("mac-address").unwrap_or(&Value::Null));
    }
    for (key, value) in want.as_object().into_iter().flatten() {
        let nothing_to_wait_for = key == "wait-ip" && is_plain_port(view, got);
        if !value.is_null() && !is_silent(want, key) && !nothing_to_wait_for {
            property(view, declared, got, key, found);
        }
    }
    ethernet::virtual_functions(view, declared, got, found);
    ovs::implied_interface(view, want, found);
    adopted_ports(view, want, found);
}

/// Unmanaged devices that a controller takes as ports become managed, unless it has had unmanaged ports before.
fn adopted_ports(view: &View<'_>, want: &Value, found: &mut Findings) {
    let unmanaged =
        |device: &str| view.was(device, InterfaceKind::Unknown).is_some_and(|nic| condition(nic) == "ignore");
    let before = view.was(name(want), kind(want)).and_then(state::ports).unwrap_or_default();
    if before.iter().any(|port| unmanaged(port)) {
        return;
    }
    for port in state::ports(want).unwrap_or_default().into_iter().map(|port| view.device(port)) {
        let got = view.now(port, InterfaceKind::Unknown).filter(|got| !is_up(got));
        if let Some(got) = got.filter(|_| unmanaged(port) && view.declares(port).is_none()) {
            found.add(Path::interface(port).key("state"), "up", condition(got));
        }
    }
}

/// Properties that a document may carry but that nothing is compared with.
fn is_silent(want: &Value, key: &str) -> bool {
    match key {
        key if foreign_port::is_mark(key) => true,
        "name" | "copy-mac-from" | "permanent-mac-address" | "min-mtu" | "max-mtu" | "driver" => true,
        "mtu" | "ipv4" | "ipv6" => kind(want) == InterfaceKind::OvsBridge,
        "mac-address" => kind(want) == InterfaceKind::Vrf || copies_mac(want),
        "accept-all-mac-addresses" => {
            kind(want) == InterfaceKind::Vrf && want.get(key) == Some(&Value::Bool(false))
        }
        "profile-name" => text(want, key) == Some(name(want)),
        _ => false,
    }
}

/// A port that has no addresses to wait for.
fn is_plain_port(view: &View<'_>, got: &Value) -> bool {
    let controller = text(got, "controller").filter(|controller| !controller.is_empty());
    let is_vrf = |controller| {
        view.now(controller, InterfaceKind::Vrf).is_some_and(|found| kind(found) == InterfaceKind::Vrf)
    };
    kind(got) != InterfaceKind::OvsInterface && controller.is_some_and(|controller| !is_vrf(controller))
}

fn property(view: &View<'_>, declared: &Declared, got: &Value, key: &str, found: &mut Findings) {
    let (want, at) = (&declared.want[key], declared.path.key(key));
    let has = got.get(key);
    match key {
        "type" if kind(&declared.want).is_same_device(&kind(got)) => {}
        "ipv4" | "ipv6" => ip::compare(view, declared, got, key, found),
        "bridge" if kind(&declared.want) == InterfaceKind::OvsBridge => {
            ovs::bridge(view, declared, got, found)
        }
        "bridge" => bridge::compare(view, declared, got, found),
        "link-aggregation" => bond::compare(view, declared, got, found),
        "vrf" => vrf(view, declared, got, found),
        "vlan" | "vxlan" | "mac-vlan" | "mac-vtap" | "ipvlan" | "macsec" | "ip-tunnel" | "infiniband" => {
            stacked(view, declared, got, key, found);
        }
        "hsr" => found.holds(&at, &without(want, &["supervision-address"]), has),
        "ethernet" => ethernet::compare(&at, want, has, found),
        "ethtool" => ethernet::tuning(&at, want, has, found),
        "lldp" => found.holds(&at, &without(want, &["neighbors"]), has),
        "mptcp" => {
            let flags = |section: &Value| section.get("address-flags").cloned();
            let wanted = flags(want).unwrap_or(Value::Null);
            if !wanted.is_null() {
                found.same_set(&at.key("address-flags"), &wanted, has.and_then(flags).as_ref());
            }
        }
        "ovs-db" => ovs::keys(&at, want, has, false, found),
        "alt-names" => alternative_names(&at, want, got, found),
        "controller" => found.equal(&at, want, has.unwrap_or(&Value::from(""))),
        "dispatch" => dispatch(&at, want, has, found),
        _ => found.holds(&at, want, has),
    }
}

pub(super) fn without(section: &Value, keys: &[&str]) -> Value {
    let mut section = section.clone();
    if let Some(fields) = section.as_object_mut() {
        fields.retain(|key, _| !keys.contains(&key.as_str()));
    }
    section
}

fn copies_mac(want: &Value) -> bool {
    let copier =
        matches!(kind(want), InterfaceKind::Bond | InterfaceKind::LinuxBridge | InterfaceKind::OvsInterface);
    copier && text(want, "copy-mac-from").is_some()
}

/// The MAC of the NIC named by `copy-mac-from`: the one burnt in, else the one declared, else the one it has.
fn copied_mac(view: &View<'_>, want: &Value) -> Option<Value> {
    let source = text(want, "copy-mac-from").filter(|_| copies_mac(want))?;
    let source = view.device(source);
    let before = view.was(source, InterfaceKind::Unknown);
    let burnt_in =
        before.and_then(|nic| nic.get("permanent-mac-address")).filter(|mac| mac.as_str() != Some(""));
    let declared = || view.declares(source).and_then(|nic| nic.get("mac-address"));
    burnt_in.or_else(declared).or_else(|| before?.get("mac-address")).cloned()
}

/// An interface on top of another one; the base may be left out when it exists already.
fn stacked(view: &View<'_>, declared: &Declared, got: &Value, key: &str, found: &mut Findings) {
    let (mut want, at) = (declared.want[key].clone(), declared.path.key(key));
    let before = view.was(name(&declared.want), kind(&declared.want));
    let base_before = before.and_then(|before| state::at(before, &[key, "base-iface"])).cloned();
    let said = text(&want, "base-iface").map(|base| Value::from(view.device(base)));
    if let (Some(base), Some(fields)) = (said.or(base_before.filter(|_| key == "vlan")), want.as_object_mut())
    {
        fields.insert("base-iface".into(), base);
    }
    for set in ["ingress-qos-map", "egress-qos-map", "ip6tun-flags"] {
        if let Some(items) = want.as_object_mut().and_then(|fields| fields.shift_remove(set)) {
            found.same_set(
                &at.key(set),
                &settable(&items),
                got.get(key).and_then(|got| got.get(set)).map(settable).as_ref(),
            );
        }
    }
    // The kernel takes the port of MACsec and never shows it.
    let want = if key == "macsec" { without(&want, &["port"]) } else { want };
    found.holds(&at, &want, got.get(key));
}

/// Tunnel flags that the kernel works out by itself are nobody's wish.
fn settable(items: &Value) -> Value {
    let derived = |item: &&Value| matches!(item.as_str(), Some("cap-xmit" | "cap-rcv" | "cap-per-packet"));
    items.as_array().into_iter().flatten().filter(|item| !derived(item)).cloned().collect()
}

fn vrf(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let (want, at) = (&declared.want["vrf"], declared.path.key("vrf"));
    if let Some(ports) = want.get("port").map(state::strings) {
        port_names(view, &at.key("port"), &ports, &state::ports(got).unwrap_or_default(), found);
    }
    let before = view.was(name(&declared.want), InterfaceKind::Vrf);
    let table = want.get("route-table-id").filter(|table| table.as_u64() != Some(0));
    if let Some(table) = table.or_else(|| state::at(before?, &["vrf", "route-table-id"])) {
        found.holds(&at.key("route-table-id"), table, state::at(got, &["vrf", "route-table-id"]));
    }
}

/// A list of plain port names: exactly these.
pub(super) fn port_names(view: &View<'_>, at: &Path, want: &[&str], got: &[&str], found: &mut Findings) {
    let wanted: Vec<&str> = want.iter().map(|port| view.device(port)).collect();
    for (said, port) in
        want.iter().zip(&wanted).filter(|(_, port)| !got.contains(port) || view.is_phantom(port))
    {
        found.missing(at.item(*said), *port);
    }
    for port in got.iter().filter(|port| !wanted.contains(port) && !view.is_hidden(port)) {
        found.surplus(at.item(*port), *port);
    }
}

fn alternative_names(at: &Path, want: &Value, got: &Value, found: &mut Findings) {
    for entry in want.as_array().into_iter().flatten() {
        let has = super::view::has_alternative_name(got, name(entry));
        match (state::is_absent(entry), has) {
            (false, false) => found.missing(at.item(name(entry)), name(entry)),
            (true, true) => found.surplus(at.item(name(entry)), name(entry)),
            _ => {}
        }
    }
}

fn dispatch(at: &Path, want: &Value, has: Option<&Value>, found: &mut Findings) {
    for (key, want) in want.as_object().into_iter().flatten().filter(|(_, want)| !want.is_null()) {
        let script = has.and_then(|has| has.get(key)).cloned().unwrap_or_else(|| "".into());
        found.equal(&at.key(key), want, &script);
    }
}
