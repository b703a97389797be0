//! Properties that NetworkManager believes it has set.
//!
//! It sets most of a NIC, a VLAN, a MAC-VLAN, a VXLAN or a patch port when it activates or makes it. What somebody else has
//! altered since stays altered: nmstate applies a profile that is as it was, and NetworkManager finds nothing to do. Activated
//! again, some of it is set; the rest when the interface is made anew, which a NIC cannot be. What a Linux bridge or a bond says of
//! a port is set when the port is activated.

use linesman_core::compare::Difference;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::mac_address::MacAddress;
use linesman_core::path::{Path, PathStep};
use linesman_core::state::{interfaces, is_up, kind, name};
use serde_json::Value;

use crate::nm::{Device, Nm, NmView};
use crate::restore::mac_addresses;
use crate::uppers;

/// What is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    ActivateAgain,
    MakeAnew,
}

/// What cannot be set shows in the verification.
pub async fn set_again(nm: &Nm, desired: &Value, differences: &[Difference], effort: Effort) {
    // Activated again, a controller would lose its ports for a moment.
    mac_addresses::set_right(&of_controllers(desired, differences)).await;
    let mut names = unmoved(desired, differences, effort);
    if effort == Effort::ActivateAgain {
        names.extend(ports(desired, differences));
    }
    if names.is_empty() {
        return;
    }
    let Ok(view) = nm.view().await else { return };
    for (interface, uuid, device) in active(&view, &names, effort) {
        if effort == Effort::MakeAnew && uppers::has_any(interface) {
            continue;
        }
        tracing::warn!(interface, ?effort, "NetworkManager leaves it as somebody else has set it");
        let result = match effort {
            Effort::ActivateAgain => nm.activate(uuid, Some(device)).await,
            Effort::MakeAnew => match nm.delete_device(device).await {
                Ok(()) => nm.activate(uuid, None).await,
                Err(error) => Err(error),
            },
        };
        if let Err(error) = result {
            tracing::warn!(interface, %error, "cannot set it again");
        }
    }
}

/// What NetworkManager sets on every kind of interface when it activates it.
const OF_EVERY_KIND: [&str; 3] = ["mac-address", "mtu", "ethtool"];

/// Interfaces that have no ports, with differences other than addresses, which may be on their way. Pure.
fn unmoved<'a>(desired: &'a Value, differences: &[Difference], effort: Effort) -> Vec<&'a str> {
    let own = |interface: &&Value| {
        let start = format!("interfaces[{}].", name(interface));
        let sections = kind(interface).sections();
        differences.iter().any(|difference| {
            let path = difference.path.to_string();
            let key = path.strip_prefix(&start).map(|rest| rest.split(['.', '[']).next().unwrap_or_default());
            key.is_some_and(|key| OF_EVERY_KIND.contains(&key) || sections.contains(&key))
        })
    };
    let is_one = |interface: &Value| {
        has_no_ports(interface) || (effort == Effort::ActivateAgain && kind(interface).is_nic())
    };
    let all = interfaces(desired).iter().filter(|interface| is_up(interface) && is_one(interface));
    all.filter(own).map(name).collect()
}

/// MAC addresses of bonds and bridges. Pure.
fn of_controllers(desired: &Value, differences: &[Difference]) -> Vec<(String, MacAddress)> {
    use InterfaceKind::{Bond, LinuxBridge};
    let controllers =
        interfaces(desired).iter().filter(|i| is_up(i) && matches!(kind(i), Bond | LinuxBridge));
    let wanted = |controller: &Value| {
        let place = Path::interface(name(controller)).key("mac-address");
        let difference = differences.iter().find(|difference| difference.path == place)?;
        Some((name(controller).to_owned(), difference.want.as_str()?.parse().ok()?))
    };
    controllers.filter_map(wanted).collect()
}

/// Ports that are there, but not as their controller declares them. Pure.
fn ports<'a>(desired: &Value, differences: &'a [Difference]) -> Vec<&'a str> {
    use InterfaceKind::{Bond, LinuxBridge};
    let controllers: Vec<&str> = interfaces(desired)
        .iter()
        .filter(|i| is_up(i) && matches!(kind(i), Bond | LinuxBridge))
        .map(name)
        .collect();
    let port = |difference: &'a Difference| match difference.path.steps() {
        [
            _,
            PathStep::Item(controller),
            PathStep::Key(_),
            PathStep::Key(list),
            PathStep::Item(port),
            _,
            ..,
        ] if matches!(list.as_str(), "port" | "ports-config")
            && controllers.contains(&controller.as_str()) =>
        {
            Some(port.as_str())
        }
        _ => None,
    };
    let mut ports: Vec<&str> = differences.iter().filter_map(port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

fn has_no_ports(interface: &Value) -> bool {
    let is_patch = interface.get("patch").is_some_and(Value::is_object);
    is_patch
        || matches!(
            kind(interface),
            InterfaceKind::Dummy
                | InterfaceKind::Vlan
                | InterfaceKind::MacVlan
                | InterfaceKind::MacVtap
                | InterfaceKind::Ipvlan
                | InterfaceKind::Vxlan
                | InterfaceKind::IpTunnel
                | InterfaceKind::Hsr
        )
}

/// With their profiles and devices, if NetworkManager thinks they are up, and has made those that are to be made anew. Pure.
fn active<'a>(view: &'a NmView, names: &[&str], effort: Effort) -> Vec<(&'a str, &'a str, &'a str)> {
    let fits = |device: &Device| device.software || effort == Effort::ActivateAgain;
    let devices = view
        .devices
        .iter()
        .filter(|device| fits(device) && device.activated() && names.contains(&device.interface.as_str()));
    devices
        .filter_map(|device| {
            Some((device.interface.as_str(), view.profile_of(device)?, device.path.as_str()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_controller_declares_of_a_port_is_set_by_the_port() {
        let desired = json!({"interfaces": [
            {"name": "br1", "type": "linux-bridge", "state": "up"},
            {"name": "ovs1", "type": "ovs-bridge", "state": "up"},
            {"name": "bond1", "type": "bond", "state": "up"},
        ]});
        let difference = |path: Path| Difference { path, want: json!(1), got: json!(2) };
        let list =
            |name: &str, section: &str, list: &str| Path::interface(name).key(section).key(list).item("p1");
        let differences = [
            difference(list("br1", "bridge", "port").key("stp-path-cost")),
            difference(list("br1", "bridge", "port").key("vlan").key("tag")),
            difference(list("ovs1", "bridge", "port").key("vlan")),
            difference(
                Path::interface("bond1")
                    .key("link-aggregation")
                    .key("ports-config")
                    .item("p2")
                    .key("queue-id"),
            ),
        ];
        assert_eq!(ports(&desired, &differences), ["p1", "p2"]);
        assert_eq!(ports(&desired, &[difference(list("br1", "bridge", "port"))]), [""; 0], "it is not there");
    }

    #[test]
    fn the_mac_address_of_a_controller_is_set_without_its_ports() {
        let desired = json!({"interfaces": [
            {"name": "bond1", "type": "bond", "state": "up"}, {"name": "d1", "type": "dummy", "state": "up"},
        ]});
        let mac = json!("02:00:00:AA:CC:01");
        let difference = |name: &str, key: &str| Difference {
            path: Path::interface(name).key(key),
            want: mac.clone(),
            got: json!("02:00:00:AA:CC:03"),
        };
        let differences =
            [difference("bond1", "mac-address"), difference("d1", "mac-address"), difference("bond1", "mtu")];
        let found = of_controllers(&desired, &differences);
        assert_eq!(found, [("bond1".to_owned(), "02:00:00:AA:CC:01".parse().unwrap())]);
    }

    #[test]
    fn addresses_are_waited_for_and_controllers_left_alone() {
        let interface = |name: &str, kind: &str| json!({"name": name, "type": kind, "state": "up"});
        let desired = json!({"interfaces": [
            interface("v1", "vlan"), interface("v2", "vlan"), interface("br1", "linux-bridge"),
            interface("d1", "dummy"), interface("o1", "ovs-interface"),
            {"name": "p1", "type": "ovs-interface", "state": "up", "patch": {"peer": "p2"}},
            interface("eth1", "ethernet"), interface("bond1", "bond"),
        ]});
        let difference = |name: &str, section: &str, key: &str| Difference {
            path: Path::root().key("interfaces").item(name).key(section).key(key),
            want: json!(1),
            got: json!(2),
        };
        let differences = [
            difference("v1", "vlan", "id"),
            difference("v2", "ipv4", "address"),
            difference("br1", "bridge", "port"),
            difference("d1", "ethtool", "feature"),
            difference("o1", "mtu", "mtu"),
            difference("p1", "patch", "peer"),
            difference("eth1", "ethtool", "ring"),
            difference("bond1", "link-aggregation", "mode"),
        ];
        assert_eq!(unmoved(&desired, &differences, Effort::MakeAnew), ["v1", "d1", "p1"]);
        assert_eq!(unmoved(&desired, &differences, Effort::ActivateAgain), ["v1", "d1", "p1", "eth1"]);
    }
}
