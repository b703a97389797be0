//! NICs that leave a bond: the kernel sets them down, and NetworkManager does not set up again what it does not activate. Nobody
//! would see a cable that is plugged into them.

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{interfaces, is_up, kind, name, ports, text};
use serde_json::Value;

use crate::netlink::{LinkFact, Netlink};

/// Called once nmstate is done. What cannot be set up is no reason to undo the change.
pub async fn open(before: &Value, desired: &Value) {
    if bonded(before).next().is_none() {
        return;
    }
    let Ok(netlink) = Netlink::open() else { return };
    let Ok(links) = netlink.links().await else { return };
    for nic in closed(before, desired, &links) {
        if let Err(error) = netlink.set_link_up(nic).await {
            tracing::warn!(interface = nic, %error, "cannot set the former port of a bond up");
        }
    }
}

fn bonded(before: &Value) -> impl Iterator<Item = &str> {
    let bonds = interfaces(before).iter().filter(|i| kind(i) == InterfaceKind::Bond && is_up(i));
    bonds.flat_map(|bond| ports(bond).unwrap_or_default())
}

/// Unless the document wants them down. Pure.
fn closed<'a>(before: &'a Value, desired: &Value, links: &[LinkFact]) -> Vec<&'a str> {
    let down =
        |nic: &str| interfaces(desired).iter().any(|i| name(i) == nic && text(i, "state") == Some("down"));
    let is_closed =
        |nic: &str| links.iter().any(|link| link.name == nic && !link.up && link.controller.is_none());
    bonded(before).filter(|nic| is_closed(nic) && !down(nic)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn those_that_have_left_and_are_not_declared_down() {
        let link = |name: &str, up: bool, controller: Option<&str>| {
            let link = json!({"index": 1, "name": name, "up": up, "carrier": up, "controller": controller, "mtu": 1500});
            serde_json::from_value::<LinkFact>(link).unwrap()
        };
        let ports = ["eth1", "eth2", "eth3", "eth4"];
        let before = json!({"interfaces": [
            {"name": "bond0", "type": "bond", "state": "up", "link-aggregation": {"port": ports}}]});
        let desired = json!({"interfaces": [{"name": "eth2", "type": "ethernet", "state": "down"}]});
        let links = [
            link("eth1", false, None),
            link("eth2", false, None),
            link("eth3", false, Some("bond1")),
            link("eth4", true, None),
            link("eth5", false, None),
        ];
        assert_eq!(closed(&before, &desired, &links), ["eth1"]);
    }
}
