//! What NetworkManager has no part in, since it did not make it: ports of others on bridges, addresses by the kernel's own
//! autoconfiguration.

use std::collections::BTreeSet;
use std::time::Duration;

use linesman_core::foreign_port::{expelled, of_touched_bridges, staying};
use linesman_core::plan::{Plan, learnt_and_unwanted};
use serde_json::Value;

use crate::netlink::{self, Netlink};
use crate::nm::Nm;
use crate::snapshot::Snapshot;
use crate::{Error, Result, ovs};

/// NetworkManager may still be activating a bridge.
const ROUNDS: usize = 8;
const PAUSE: Duration = Duration::from_millis(300);

/// Removes what the plan removes.
pub async fn remove(nm: &Nm, plan: &Plan, desired: &Value, before: &Value) -> Result<()> {
    let ports = expelled(plan, desired, before);
    if !ports.from_ovs.is_empty() {
        ovs::remove_ports(&ports.from_ovs)
            .await
            .map_err(|e| Error::call("removing ports from Open vSwitch", e))?;
        forget(nm, &ports.from_ovs).await?;
    }
    let addresses = learnt_and_unwanted(plan, before);
    if addresses.is_empty() && ports.from_linux.is_empty() {
        return Ok(());
    }
    let failed = |e: netlink::Error| Error::call("removing ports and addresses", e);
    let netlink = Netlink::open().map_err(failed)?;
    for port in &ports.from_linux {
        netlink.set_controller(port, None).await.map_err(failed)?;
    }
    for (interface, address) in addresses {
        netlink.delete_address(&interface, address.addr(), address.prefix_len()).await.map_err(failed)?;
    }
    Ok(())
}

/// NetworkManager keeps a disconnected device of an internal interface that is gone, and nmstate shows it.
async fn forget(nm: &Nm, names: &BTreeSet<String>) -> Result<()> {
    const OVS_INTERFACE: u32 = 24;
    let view = nm.view().await?;
    let gone = view.devices.iter().filter(|d| d.kind == OVS_INTERFACE && names.contains(&d.interface));
    for device in gone {
        if let Err(e) = nm.delete_device(&device.path).await {
            tracing::warn!(interface = device.interface, error = %e, "cannot remove a device that is gone");
        }
    }
    Ok(())
}

/// Attaches ports of others again that NetworkManager dropped when it activated their bridge. Returns what could not be
/// done, for the outcome's notes.
pub async fn reattach(plan: &Plan, desired: &Value, before: &Value) -> Vec<String> {
    let ports = staying(plan, desired, before);
    if ports.is_empty() {
        return Vec::new();
    }
    match attach(&ports).await {
        Ok(Attached { refused, .. }) => refused,
        Err(e) => vec![format!("ports of others were not attached again: {e}")],
    }
}

/// After a rollback: until none is lost any more. Returns what is not as before.
pub async fn restore_ports(plan: &Plan, snapshot: &Snapshot) -> Vec<String> {
    let ports = of_touched_bridges(plan, &snapshot.state);
    let mut left = Vec::new();
    for round in 0..ROUNDS {
        if ports.is_empty() {
            break;
        }
        if round > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        match attach(&ports).await {
            Ok(Attached { lost: 0, .. }) => return Vec::new(),
            Ok(Attached { refused, .. }) => left = refused,
            Err(e) => left = vec![format!("ports of others: {e}")],
        }
    }
    left
}

struct Attached {
    /// How many were not attached.
    lost: usize,
    /// Those that could not be attached again.
    refused: Vec<String>,
}

async fn attach(ports: &[(String, String)]) -> netlink::Result<Attached> {
    let netlink = Netlink::open()?;
    let links = netlink.links().await?;
    let lost = |(port, _): &&(String, String)| {
        links.iter().any(|link| link.name == *port && link.controller.is_none())
    };
    let mut attached = Attached { lost: 0, refused: Vec::new() };
    for (port, bridge) in ports.iter().filter(lost) {
        attached.lost += 1;
        if let Err(e) = netlink.set_controller(port, Some(bridge)).await {
            attached.refused.push(format!("port {port} of others was not attached to {bridge} again: {e}"));
        }
    }
    Ok(attached)
}
