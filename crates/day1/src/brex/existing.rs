//! The bridge as the host has it.

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{interfaces, kind, name, ports};
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
    match &options.interface {
        Some(wanted) if !uplinks.contains(&wanted.as_str()) => {
            Err(BrexError::OtherUplink { bridge, uplink, wanted: wanted.clone() })
        }
        _ => Ok(Some(uplink)),
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
