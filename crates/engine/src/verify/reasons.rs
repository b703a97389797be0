//! Why something does not hold, as far as NetworkManager and the neighbours know it.
//!
//! NetworkManager says over D-Bus that a device failed, and why in general; that an address is in use elsewhere, and by
//! whom, it only logs. The kernel can ask for that as well.

use std::net::IpAddr;
use std::time::Duration;

use linesman_core::compare::Difference;
use linesman_core::device_state;
use linesman_core::path::PathStep;
use serde_json::Value;
use tokio::time::Instant;

use crate::netlink::{LinkFact, Netlink};
use crate::nm::{Device, Nm, NmView};
use crate::watch::Watch;

/// A rollback is waiting.
const PATIENCE: Duration = Duration::from_millis(800);
/// A document may declare hundreds of addresses.
const AT_MOST: usize = 8;

/// Adds the cause to what was found; differences with a known culprit come first.
pub async fn explain(nm: &Nm, watch: &Watch, differences: &mut [Difference]) {
    if let Ok(view) = nm.view().await {
        let failure = |device: &Device| watch.failure_of(&device.path);
        differences.iter_mut().for_each(|difference| name_state(difference, &view, failure));
    }
    if let Ok(found) = owners(differences).await {
        for (index, owner) in found {
            if let Some(difference) = differences.get_mut(index) {
                difference.got = format!("nothing: the address is in use by {owner}").into();
            }
        }
    }
    differences
        .sort_by_key(|difference| difference.got.as_str().is_none_or(|got| !got.starts_with("nothing: ")));
}

/// Where only the state is wrong, NetworkManager's own words for it.
fn name_state(difference: &mut Difference, view: &NmView, failure: impl Fn(&Device) -> Option<u32>) {
    let [PathStep::Key(all), PathStep::Item(name), PathStep::Key(key)] = difference.path.steps() else {
        return;
    };
    if all != "interfaces" || key != "state" || difference.got != "down" {
        return;
    }
    let meant = view.devices.iter().filter(|device| device.interface == *name && !device.activated());
    let described = meant.filter_map(|device| {
        let failed = failure(device).and_then(device_state::reason);
        failed.or_else(|| device_state::reason(device.reason))
    });
    if let Some(reason) = described.into_iter().next() {
        difference.got = format!("down: {reason}").into();
    }
}

/// Who has the addresses that are missing, by the place of the difference.
async fn owners(differences: &[Difference]) -> crate::netlink::Result<Vec<(usize, String)>> {
    let missing = differences.iter().enumerate().filter_map(|(at, one)| Some((at, missing_address(one)?)));
    let missing: Vec<(usize, (&str, IpAddr))> = missing.take(AT_MOST).collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let netlink = Netlink::open()?;
    let links = netlink.links().await?;
    let deadline = Instant::now() + PATIENCE;
    let mut found = Vec::new();
    for (at, (interface, ip)) in missing {
        let Some(link) = links.iter().find(|link| link.name == interface && link.up) else { continue };
        if let Some(mac) = netlink.ask_for_owner(ip, link.index, deadline).await? {
            found.push((at, described(&mac, &links)));
        }
    }
    Ok(found)
}

/// An address that a declared interface does not have.
fn missing_address(difference: &Difference) -> Option<(&str, IpAddr)> {
    let [PathStep::Key(all), PathStep::Item(name), PathStep::Key(_), PathStep::Key(list), ..] =
        difference.path.steps()
    else {
        return None;
    };
    let ip = difference.want.get("ip").and_then(Value::as_str)?.parse().ok()?;
    (all == "interfaces" && list == "address" && difference.got.is_null()).then_some((name, ip))
}

fn described(mac: &str, links: &[LinkFact]) -> String {
    let own = links.iter().find(|link| link.mac.as_deref() == Some(mac));
    own.map_or_else(|| mac.to_owned(), |own| format!("{mac} ({} of this host)", own.name))
}

#[cfg(test)]
mod tests {
    use linesman_core::path::Path;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_address_is_one_to_ask_for() {
        let at = Path::interface("eth1").key("ipv4").key("address");
        let want = json!({ "ip": "10.9.1.1", "prefix-length": 24 });
        let difference = |path, got| Difference { path, want: want.clone(), got };
        let ip: IpAddr = "10.9.1.1".parse().unwrap();
        assert_eq!(missing_address(&difference(at.index(0), Value::Null)), Some(("eth1", ip)));
        assert_eq!(missing_address(&difference(at.index(0), json!({ "prefix-length": 8 }))), None);
        assert_eq!(missing_address(&difference(Path::interface("eth1").key("mtu"), Value::Null)), None);
    }
}
