//! Open vSwitch interfaces that NetworkManager does not finish.
//!
//! NetworkManager 1.58 waits until ovs-vswitchd has made the interface. About once in a hundred, with the datapath in userspace, it
//! misses that, has the carrier, and waits for ever, without an address and with the MTU that it had. Activated again, it
//! does not.

use linesman_core::compare::Difference;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{self, interfaces, is_up, kind, name};
use serde_json::Value;

use crate::nm::{Nm, NmView};

/// Activates again what has hung. What cannot be activated shows in the verification.
pub async fn activate_again(nm: &Nm, desired: &Value, differences: &[Difference]) {
    let names = without_address_or_mtu(desired, differences);
    if names.is_empty() {
        return;
    }
    let Ok(view) = nm.view().await else { return };
    for (uuid, device) in hanging(&view, &names) {
        tracing::warn!(
            profile = uuid,
            "NetworkManager does not finish an Open vSwitch interface; activating it again"
        );
        if let Err(error) = nm.activate(uuid, Some(device)).await {
            tracing::warn!(%error, "cannot activate the interface again");
        }
    }
}

/// Those whose addresses or MTU are declared, and not there. A lease may take its time. Pure.
fn without_address_or_mtu<'a>(desired: &'a Value, differences: &[Difference]) -> Vec<&'a str> {
    let is_static = |interface: &&Value| {
        ["ipv4", "ipv6"].iter().all(|family| {
            interface.get(family).is_none_or(|ip| {
                state::flag(ip, "dhcp") != Some(true) && state::flag(ip, "autoconf") != Some(true)
            })
        })
    };
    let of_ovs = interfaces(desired).iter().filter(|i| kind(i) == InterfaceKind::OvsInterface && is_up(i));
    let missing = |name: &str| {
        let (addresses, mtu) = (format!("interfaces[{name}].ip"), format!("interfaces[{name}].mtu"));
        differences.iter().any(|difference| {
            let path = difference.path.to_string();
            path == mtu
                || (path.starts_with(&addresses) && path.contains(".address") && difference.got.is_null())
        })
    };
    of_ovs.filter(is_static).map(name).filter(|name| missing(name)).collect()
}

/// Their profiles and devices. Pure.
fn hanging<'a>(view: &'a NmView, names: &[&str]) -> Vec<(&'a str, &'a str)> {
    let devices = view.devices.iter().filter(|device| {
        device.is_ovs_interface()
            && device.waits_for_addresses()
            && names.contains(&device.interface.as_str())
    });
    devices.filter_map(|device| Some((view.profile_of(device)?, device.path.as_str()))).collect()
}

#[cfg(test)]
mod tests {
    use linesman_core::path::Path;
    use serde_json::json;

    use super::*;
    use crate::nm::{Active, Device};

    fn missing_address(name: &str) -> Difference {
        let path = Path::root().key("interfaces").item(name).key("ipv4").key("address").index(0);
        Difference { path, want: json!({ "ip": "10.0.0.1" }), got: Value::Null }
    }

    #[test]
    fn static_addresses_that_are_missing_are_found() {
        let interface = |name: &str, dhcp: bool| json!({ "name": name, "type": "ovs-interface", "state": "up", "ipv4": { "enabled": true, "dhcp": dhcp } });
        let desired = json!({ "interfaces": [interface("ovs0", false), interface("ovs1", true), interface("ovs2", false)] });
        let differences = [missing_address("ovs0"), missing_address("ovs1")];
        assert_eq!(without_address_or_mtu(&desired, &differences), ["ovs0"]);
        let path = Path::interface("ovs2").key("mtu");
        let mtu = Difference { path, want: json!(1400), got: json!(1500) };
        assert_eq!(without_address_or_mtu(&desired, &[mtu]), ["ovs2"]);
    }

    #[test]
    fn only_an_open_vswitch_interface_that_waits_for_addresses_hangs() {
        let device = |kind: u32, state: u32| Device {
            path: format!("/device/{kind}/{state}"),
            interface: "ovs0".into(),
            kind,
            state,
            active: Some("/active/1".into()),
            ..Device::default()
        };
        let active = Active { path: "/active/1".into(), uuid: "one".into(), ..Active::default() };
        let view = NmView {
            devices: vec![device(24, 70), device(24, 100), device(26, 70), device(16, 70)],
            active: vec![active],
            ..NmView::default()
        };
        assert_eq!(hanging(&view, &["ovs0"]), [("one", "/device/24/70")]);
        assert!(hanging(&view, &["ovs1"]).is_empty());
    }
}
