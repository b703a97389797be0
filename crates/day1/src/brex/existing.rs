//! The bridge as the host has it.

use std::net::IpAddr;

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{addresses, condition, interfaces, kind, name, ports};
use serde_json::Value;

use super::{BrexError, Bridge, Options};

/// The uplink of a bridge that is complete. One without uplink or interface is still to be made.
pub(super) fn uplink(observed: &Value, options: &Options) -> Result<Option<String>, BrexError> {
    let bridge = options.bridge;
    let named = || interfaces(observed).iter().filter(|interface| name(interface) == bridge.name());
    let is_ovs = |interface: &&Value| {
        matches!(kind(interface), InterfaceKind::OvsBridge | InterfaceKind::OvsInterface)
    };
    if let Some(other) = named().find(|interface| !is_ovs(interface)) {
        return Err(BrexError::NameTaken { bridge, kind: kind(other) });
    }
    let uplinks = uplinks(observed, bridge);
    let has_interface = named().any(|interface| kind(interface) == InterfaceKind::OvsInterface);
    if uplinks.is_empty() || !has_interface {
        return Ok(None);
    }
    let uplink = uplinks.join(", ");
    if let Some(reason) = unusable(observed, bridge, &uplinks) {
        return Err(BrexError::Unusable { bridge, uplink, reason });
    }
    match &options.interface {
        Some(wanted) if !uplinks.contains(&wanted.as_str()) => {
            Err(BrexError::OtherUplink { bridge, uplink, wanted: wanted.clone() })
        }
        _ => Ok(Some(uplink)),
    }
}

/// Rows in the database of Open vSwitch alone carry nothing.
fn unusable(observed: &Value, bridge: Bridge, uplinks: &[&str]) -> Option<String> {
    let is_own = |it: &&Value| kind(it) == InterfaceKind::OvsInterface && name(it) == bridge.name();
    let own = interfaces(observed).iter().find(is_own)?;
    if condition(own) != "up" {
        return Some(format!("the interface {bridge} is down"));
    }
    let is_uplink = |it: &&Value| uplinks.contains(&name(it)) && !kind(it).is_userspace();
    let mut devices = interfaces(observed).iter().filter(is_uplink);
    devices.find_map(|device| {
        let address = addresses(device).find(|address| !is_link_local(address.addr()))?;
        Some(format!("{} has the address {address}", name(device)))
    })
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// The ports that lead out: patch ports and internal ones are Open vSwitch's own.
pub(super) fn uplinks(observed: &Value, bridge: Bridge) -> Vec<&str> {
    let is_bridge = |it: &&Value| kind(it) == InterfaceKind::OvsBridge && name(it) == bridge.name();
    let ports = interfaces(observed).iter().find(is_bridge).and_then(ports).unwrap_or_default();
    let is_inside = |port: &str| {
        let mut devices = interfaces(observed).iter().filter(|interface| name(interface) == port);
        devices.any(|it| kind(it) == InterfaceKind::OvsInterface && it.get("dpdk").is_none())
    };
    // A patch port that NMState does not list is no device of the kernel.
    let is_device =
        |port: &str| interfaces(observed).iter().any(|it| name(it) == port && !kind(it).is_userspace());
    ports.into_iter().filter(|port| *port != bridge.name() && !is_inside(port) && is_device(port)).collect()
}
