//! The bridge, its ports, and what their links look like.

use super::super::{Finding, Inspection, or_ok};
use super::NAME;
use super::observed::{BrEx, OvsInterface, OvsPort};
use super::rules::{ADDRESSES, BRIDGE, LINKS, MAC_ADDRESS, MOVED, MTU, ONE_UPLINK, SWITCHING, UPLINK};

pub(super) fn bridge(br_ex: &BrEx, inspection: &Inspection) -> Vec<Finding> {
    // Whoever does not answer has a finding of its own.
    if !inspection.open_vswitch.database {
        return Vec::new();
    }
    let Some(bridge) = &br_ex.bridge else {
        let message = match (br_ex.link(NAME), br_ex.declared) {
            (Some(_), _) => "br-ex is not an Open vSwitch bridge",
            (None, true) => "the document of this host declares br-ex, but there is none",
            (None, false) => return Vec::new(),
        };
        return vec![BRIDGE.broken(message, &[])];
    };
    let own = bridge.ports.iter().flat_map(|port| &port.interfaces).find(|interface| interface.name == NAME);
    match own {
        None => vec![BRIDGE.broken("br-ex has no interface of the same name among its ports", &[])],
        Some(OvsInterface { error: Some(error), .. }) => {
            vec![BRIDGE.broken(format!("Open vSwitch cannot use the interface br-ex: {error}"), &[])]
        }
        Some(_) if br_ex.link(NAME).is_some_and(|link| link.down) => {
            vec![LINKS.broken("the interface br-ex is down", &[])]
        }
        Some(_) => or_ok(Vec::new(), BRIDGE.check, "with an interface of the same name"),
    }
}

pub(super) fn uplink(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let Some(bridge) = &br_ex.bridge else { return Vec::new() };
    let uplinks = bridge.uplinks();
    if uplinks.is_empty() {
        return vec![UPLINK.broken("br-ex has no uplink", &[])];
    }
    let down = br_ex.uplink_links().into_iter().filter(|link| link.down);
    let down = down.map(|link| LINKS.broken(format!("the uplink {} is down", link.name), &[]));
    let interfaces = uplinks.iter().flat_map(|port| &port.interfaces);
    let failed = interfaces.filter_map(|interface| {
        let error = interface.error.as_ref()?;
        let message = format!("Open vSwitch cannot use the uplink {}: {error}", interface.name);
        Some(UPLINK.broken(message, &[]))
    });
    or_ok(down.chain(failed).collect(), UPLINK.check, names(&uplinks))
}

pub(super) fn one_uplink(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let Some(bridge) = &br_ex.bridge else { return Vec::new() };
    let uplinks = bridge.uplinks();
    let [_, .., last] = uplinks.as_slice() else {
        return or_ok(Vec::new(), ONE_UPLINK.check, "no second uplink");
    };
    let message = format!("br-ex has {} uplinks: {}", uplinks.len(), names(&uplinks));
    vec![ONE_UPLINK.broken(message, &[("UPLINK", &last.name)])]
}

fn names(ports: &[&OvsPort]) -> String {
    ports.iter().map(|port| port.name.as_str()).collect::<Vec<_>>().join(", ")
}

pub(super) fn addresses(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let links = br_ex.uplink_links();
    if links.is_empty() {
        return Vec::new();
    }
    let is_unused = br_ex.link(NAME).is_none_or(|link| link.addresses.is_empty());
    let found = links.iter().filter_map(|link| {
        let first = link.addresses.first()?;
        if is_unused {
            let all = link.addresses.join(", ");
            return Some(
                MOVED.broken(format!("br-ex has no address, its uplink {} has {all}", link.name), &[]),
            );
        }
        let message =
            format!("the uplink {} has addresses of its own: {}", link.name, link.addresses.join(", "));
        Some(ADDRESSES.broken(message, &[("UPLINK", &link.name), ("ADDRESS", first)]))
    });
    or_ok(found.collect(), ADDRESSES.check, "none on the uplink")
}

pub(super) fn mac_address(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let links = br_ex.uplink_links();
    let Some(own) = br_ex.link(NAME).and_then(|link| link.mac.as_deref()) else { return Vec::new() };
    let macs = || links.iter().filter_map(|link| Some((link, link.mac.as_deref()?)));
    let Some((uplink, other)) = macs().next() else { return Vec::new() };
    let is_shared = macs().any(|(_, mac)| mac.eq_ignore_ascii_case(own));
    let message = format!("br-ex has {own}, but its uplink {} has {other}", uplink.name);
    let found = (!is_shared).then(|| MAC_ADDRESS.broken(message, &[("UPLINK", &uplink.name)]));
    or_ok(found.into_iter().collect(), MAC_ADDRESS.check, "that of the uplink")
}

pub(super) fn mtu(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let Some(own) = br_ex.link(NAME).and_then(|link| link.mtu) else { return Vec::new() };
    let links = br_ex.uplink_links();
    let smallest = links.iter().filter_map(|link| Some((link.mtu?, &link.name))).min();
    let Some((mtu, uplink)) = smallest else { return Vec::new() };
    let message = format!("br-ex has an MTU of {own}, but its uplink {uplink} has {mtu}");
    let found = (own > mtu).then(|| MTU.broken(message, &[("UPLINK", uplink), ("LIMIT", &mtu.to_string())]));
    or_ok(found.into_iter().collect(), MTU.check, format!("{own}; the uplink has {mtu}"))
}

pub(super) fn switching(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let Some(bridge) = &br_ex.bridge else { return Vec::new() };
    let wrong = [
        (bridge.fail_mode.as_deref() == Some("secure"), "br-ex is in fail mode secure"),
        (bridge.stp, "STP is enabled on br-ex"),
        (bridge.rstp, "RSTP is enabled on br-ex"),
    ];
    let found = wrong.iter().filter(|(is_so, _)| *is_so).map(|(_, message)| SWITCHING.broken(*message, &[]));
    or_ok(found.collect(), SWITCHING.check, "standalone, without spanning tree")
}
