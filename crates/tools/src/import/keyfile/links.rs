//! What kind of interface a profile makes, and the settings of its own that each kind has.

use linesman_core::interface_kind::InterfaceKind;
use serde_json::{Value, json};

use super::names::Names;
use super::profile::Profile;
use super::{bond, bridge, ovs};
use crate::import::draft::{Section, mac, plain, put, put_section};
use crate::import::fields::Content;
use crate::import::report::Log;

/// NMState's type; None, with a note, where it has none.
pub(super) fn kind(profile: &mut Profile, log: &mut Log<'_>) -> Option<InterfaceKind> {
    Some(match profile.kind.clone().as_str() {
        "ethernet" => InterfaceKind::Ethernet,
        "bond" => InterfaceKind::Bond,
        "bridge" => InterfaceKind::LinuxBridge,
        "vlan" => InterfaceKind::Vlan,
        "vxlan" => InterfaceKind::Vxlan,
        "macvlan" if profile.section("macvlan").flag("tap", log) == Some(true) => InterfaceKind::MacVtap,
        "macvlan" => InterfaceKind::MacVlan,
        "vrf" => InterfaceKind::Vrf,
        "dummy" => InterfaceKind::Dummy,
        "veth" => InterfaceKind::Veth,
        "infiniband" => InterfaceKind::Infiniband,
        "ip-tunnel" => InterfaceKind::IpTunnel,
        "ovs-bridge" => InterfaceKind::OvsBridge,
        "ovs-interface" => InterfaceKind::OvsInterface,
        other => {
            let why = format!(
                "profile '{}' has the type '{other}', which is not imported; it is not changed on the host",
                profile.id
            );
            log.note(profile.place, "", why);
            profile.forget();
            return None;
        }
    })
}

/// What all kinds have.
pub(super) fn base(profile: &mut Profile, interface: &mut Section, log: &mut Log<'_>) {
    if let Some(text) = profile.section("user").text("nmstate.interface.description", log) {
        interface.insert("description".into(), text.value.into());
    }
    let section = profile.section("ethernet");
    if let Some(address) = section.peek("cloned-mac-address").and_then(mac) {
        section.take("cloned-mac-address");
        interface.insert("mac-address".into(), address.into());
    }
    if !matches!(section.peek("mtu"), None | Some("auto" | "0")) {
        put(interface, "mtu", section.number::<u64>("mtu", log));
    }
    put(interface, "accept-all-mac-addresses", section.flag("accept-all-mac-addresses", log));
    let connection = profile.section("connection");
    if matches!(connection.peek("lldp"), Some("1" | "enable-rx")) {
        connection.take("lldp");
        interface.insert("lldp".into(), json!({ "enabled": true }));
    }
    ethtool(profile, interface);
    ovs::database(profile, interface);
}

fn ethtool(profile: &mut Profile, interface: &mut Section) {
    const GROUPS: [&str; 4] = ["feature", "coalesce", "ring", "pause"];
    let group = |key: &str| {
        GROUPS.iter().find_map(|group| Some((*group, key.strip_prefix(group)?.strip_prefix('-')?.to_owned())))
    };
    let mut ethtool = Section::new();
    for field in profile.section("ethtool").take_all(|key| group(key).is_some()) {
        if let (Some((group, key)), Content::Text(value)) = (group(&field.key), field.content) {
            let group = ethtool.entry(group).or_insert_with(|| json!({}));
            group[key.as_str()] = plain(&value);
        }
    }
    put_section(interface, "ethtool", ethtool);
}

/// The section that only this kind has.
pub(super) fn own(profile: &mut Profile, interface: &mut Section, names: &Names, log: &mut Log<'_>) {
    match profile.kind.clone().as_str() {
        "ethernet" => ethernet(profile, interface, log),
        "bond" => bond::own(profile, interface, log),
        "bridge" => bridge::own(profile, interface, log),
        "vlan" => vlan(profile, interface, names, log),
        "vxlan" => vxlan(profile, interface, names, log),
        "macvlan" => macvlan(profile, interface, names, log),
        "vrf" => {
            let table = profile.section("vrf").number::<u32>("table", log);
            put(interface, "vrf", table.map(|table| json!({ "route-table-id": table })));
        }
        "veth" => {
            let peer = profile.section("veth").value("peer", log);
            put(interface, "veth", peer.map(|peer| json!({ "peer": names.parent(&peer) })));
        }
        "infiniband" => infiniband(profile, interface, names, log),
        "ip-tunnel" => tunnel(profile, interface, names, log),
        "ovs-bridge" => ovs::bridge(profile, interface, log),
        "ovs-interface" => ovs::interface(profile, interface, log),
        _ => {}
    }
}

fn ethernet(profile: &mut Profile, interface: &mut Section, log: &mut Log<'_>) {
    let section = profile.section("ethernet");
    let mut ethernet = Section::new();
    let on = section.peek("auto-negotiate") == Some("true");
    if on {
        put(&mut ethernet, "auto-negotiation", section.flag("auto-negotiate", log));
    }
    put(&mut ethernet, "speed", section.positive("speed", log));
    put(&mut ethernet, "duplex", section.value("duplex", log));
    if !on && !ethernet.is_empty() {
        ethernet.insert("auto-negotiation".into(), false.into());
    }
    let vfs = profile.section("sriov").number::<u32>("total-vfs", log);
    if let Some(vfs) = vfs {
        ethernet.insert("sr-iov".into(), json!({ "total-vfs": vfs }));
    }
    put_section(interface, "ethernet", ethernet);
}

fn base_iface(section: &mut Section, profile: &mut Profile, from: &str, names: &Names, log: &mut Log<'_>) {
    let parent = profile.section(from).text("parent", log);
    put(section, "base-iface", parent.map(|at| names.parent(&at.value)));
}

fn vlan(profile: &mut Profile, interface: &mut Section, names: &Names, log: &mut Log<'_>) {
    const REORDER: u32 = 1;
    const GVRP: u32 = 2;
    const LOOSE: u32 = 4;
    const MVRP: u32 = 8;
    let mut vlan = Section::new();
    base_iface(&mut vlan, profile, "vlan", names, log);
    let section = profile.section("vlan");
    put(&mut vlan, "id", section.number::<u16>("id", log));
    let protocol = section.value("protocol", log).map(|protocol| protocol.to_ascii_lowercase());
    put(&mut vlan, "protocol", protocol.filter(|protocol| protocol != "802.1q"));
    if let Some(flags) = section.number::<u32>("flags", log) {
        put(&mut vlan, "reorder-headers", (flags & REORDER == 0).then_some(false));
        put(&mut vlan, "loose-binding", (flags & LOOSE != 0).then_some(true));
        let protocol = if flags & MVRP != 0 { Some("mvrp") } else { (flags & GVRP != 0).then_some("gvrp") };
        put(&mut vlan, "registration-protocol", protocol);
    }
    for (theirs, ours) in
        [("ingress-priority-map", "ingress-qos-map"), ("egress-priority-map", "egress-qos-map")]
    {
        let pairs = section.text(theirs, log).map(|at| pairs(&at.value));
        put(&mut vlan, ours, pairs.filter(|pairs| !pairs.is_empty()));
    }
    put_section(interface, "vlan", vlan);
}

fn pairs(text: &str) -> Vec<Value> {
    let pair = |pair: &str| {
        let (from, to) = pair.trim().split_once(':')?;
        Some(json!({ "from": from.parse::<u32>().ok()?, "to": to.parse::<u32>().ok()? }))
    };
    text.split([',', ';']).filter_map(pair).collect()
}

fn vxlan(profile: &mut Profile, interface: &mut Section, names: &Names, log: &mut Log<'_>) {
    let mut vxlan = Section::new();
    base_iface(&mut vxlan, profile, "vxlan", names, log);
    let section = profile.section("vxlan");
    put(&mut vxlan, "id", section.number::<u32>("id", log));
    for key in ["local", "remote"] {
        put(&mut vxlan, key, section.value(key, log));
    }
    put(&mut vxlan, "learning", section.flag("learning", log));
    put(&mut vxlan, "destination-port", section.number::<u16>("destination-port", log));
    put_section(interface, "vxlan", vxlan);
}

fn macvlan(profile: &mut Profile, interface: &mut Section, names: &Names, log: &mut Log<'_>) {
    const MODES: [&str; 6] = ["unknown", "vepa", "bridge", "private", "passthru", "source"];
    let mut macvlan = Section::new();
    base_iface(&mut macvlan, profile, "macvlan", names, log);
    let section = profile.section("macvlan");
    if let Some(at) = section.text("mode", log) {
        let mode = at.value.parse::<usize>().ok().and_then(|number| MODES.get(number).copied());
        macvlan.insert("mode".into(), mode.unwrap_or(&at.value).into());
    }
    // In another mode, NMState cannot express that it is off.
    if macvlan.get("mode") == Some(&json!("passthru")) {
        put(&mut macvlan, "promiscuous", section.flag("promiscuous", log).filter(|on| !on));
    }
    let key = if interface.get("type") == Some(&json!("mac-vtap")) { "mac-vtap" } else { "mac-vlan" };
    put_section(interface, key, macvlan);
}

fn infiniband(profile: &mut Profile, interface: &mut Section, names: &Names, log: &mut Log<'_>) {
    let mut ib = Section::new();
    base_iface(&mut ib, profile, "infiniband", names, log);
    let section = profile.section("infiniband");
    put(&mut ib, "mode", section.value("transport-mode", log));
    put(&mut ib, "pkey", section.value("p-key", log).filter(|key| key != "-1"));
    put(interface, "mtu", section.number::<u64>("mtu", log).filter(|mtu| *mtu > 0));
    put_section(interface, "infiniband", ib);
}

fn tunnel(profile: &mut Profile, interface: &mut Section, names: &Names, log: &mut Log<'_>) {
    let mut tunnel = Section::new();
    let section = profile.section("ip-tunnel");
    if let Some(at) = section.text("mode", log) {
        let mode = match at.value.as_str() {
            "1" => "ipip",
            "3" => "sit",
            "6" => "ip6ip6",
            "7" => "ipip6",
            other => other,
        };
        tunnel.insert("mode".into(), mode.into());
    }
    for key in ["local", "remote"] {
        put(&mut tunnel, key, section.value(key, log));
    }
    put(&mut tunnel, "ttl", section.number::<u8>("ttl", log));
    put(&mut tunnel, "pmtu-disc", section.flag("path-mtu-discovery", log));
    put(interface, "mtu", section.number::<u64>("mtu", log).filter(|mtu| *mtu > 0));
    base_iface(&mut tunnel, profile, "ip-tunnel", names, log);
    put_section(interface, "ip-tunnel", tunnel);
}

/// A controller gets its ports, in the order of their names.
pub(super) fn fill_ports(interface: &mut Section, kind: &InterfaceKind, ports: Vec<(String, Section)>) {
    let named = |(name, details): (String, Section)| {
        let mut port = Section::from_iter([("name".to_owned(), Value::from(name))]);
        port.extend(details);
        Value::Object(port)
    };
    let (section, key) = match kind {
        InterfaceKind::LinuxBridge => ("bridge", "port"),
        InterfaceKind::Bond if ports.iter().any(|(_, details)| !details.is_empty()) => {
            ("link-aggregation", "ports-config")
        }
        InterfaceKind::Bond => ("link-aggregation", "port"),
        _ => ("vrf", "port"),
    };
    let list: Vec<Value> = match (section, key) {
        ("link-aggregation", "port") | ("vrf", _) => ports.into_iter().map(|(name, _)| name.into()).collect(),
        _ => ports.into_iter().map(named).collect(),
    };
    let section = interface.entry(section).or_insert_with(|| json!({}));
    section[key] = list.into();
}
