//! Devices in a rollback: the former ones are brought up again, those that the change had made go.

use std::collections::BTreeSet;
use std::time::Duration;

use linesman_core::interface_kind::Requirement;
use linesman_core::interface_name::InterfaceName;
use linesman_core::plan::{Plan, Subject};
use linesman_core::state::interfaces;

use crate::netlink::Netlink;
use crate::nm::{Device, Nm, NmView};
use crate::ovs;
use crate::snapshot::{ActiveProfile, Snapshot};

/// Activates the former profiles of these interfaces again, controllers before their ports.
pub async fn reactivate(nm: &Nm, snapshot: &Snapshot, interfaces: &BTreeSet<InterfaceName>) {
    activate(nm, snapshot.active.iter().filter(|a| interfaces.contains(a.interface.as_str()))).await;
}

/// Activates the profiles of internal ports again whose name was taken; their bridges are at work already.
pub async fn reclaim(nm: &Nm, snapshot: &Snapshot, ports: &BTreeSet<InterfaceName>) {
    let profiles =
        snapshot.active.iter().filter(|a| ports.contains(a.interface.as_str()) && a.kind == "ovs-interface");
    activate(nm, profiles).await;
}

async fn activate(nm: &Nm, profiles: impl Iterator<Item = &ActiveProfile>) {
    let mut profiles: Vec<_> = profiles.collect();
    profiles.sort_by_key(|a| match a.kind.as_str() {
        "ovs-bridge" => 0,
        "ovs-port" => 1,
        "ovs-interface" | "bridge" | "bond" | "vrf" => 2,
        _ => 3,
    });
    for profile in profiles {
        let Err(e) = nm.activate(&profile.uuid, None).await else { continue };
        tracing::warn!(interface = profile.interface, error = %e, "cannot activate the previous profile");
        if is_stacked(profile) {
            replace(nm, profile).await;
        }
    }
}

/// An interface that the change has made does not fit its former profile if it is on another base or of another mode: without it
/// the profile can be activated.
async fn replace(nm: &Nm, profile: &ActiveProfile) {
    let Ok(view) = nm.view().await else { return };
    let Some(device) = in_the_way(&view, &profile.interface) else { return };
    let replaced = match nm.delete_device(&device.path).await {
        Ok(()) => nm.activate(&profile.uuid, None).await,
        Err(error) => Err(error),
    };
    if let Err(e) = replaced {
        tracing::warn!(interface = profile.interface, error = %e, "cannot make it anew");
    }
}

/// Made on another interface, and without ports that would go with it.
fn is_stacked(profile: &ActiveProfile) -> bool {
    matches!(profile.kind.as_str(), "vlan" | "macvlan" | "vxlan" | "ipvlan" | "macsec" | "ip-tunnel")
}

/// The interface of that name, if NetworkManager can make another one instead. Pure.
fn in_the_way<'a>(view: &'a NmView, interface: &str) -> Option<&'a Device> {
    view.devices.iter().find(|device| device.interface == interface && device.real && device.software)
}

pub async fn remove_created(nm: &Nm, snapshot: &Snapshot, plan: &Plan) {
    let existed = |name: &str| interfaces(&snapshot.state).iter().any(|i| i["name"] == name);
    let Ok(NmView { devices, .. }) = nm.view().await else { return };
    for device in devices
        .iter()
        .filter(|d| d.real && plan.created.contains(d.interface.as_str()) && !existed(&d.interface))
    {
        nm.delete_device(&device.path).await.ok();
    }
    let Ok(netlink) = Netlink::open() else { return };
    let Ok(links) = netlink.links().await else { return };
    for link in links.iter().filter(|l| plan.created.contains(l.name.as_str()) && !existed(&l.name)) {
        netlink.delete_link(&link.name).await.ok();
    }
}

/// NetworkManager tries once to take its rows out of the database, and then takes them for gone: better
/// wait a moment for one that is being restarted than roll back without it.
pub async fn await_ovs(snapshot: &Snapshot, plan: &Plan) {
    if snapshot.ovs.is_none() || !concerns_ovs(plan) {
        return;
    }
    for _ in 0..15 {
        if ovs::running().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn concerns_ovs(plan: &Plan) -> bool {
    let of_ovs = |subject: &Subject| matches!(subject, Subject::Interface { kind, .. } if kind.requirement() == Requirement::OpenVswitch);
    plan.changes.iter().any(|change| of_ovs(&change.subject))
}

/// Takes out of the database what NetworkManager does not; a port that stays in a bridge gets its
/// traffic there, whatever NetworkManager thinks. Returns a note if there was something.
pub async fn remove_from_ovs(snapshot: &Snapshot, plan: &Plan) -> Option<String> {
    const STALE: &str = "NetworkManager lost its connection to the Open vSwitch database in the middle of this; \
        restart NetworkManager if the next change of a bridge fails";
    let before = snapshot.ovs.as_ref()?;
    await_ovs(snapshot, plan).await;
    for _ in 0..20 {
        // It is at it.
        if ovs::made(before, &plan.touched).await.is_ok_and(|rows| rows == 0) {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    match ovs::remove_made(before, &plan.touched).await {
        Ok(()) => Some(STALE.to_string()),
        Err(e) => {
            tracing::warn!(error = %e, "cannot remove what the change made in the Open vSwitch database");
            None
        }
    }
}

/// A vswitchd that was killed leaves the NICs promiscuous that its userspace bridges had, and the next
/// one takes that for somebody's wish.
pub async fn calm(snapshot: &Snapshot, plan: &Plan) {
    let was_calm = |name: &str| {
        interfaces(&snapshot.state)
            .iter()
            .filter(|i| i["name"] == name)
            .any(|i| i["accept-all-mac-addresses"] == false)
    };
    let Ok(netlink) = Netlink::open() else { return };
    let Ok(links) = netlink.links().await else { return };
    for link in
        links.iter().filter(|l| l.promiscuous && plan.touched.contains(l.name.as_str()) && was_calm(&l.name))
    {
        if let Err(e) = netlink.set_promiscuous(&link.name, false).await {
            tracing::warn!(interface = link.name, error = %e, "cannot end promiscuous mode");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nic_is_never_in_the_way() {
        let device = |interface: &str, software: bool, real: bool| Device {
            interface: interface.to_owned(),
            software,
            real,
            ..Device::default()
        };
        let devices = vec![device("eth0", false, true), device("m1", true, true), device("m2", true, false)];
        let view = NmView { devices, ..NmView::default() };
        let found = ["eth0", "m1", "m2", "m3"].map(|name| in_the_way(&view, name).is_some());
        assert_eq!(found, [false, true, false, false]);
    }
}
