//! Devices on the way back: the former ones are brought up again, those that the change had made go.

use std::collections::BTreeSet;
use std::time::Duration;

use linesman_core::plan::Plan;
use serde_json::Value;

use crate::netlink::Netlink;
use crate::nm::{Nm, NmView};
use crate::ovs;
use crate::snapshot::Snapshot;

/// Activates the former profiles of these interfaces again, controllers before their ports.
pub async fn reactivate(nm: &Nm, snapshot: &Snapshot, interfaces: &BTreeSet<String>) {
    let mut profiles: Vec<_> = snapshot.active.iter().filter(|a| interfaces.contains(&a.interface)).collect();
    profiles.sort_by_key(|a| match a.kind.as_str() {
        "ovs-bridge" => 0,
        "ovs-port" => 1,
        "ovs-interface" | "bridge" | "bond" | "vrf" => 2,
        _ => 3,
    });
    for profile in profiles {
        if let Err(e) = nm.activate(&profile.uuid, None).await {
            log::warn!("{}: {e}", profile.interface);
        }
    }
}

pub async fn remove_created(nm: &Nm, snapshot: &Snapshot, plan: &Plan) {
    let existed = |name: &str| interfaces(snapshot).iter().any(|i| i["name"] == name);
    let Ok(NmView { devices, .. }) = nm.view().await else { return };
    for device in
        devices.iter().filter(|d| d.real && plan.created.contains(&d.interface) && !existed(&d.interface))
    {
        nm.delete_device(&device.path).await.ok();
    }
    let Ok(netlink) = Netlink::open() else { return };
    let Ok(links) = netlink.links().await else { return };
    for link in links.iter().filter(|l| plan.created.contains(&l.name) && !existed(&l.name)) {
        netlink.delete_link(&link.name).await.ok();
    }
}

/// A port that stays in a bridge gets its traffic there, whatever NetworkManager thinks of it: this is
/// worth waiting for a database that is being restarted.
pub async fn remove_from_ovs(snapshot: &Snapshot, plan: &Plan) {
    let Some(before) = &snapshot.ovs else { return };
    for _ in 0..15 {
        match ovs::remove_made(before, &plan.touched).await {
            Ok(()) => return,
            Err(e) => log::warn!("{e}"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A vswitchd that was killed leaves the NICs promiscuous that its userspace bridges had, and the next
/// one takes that for somebody's wish.
pub async fn calm(snapshot: &Snapshot, plan: &Plan) {
    let was_calm = |name: &str| {
        let interfaces = interfaces(snapshot).iter();
        interfaces.filter(|i| i["name"] == name).any(|i| i["accept-all-mac-addresses"] == false)
    };
    let Ok(netlink) = Netlink::open() else { return };
    let Ok(links) = netlink.links().await else { return };
    for link in links.iter().filter(|l| l.promiscuous && plan.touched.contains(&l.name) && was_calm(&l.name))
    {
        if let Err(e) = netlink.set_promiscuous(&link.name, false).await {
            log::warn!("{e}");
        }
    }
}

fn interfaces(snapshot: &Snapshot) -> &[Value] {
    snapshot.state["interfaces"].as_array().map_or(&[], Vec::as_slice)
}
