//! A quicker look, for verification: the kernel's whole view, and of NetworkManager only what a state declares.
//!
//! A full retrieve asks NetworkManager for every profile and device, one after the other; with a
//! hundred interfaces that takes longer than the change itself.

use futures_util::future::join_all;
use linesman_core::foreign_port;
use linesman_core::state::interfaces;
use serde_json::Value;

use super::methods;
use crate::Result;
use crate::nm::{Device, Nm, NmView};

/// What the kernel knows of an interface as well as NetworkManager does.
const INTERFACE: [&str; 16] = [
    "name",
    "type",
    "state",
    "mtu",
    "mac-address",
    "copy-mac-from",
    "controller",
    "ipv4",
    "ipv6",
    "bridge",
    "veth",
    "vlan",
    "vxlan",
    "mac-vlan",
    "vrf",
    "link-aggregation",
];
const IP: [&str; 4] = ["enabled", "dhcp", "autoconf", "address"];
const STATE: [&str; 3] = ["interfaces", "routes", "route-rules"];

/// Whether everything that the state declares can be seen like this.
pub fn suffices(desired: &Value) -> bool {
    let only = |value: &Value, known: &[&str]| {
        value
            .as_object()
            .is_none_or(|map| map.iter().all(|(k, v)| v.is_null() || known.contains(&k.as_str())))
    };
    let interface = |i: &Value| {
        only(i, &INTERFACE)
            && !matches!(i["type"].as_str(), Some("ovs-bridge" | "ovs-interface" | "unknown") | None)
            && ["ipv4", "ipv6"].iter().all(|f| {
                let addresses = i[f]["address"].as_array().into_iter().flatten();
                only(&i[f], &IP) && addresses.into_iter().all(|a| only(a, &["ip", "prefix-length"]))
            })
    };
    only(desired, &STATE) && interfaces(desired).iter().all(interface)
}

pub async fn retrieve(nm: &Nm, desired: &Value) -> Result<Value> {
    let kernel = super::retrieve_with(|s| {
        s.set_kernel_only(true);
    });
    let (state, view) = tokio::join!(kernel, nm.view());
    let (mut state, view) = (state?, view?);
    let declared: Vec<&Device> = interfaces(desired)
        .iter()
        .filter_map(|i| view.devices.iter().find(|d| i["name"] == d.interface.as_str()))
        .collect();
    let ours = |d: &&&Device| configured(&view, d);
    let asked = join_all(declared.iter().filter(ours).map(|d| nm.ip_methods(&d.path))).await;
    for (device, found) in declared.iter().filter(ours).zip(asked) {
        if let Ok(found) = found {
            methods::overlay(&mut state, &device.interface, &found);
        }
    }
    for device in declared {
        overlay_state(&mut state, device);
    }
    foreign_port::mark(&mut state, |port| view.runs_profile_on(port));
    Ok(state)
}

/// Configured by a profile, not merely found by NetworkManager.
fn configured(view: &NmView, device: &Device) -> bool {
    let active = device.active.as_ref().and_then(|path| view.active.iter().find(|a| a.path == *path));
    active.is_some_and(|a| !a.external)
}

/// Whether a device is up is for NetworkManager to say: one that it took down is down, whatever its link says,
/// and a bridge without ports is up although it has no carrier. NetworkManager itself waits two seconds for one
/// before it calls such a bridge activated; the addresses are there long before.
fn overlay_state(state: &mut Value, device: &Device) {
    let word = match (device.down(), device.coming_up() || device.activated()) {
        (true, _) => "down",
        (_, true) => "up",
        _ => return,
    };
    let interfaces = state["interfaces"].as_array_mut().into_iter().flatten();
    for interface in interfaces.filter(|i| i["name"] == device.interface.as_str()) {
        interface["state"] = word.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bridge(extra: &Value) -> Value {
        let mut bridge = json!({ "name": "br1", "type": "linux-bridge", "state": "up",
            "ipv4": { "enabled": true, "dhcp": false, "address": [{ "ip": "10.0.0.1", "prefix-length": 24 }] } });
        for (key, value) in extra.as_object().into_iter().flatten() {
            bridge[key] = value.clone();
        }
        json!({ "interfaces": [bridge] })
    }

    #[test]
    fn a_bridge_without_carrier_is_up_when_networkmanager_says_so() {
        let device = |state| Device {
            path: "/1".into(),
            interface: "br1".into(),
            kind: 13,
            managed: true,
            state,
            reason: 0,
            real: true,
            software: true,
            active: None,
        };
        let mut state = bridge(&json!({ "state": "down" }));
        for coming_up in [40, 70, 100] {
            state["interfaces"][0]["state"] = "down".into();
            overlay_state(&mut state, &device(coming_up));
            assert_eq!(state["interfaces"][0]["state"], "up");
        }
        overlay_state(&mut state, &device(30));
        assert_eq!(state["interfaces"][0]["state"], "down");
    }

    #[test]
    fn plain_kernel_state_can_be_seen_quickly() {
        assert!(suffices(&bridge(&json!({}))));
        assert!(suffices(&json!({ "interfaces": [], "routes": { "config": [] } })));
    }

    #[test]
    fn what_only_networkmanager_knows_wants_a_full_look() {
        assert!(!suffices(&bridge(&json!({ "lldp": { "enabled": true } }))));
        assert!(!suffices(&bridge(&json!({ "wait-ip": "any" }))));
        assert!(!suffices(&bridge(&json!({ "ipv4": { "enabled": true, "dhcp": true, "auto-dns": false } }))));
        assert!(!suffices(&bridge(&json!({ "type": "ovs-bridge" }))));
        assert!(!suffices(&json!({ "interfaces": [], "dns-resolver": { "config": {} } })));
        assert!(!suffices(&json!({ "interfaces": [], "hostname": { "config": "n1" } })));
    }
}
