//! Up means that NetworkManager has finished, and that Open vSwitch has followed.
//!
//! nmstate calls everything up that is neither unmanaged nor disconnected: a NIC that waits for an 802.1X supplicant, and
//! an internal interface whose bridge ovs-vswitchd could not create. A device that only waits for addresses counts as
//! up: those that are declared are compared, a lease may come later, and a bridge without ports waits for a carrier. A
//! declared IPv6 address is there once the kernel has found no other host with it; until then NetworkManager may still
//! take the interface down.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use linesman_core::compare::Difference;
use linesman_core::device_state;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{addresses, interfaces, name};
use linesman_core::verify::{DeclaredUp, declared_up};
use serde_json::{Value, json};

use crate::netlink::{self, AddressFact, LinkFact, Netlink};
use crate::nm::{Device, Nm, NmView};
use crate::ovs::{self, Attachment};
use crate::{Error, Result, supplicant};

/// What is declared up, looks so in `state`, and is not. An error: nobody can tell, so it does not count as up.
pub async fn pending(nm: &Nm, desired: &Value, state: &Value) -> Result<Vec<Difference>> {
    let wanted = declared_up(desired, state);
    let view = nm.view().await?;
    let attachments = match wanted.iter().any(is_of_ovs) {
        true => ovs::attachments().await.map_err(|e| Error::call("reading the Open vSwitch database", e))?,
        false => BTreeMap::new(),
    };
    let mut found = unfinished(&wanted, &view, &attachments);
    if wanted.iter().any(|one| one.addresses.iter().any(|address| address.addr().is_ipv6())) {
        let observed = interfaces(state).iter();
        let observed: BTreeSet<(&str, IpAddr)> =
            observed.flat_map(|i| addresses(i).map(move |address| (name(i), address.addr()))).collect();
        let kernel = unsettled().await.map_err(|e| Error::call("reading addresses from the kernel", e))?;
        found.extend(tentative(&wanted, &observed, &kernel.0, &kernel.1));
    }
    let waits = |difference: &Difference| {
        wanted.iter().any(|one| one.by_supplicant && one.path.key("state") == difference.path)
    };
    if found.iter().any(waits) && !supplicant::available(nm).await {
        for difference in found.iter_mut().filter(|difference| waits(difference)) {
            let state = difference.got.as_str().unwrap_or_default();
            difference.got = format!("{state}; {}", supplicant::MISSING).into();
        }
    }
    Ok(found)
}

async fn unsettled() -> netlink::Result<(Vec<LinkFact>, Vec<AddressFact>)> {
    let netlink = Netlink::open()?;
    Ok((netlink.links().await?, netlink.addresses().await?))
}

/// Declared addresses that the kernel does not use yet, or found at another host. Without a carrier it cannot look. Pure.
fn tentative(
    wanted: &[DeclaredUp],
    observed: &BTreeSet<(&str, IpAddr)>,
    links: &[LinkFact],
    addresses: &[AddressFact],
) -> Vec<Difference> {
    let carrier = |index: u32| links.iter().any(|link| link.index == index && link.carrier);
    let mut found = Vec::new();
    for one in wanted {
        for declared in one.addresses.iter().filter(|declared| declared.addr().is_ipv6()) {
            let mut own = addresses.iter().filter(|address| address.interface == one.name);
            let got = match own.find(|address| address.ip == declared.addr()) {
                // It was there a moment ago: NetworkManager takes a duplicate away, and tries again.
                None if observed.contains(&(one.name.as_str(), declared.addr())) => Value::Null,
                Some(address) if address.is_duplicate() => Value::Null,
                Some(address) if address.is_tentative() && carrier(address.index) => {
                    "tentative: duplicate address detection has not finished".into()
                }
                _ => continue,
            };
            let ip = declared.addr().to_string();
            let path = one.path.key("ipv6").key("address").item(ip.clone());
            let want = json!({ "ip": ip, "prefix-length": declared.prefix_len() });
            found.push(Difference { path, want, got });
        }
    }
    found
}

fn is_of_ovs(one: &DeclaredUp) -> bool {
    matches!(one.kind, InterfaceKind::OvsBridge | InterfaceKind::OvsInterface)
}

/// Pure.
fn unfinished(
    wanted: &[DeclaredUp],
    view: &NmView,
    attachments: &BTreeMap<String, Attachment>,
) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for one in wanted {
        let device = view.devices.iter().find(|device| is_device(device, one));
        let attachment = attachments.get(&one.name).filter(|_| one.kind != InterfaceKind::OvsBridge);
        let got = match (device.filter(|device| device.changing()), attachment) {
            (Some(device), _) => device_state::describe(device.state, device.reason),
            (None, Some(Attachment::Missing { error })) => without_port(device, error.as_deref()),
            _ => continue,
        };
        found.push(Difference { path: one.path.key("state"), want: "up".into(), got: got.into() });
    }
    found
}

fn without_port(device: Option<&Device>, error: Option<&str>) -> String {
    let state = device.map_or("down", |device| device_state::state(device.state));
    match error {
        Some(error) => format!("{state}: Open vSwitch says: {error}"),
        None => format!("{state}: Open vSwitch has not added it to its bridge; see the log of ovs-vswitchd"),
    }
}

/// An OVS bridge, its port and its internal interface are three devices of one name.
fn is_device(device: &Device, one: &DeclaredUp) -> bool {
    const OVS_INTERFACE: u32 = 24;
    const OVS_PORT: u32 = 25;
    const OVS_BRIDGE: u32 = 26;
    device.interface == one.name
        && match one.kind {
            InterfaceKind::OvsBridge => device.kind == OVS_BRIDGE,
            InterfaceKind::OvsInterface => device.kind == OVS_INTERFACE,
            _ => !matches!(device.kind, OVS_INTERFACE | OVS_PORT | OVS_BRIDGE),
        }
}

#[cfg(test)]
mod tests {
    use linesman_core::path::Path;

    use super::*;

    fn wanted(name: &str, kind: InterfaceKind) -> DeclaredUp {
        DeclaredUp {
            path: Path::interface(name),
            name: name.into(),
            kind,
            by_supplicant: false,
            addresses: Vec::new(),
        }
    }

    fn device(name: &str, kind: u32, state: u32) -> Device {
        Device {
            path: format!("/{name}/{kind}"),
            interface: name.into(),
            kind,
            managed: true,
            state,
            reason: 0,
            real: true,
            software: true,
            active: None,
        }
    }

    fn found(one: DeclaredUp, device: Device, attachments: &[(&str, Attachment)]) -> Option<String> {
        let view = NmView { devices: vec![device], ..NmView::default() };
        let attachments = attachments.iter().map(|(name, a)| ((*name).to_owned(), a.clone())).collect();
        let found = unfinished(&[one], &view, &attachments);
        found.first().map(|difference| difference.got.as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn configuring_and_failing_are_not_up_but_waiting_for_addresses_is() {
        let nic = || wanted("eth1", InterfaceKind::Ethernet);
        assert_eq!(found(nic(), device("eth1", 1, 50), &[]).as_deref(), Some("connecting (configuring)"));
        assert!(found(nic(), device("eth1", 1, 60), &[]).is_some_and(|got| got.contains("authentication")));
        assert!(found(nic(), device("eth1", 1, 120), &[]).is_some());
        assert_eq!(found(nic(), device("eth1", 1, 70), &[]), None);
        assert_eq!(found(nic(), device("eth1", 1, 100), &[]), None);
        assert_eq!(found(nic(), device("eth1", 25, 50), &[]), None, "of another kind");
    }

    #[test]
    fn an_interface_that_open_vswitch_did_not_make_is_not_up() {
        let internal = || wanted("br0", InterfaceKind::OvsInterface);
        let missing = |error: Option<&str>| Attachment::Missing { error: error.map(str::to_owned) };
        let got = found(internal(), device("br0", 24, 70), &[("br0", missing(Some("no such device")))]);
        assert_eq!(
            got.as_deref(),
            Some("connecting (getting IP configuration): Open vSwitch says: no such device")
        );
        assert!(found(internal(), device("br0", 24, 100), &[("br0", missing(None))]).is_some());
        assert_eq!(found(internal(), device("br0", 24, 100), &[("br0", Attachment::Done)]), None);
        let bridge = wanted("br0", InterfaceKind::OvsBridge);
        assert_eq!(
            found(bridge, device("br0", 26, 100), &[("br0", missing(None))]),
            None,
            "its interface is"
        );
    }
}
