//! What NetworkManager has no part in, since it did not make it: ports of others on bridges, addresses by the kernel's own
//! autoconfiguration.

use linesman_core::foreign_port::{expelled, staying};
use linesman_core::plan::{Plan, learnt_and_unwanted};
use serde_json::Value;

use crate::netlink::{self, Netlink};
use crate::{Error, Result, ovs};

/// Removes what the plan removes.
pub async fn remove(plan: &Plan, desired: &Value, before: &Value) -> Result<()> {
    let ports = expelled(plan, desired, before);
    if !ports.from_ovs.is_empty() {
        ovs::remove_ports(&ports.from_ovs)
            .await
            .map_err(|e| Error::call("removing ports from Open vSwitch", e))?;
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

/// Attaches ports of others again that NetworkManager dropped when it activated their bridge. Returns what could not be
/// done, for the outcome's notes.
pub async fn reattach(plan: &Plan, desired: &Value, before: &Value) -> Vec<String> {
    let ports = staying(plan, desired, before);
    if ports.is_empty() {
        return Vec::new();
    }
    match attach(&ports).await {
        Ok(notes) => notes,
        Err(e) => vec![format!("ports of others were not attached again: {e}")],
    }
}

async fn attach(ports: &[(String, String)]) -> netlink::Result<Vec<String>> {
    let netlink = Netlink::open()?;
    let links = netlink.links().await?;
    let mut notes = Vec::new();
    for (port, bridge) in ports {
        let lost = links.iter().any(|link| link.name == *port && link.controller.is_none());
        if lost && let Err(e) = netlink.set_controller(port, Some(bridge)).await {
            notes.push(format!("port {port} of others was not attached to {bridge} again: {e}"));
        }
    }
    Ok(notes)
}
