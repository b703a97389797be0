//! How an interface gets its addresses, corrected where nmstate asks the wrong profile.
//!
//! The internal port of a userspace bridge shows up twice in NetworkManager: as the OVS interface that
//! a profile configured, and as a tun device for which NetworkManager made up a profile at a moment
//! when it had no address yet. nmstate takes either, as the list happens to be ordered.

use serde_json::{Value, json};

use crate::nm::{IpMethods, Nm, NmView};

const TUN: u32 = 16;
const OVS_INTERFACE: u32 = 24;

pub async fn correct(state: &mut Value, nm: &Nm) {
    if !has_ovs_interface(state) {
        return;
    }
    let Ok(view) = nm.view().await else { return };
    for (interface, device) in doubles(&view) {
        if let Ok(methods) = nm.ip_methods(&device).await {
            overlay(state, &interface, &methods);
        }
    }
}

fn has_ovs_interface(state: &Value) -> bool {
    state["interfaces"].as_array().into_iter().flatten().any(|i| i["type"] == "ovs-interface")
}

/// OVS interfaces that NetworkManager also lists as a tun device.
fn doubles(view: &NmView) -> Vec<(String, String)> {
    let tun = |name: &str| view.devices.iter().any(|d| d.kind == TUN && d.interface == name);
    view.devices
        .iter()
        .filter(|d| d.kind == OVS_INTERFACE && tun(&d.interface))
        .map(|d| (d.interface.clone(), d.path.clone()))
        .collect()
}

/// An OVS bridge shares its name with its port, and has no addresses of its own.
pub(super) fn overlay(state: &mut Value, name: &str, methods: &IpMethods) {
    let interfaces = state["interfaces"].as_array_mut().into_iter().flatten();
    for interface in interfaces.filter(|i| i["name"] == name && i["type"] != "ovs-bridge") {
        if let Some(fields) = ipv4(&methods.v4) {
            merge(&mut interface["ipv4"], &fields);
        }
        if let Some(fields) = ipv6(&methods.v6) {
            merge(&mut interface["ipv6"], &fields);
        }
    }
}

fn ipv4(method: &str) -> Option<Value> {
    match method {
        "disabled" => Some(json!({ "enabled": false, "dhcp": false })),
        "auto" => Some(json!({ "enabled": true, "dhcp": true })),
        "manual" | "link-local" | "shared" => Some(json!({ "enabled": true, "dhcp": false })),
        _ => None,
    }
}

fn ipv6(method: &str) -> Option<Value> {
    match method {
        "disabled" => Some(json!({ "enabled": false, "dhcp": false, "autoconf": false })),
        "auto" => Some(json!({ "enabled": true, "dhcp": true, "autoconf": true })),
        "dhcp" => Some(json!({ "enabled": true, "dhcp": true, "autoconf": false })),
        "manual" | "link-local" => Some(json!({ "enabled": true, "dhcp": false, "autoconf": false })),
        _ => None,
    }
}

fn merge(into: &mut Value, fields: &Value) {
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in fields.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_the_ovs_interface_counts() {
        let mut state = json!({ "interfaces": [
            { "name": "br-ex", "type": "ovs-bridge", "ipv4": { "enabled": false } },
            { "name": "br-ex", "type": "ovs-interface",
              "ipv4": { "enabled": false, "dhcp": false, "address": [{ "ip": "10.9.0.2" }] } } ] });
        overlay(&mut state, "br-ex", &IpMethods { v4: "auto".into(), v6: "disabled".into() });
        assert_eq!(state["interfaces"][0]["ipv4"], json!({ "enabled": false }));
        assert_eq!(
            state["interfaces"][1]["ipv4"],
            json!({ "enabled": true, "dhcp": true, "address": [{ "ip": "10.9.0.2" }] })
        );
        assert_eq!(state["interfaces"][1]["ipv6"]["enabled"], false);
    }
}
