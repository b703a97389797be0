//! What a rollback restores from, written to disk before anything is changed.
//!
//! NetworkManager's checkpoint is quicker, but it dies with NetworkManager, and it never covers the
//! hostname, keys in OVSDB, and addresses that somebody else added.

use std::collections::BTreeSet;
use std::net::IpAddr;

use linesman_core::interface_name::InterfaceName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::journal::VERSION;
use crate::keyfile::ProfileFile;
use crate::netlink::{AddressFact, Netlink};
use crate::nm::{GlobalDns, Nm, NmView};
use crate::ovs::OvsKeys;
use crate::{Error, Result, ovs};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    #[serde(default)]
    pub version: u32,
    /// The whole state before the change.
    pub state: Value,
    pub profiles: Vec<ProfileFile>,
    pub active: Vec<ActiveProfile>,
    pub dns: GlobalDns,
    pub hostname: Hostname,
    pub ovs: Option<OvsKeys>,
    /// Addresses that no profile declares: virtual IPs, and addresses added by hand.
    pub foreign: Vec<AddressFact>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveProfile {
    pub uuid: String,
    pub interface: String,
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hostname {
    pub running: String,
    /// None: there is no /etc/hostname.
    pub fixed: Option<String>,
}

/// Reads everything that a rollback needs. `state`, `view` and `profiles` were read for the plan already.
pub async fn take(
    nm: &Nm,
    view: &NmView,
    profiles: &[ProfileFile],
    state: &Value,
    touched: &BTreeSet<InterfaceName>,
) -> Result<Snapshot> {
    let ovs = if ovs::running().await {
        Some(ovs::read_keys().await.map_err(|e| Error::Snapshot(e.into()))?)
    } else {
        None
    };
    let addresses = match Netlink::open() {
        Ok(netlink) => netlink.addresses().await,
        Err(e) => Err(e),
    }
    .map_err(|e| Error::Snapshot(e.into()))?;
    Ok(Snapshot {
        version: VERSION,
        state: state.clone(),
        profiles: profiles.to_vec(),
        active: active_profiles(view),
        dns: nm.global_dns().await?,
        hostname: Hostname::read(),
        ovs,
        foreign: foreign(&addresses, view, profiles, touched),
    })
}

fn active_profiles(view: &NmView) -> Vec<ActiveProfile> {
    view.active
        .iter()
        .filter(|a| a.up && !a.external)
        .flat_map(|a| a.devices.iter().filter_map(|d| view.device(d)).map(move |d| (a, d)))
        .map(|(a, d)| ActiveProfile {
            uuid: a.uuid.clone(),
            interface: d.interface.clone(),
            kind: a.kind.clone(),
        })
        .collect()
}

impl Hostname {
    pub fn read() -> Self {
        let running = nix::unistd::gethostname().ok().and_then(|n| n.into_string().ok()).unwrap_or_default();
        let fixed = std::fs::read_to_string("/etc/hostname").ok().map(|n| n.trim().to_string());
        Self { running, fixed }
    }
}

/// Addresses with an end come from DHCP or router advertisements, link-local ones from the kernel; of
/// the rest, what no active profile names was put there by somebody else.
fn foreign(
    addresses: &[AddressFact],
    view: &NmView,
    profiles: &[ProfileFile],
    touched: &BTreeSet<InterfaceName>,
) -> Vec<AddressFact> {
    let declared: BTreeSet<(String, IpAddr)> = profiles
        .iter()
        .filter_map(|p| Some((p, view.active_on(p.uuid()?)?)))
        .flat_map(|(p, interface)| p.addresses().into_iter().map(move |(ip, _)| (interface.clone(), ip)))
        .collect();
    addresses
        .iter()
        .filter(|a| a.permanent && !is_local(a.ip) && touched.contains(a.interface.as_str()))
        .filter(|a| !declared.contains(&(a.interface.clone(), a.ip)))
        .cloned()
        .collect()
}

fn is_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unicast_link_local(),
    }
}
