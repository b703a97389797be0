//! A bond that NetworkManager makes anew takes the MAC address of the port that comes first, which may be another one than before: a
//! lease would move with it. Its ports follow.

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::mac_address::MacAddress;
use linesman_core::state::{interfaces, kind, name, text};
use serde_json::Value;

use crate::netlink::Netlink;

/// Bonds that have another MAC address than before, with the former one. Pure.
pub fn wrong(former: &Value, now: &Value) -> Vec<(String, MacAddress)> {
    let mac = |bond: &Value| -> Option<MacAddress> { text(bond, "mac-address")?.parse().ok() };
    let bonds = |state| interfaces(state).iter().filter(|bond| kind(bond) == InterfaceKind::Bond);
    let moved = |bond: &Value| {
        let wanted = mac(bond)?;
        let found = bonds(now).filter(|other| name(other) == name(bond)).find_map(mac)?;
        (found != wanted && wanted.is_ethernet()).then(|| (name(bond).to_owned(), wanted))
    };
    bonds(former).filter_map(moved).collect()
}

pub async fn set_right(macs: &[(String, MacAddress)]) {
    if macs.is_empty() {
        return;
    }
    let Ok(netlink) = Netlink::open() else { return };
    for (bond, mac) in macs {
        if let Err(error) = netlink.set_mac(bond, mac.bytes()).await {
            tracing::warn!(bond, %error, "cannot restore the MAC address");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_bonds_whose_address_moved_are_set_right() {
        let state = |first: &str, nic: &str| {
            let bond = |name: &str, mac: &str| json!({"name": name, "type": "bond", "mac-address": mac});
            json!({"interfaces": [
                bond("bond0", first), bond("bond1", "02:00:00:00:00:05"),
                {"name": "eth1", "type": "ethernet", "mac-address": nic},
            ]})
        };
        let former = state("02:00:00:00:00:02", "02:00:00:00:00:02");
        let now = state("02:00:00:00:00:03", "02:00:00:00:00:03");
        let mac: MacAddress = "02:00:00:00:00:02".parse().unwrap();
        assert_eq!(wrong(&former, &now), [("bond0".to_owned(), mac)]);
        assert!(wrong(&former, &former).is_empty());
        assert!(wrong(&former, &json!({"interfaces": []})).is_empty());
    }
}
