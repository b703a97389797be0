//! How an interface gets its addresses, corrected where nmstate asks the wrong profile.
//!
//! The internal port of a userspace bridge shows up twice in NetworkManager: as the OVS interface that
//! a profile configured, and as a tun device for which NetworkManager made up a profile at a moment
//! when it had no address yet. nmstate takes either, as the list happens to be ordered.

use serde_json::{Value, json};

use crate::nm::{Automatic, IpMethods, Nm, NmView};

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
            overlay_automatic(state, &interface, &methods);
        }
        if let Ok(applied) = nm.applied_ip(&device).await {
            overlay_identity(state, &interface, &applied);
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

/// The rest of what nmstate reads from a profile about addresses that are given.
fn overlay_automatic(state: &mut Value, name: &str, methods: &IpMethods) {
    let interfaces = state["interfaces"].as_array_mut().into_iter().flatten();
    for interface in interfaces.filter(|i| i["name"] == name && i["type"] == "ovs-interface") {
        for (family, automatic) in [("ipv4", methods.automatic4), ("ipv6", methods.automatic6)] {
            let given = interface[family]["dhcp"] == true || interface[family]["autoconf"] == true;
            if given {
                merge(&mut interface[family], &given_values(automatic));
            }
        }
    }
}

fn given_values(automatic: Automatic) -> Value {
    json!({
        "auto-route-metric": automatic.metric,
        "auto-route-table-id": automatic.table,
        "auto-dns": automatic.dns,
        "auto-routes": automatic.routes,
        "auto-gateway": automatic.gateway,
    })
}

/// By what DHCP servers know the host, and how IPv6 addresses are made; `applied` is in NetworkManager's words.
fn overlay_identity(state: &mut Value, name: &str, applied: &Value) {
    let is_automatic = |family: &str| matches!(applied[family]["method"].as_str(), Some("auto" | "dhcp"));
    let interfaces = state["interfaces"].as_array_mut().into_iter().flatten();
    for interface in interfaces.filter(|i| i["name"] == name && i["type"] == "ovs-interface") {
        if is_automatic("ipv4") {
            merge(&mut interface["ipv4"], &json!({ "dhcp-client-id": client_id(&applied["ipv4"]) }));
            merge(&mut interface["ipv4"], &host_name(&applied["ipv4"]));
        }
        if is_automatic("ipv6") {
            merge(&mut interface["ipv6"], &identity_of_ipv6(&applied["ipv6"]));
            merge(&mut interface["ipv6"], &host_name(&applied["ipv6"]));
        }
    }
}

fn client_id(setting: &Value) -> Option<&str> {
    Some(match setting["dhcp-client-id"].as_str()? {
        "mac" => "ll",
        "duid" => "iaid+duid",
        other => other,
    })
}

/// The name that DHCP servers are given; one that is not sent does not count.
fn host_name(setting: &Value) -> Value {
    let sends = setting["dhcp-send-hostname"].as_bool() != Some(false);
    let chosen = ["dhcp-fqdn", "dhcp-hostname"].iter().find_map(|key| setting[*key].as_str());
    json!({ "dhcp-send-hostname": sends, "dhcp-custom-hostname": chosen.filter(|_| sends) })
}

fn identity_of_ipv6(setting: &Value) -> Value {
    // Without a number, NetworkManager means stable-privacy.
    let mode = match setting["addr-gen-mode"].as_i64() {
        Some(0 | 2) => "eui64",
        _ => "stable-privacy",
    };
    json!({ "addr-gen-mode": mode, "dhcp-duid": setting["dhcp-duid"], "token": setting["token"] })
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
    for (key, value) in fields.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
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
        overlay(
            &mut state,
            "br-ex",
            &IpMethods { v4: "auto".into(), v6: "disabled".into(), ..IpMethods::default() },
        );
        assert_eq!(state["interfaces"][0]["ipv4"], json!({ "enabled": false }));
        assert_eq!(
            state["interfaces"][1]["ipv4"],
            json!({ "enabled": true, "dhcp": true, "address": [{ "ip": "10.9.0.2" }] })
        );
        assert_eq!(state["interfaces"][1]["ipv6"]["enabled"], false);
    }

    #[test]
    fn so_do_its_options_for_addresses_that_are_given() {
        let mut state = json!({ "interfaces": [
            { "name": "br-ex", "type": "ovs-bridge" },
            { "name": "br-ex", "type": "ovs-interface", "ipv4": { "dhcp": true, "auto-route-metric": -1, "auto-dns": true },
              "ipv6": { "dhcp": false, "autoconf": false } } ] });
        let automatic4 = Automatic { metric: 48, dns: false, ..Automatic::default() };
        overlay_automatic(&mut state, "br-ex", &IpMethods { automatic4, ..IpMethods::default() });
        assert_eq!(state["interfaces"][1]["ipv4"]["auto-route-metric"], 48);
        assert_eq!(state["interfaces"][1]["ipv4"]["auto-dns"], false);
        assert_eq!(state["interfaces"][1]["ipv6"], json!({ "dhcp": false, "autoconf": false }));
        assert_eq!(state["interfaces"][0], json!({ "name": "br-ex", "type": "ovs-bridge" }));
    }

    #[test]
    fn so_does_its_identity() {
        let mut state = json!({ "interfaces": [{ "name": "br-ex", "type": "ovs-interface",
            "ipv4": { "dhcp": true }, "ipv6": { "dhcp": false, "addr-gen-mode": "stable-privacy" } }] });
        let applied = json!({
            "ipv4": { "method": "auto", "dhcp-client-id": "mac", "dhcp-hostname": "foo" },
            "ipv6": { "method": "manual", "addr-gen-mode": 0 } });
        overlay_identity(&mut state, "br-ex", &applied);
        assert_eq!(
            state["interfaces"][0]["ipv4"],
            json!({ "dhcp": true, "dhcp-client-id": "ll", "dhcp-send-hostname": true, "dhcp-custom-hostname": "foo" })
        );
        assert_eq!(state["interfaces"][0]["ipv6"]["addr-gen-mode"], "stable-privacy", "not automatic");
        let applied = json!({ "ipv6": { "method": "auto", "addr-gen-mode": 0, "dhcp-duid": "ll",
            "dhcp-send-hostname": false, "dhcp-hostname": "foo" } });
        overlay_identity(&mut state, "br-ex", &applied);
        let expected = json!({ "dhcp": false, "addr-gen-mode": "eui64", "dhcp-duid": "ll", "dhcp-send-hostname": false });
        assert_eq!(state["interfaces"][0]["ipv6"], expected);
    }
}
