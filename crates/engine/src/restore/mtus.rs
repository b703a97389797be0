//! MTUs that somebody set in the kernel: NetworkManager sets the one of its profile when it activates a device again.

use linesman_core::state::{interfaces, name};
use serde_json::Value;

use crate::netlink::Netlink;

/// Interfaces that have another MTU than before, with the former one. Pure.
pub fn wrong(goal: &Value, now: &Value) -> Vec<(String, u32)> {
    let mtu = |interface: &Value| interface.get("mtu")?.as_u64()?.try_into().ok();
    let moved = |former: &Value| {
        let wanted: u32 = mtu(former)?;
        let found: u32 = interfaces(now).iter().filter(|i| name(i) == name(former)).find_map(mtu)?;
        (found != wanted).then(|| (name(former).to_owned(), wanted))
    };
    interfaces(goal).iter().filter_map(moved).collect()
}

/// What is still wrong is seen afterwards.
pub async fn set_right(mtus: &[(String, u32)]) {
    let Ok(netlink) = Netlink::open() else { return };
    for (interface, mtu) in mtus {
        if let Err(error) = netlink.set_mtu(interface, *mtu).await {
            tracing::warn!(interface, %error, "cannot restore the MTU");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_moved_is_set_right() {
        let state = |mtu: u32| json!({ "interfaces": [{ "name": "eth0", "mtu": 1500 }, { "name": "eth1", "mtu": mtu }, { "name": "br-ex" }] });
        assert_eq!(wrong(&state(1234), &state(1400)), [("eth1".to_owned(), 1234)]);
        assert!(wrong(&state(1400), &state(1400)).is_empty());
        assert!(wrong(&state(1400), &json!({ "interfaces": [] })).is_empty(), "it is not there yet");
    }
}
