//! What a document needs and this host does not have: types of interfaces, datapaths, virtual functions, a supplicant, files, a name
//! for a bridge.

use std::collections::BTreeSet;
use std::path::Path;

use linesman_core::facts::Facts;
use linesman_core::interface_kind::{InterfaceKind, Requirement};
use linesman_core::plan::{asked_of_host, datapaths_to_make, needs_supplicant, types_to_make};
use linesman_core::state::{interfaces, kind};
use serde_json::Value;

use crate::netlink::Netlink;
use crate::nm::Nm;
use crate::{ovs, supplicant};

/// By these NetworkManager knows of its plugin.
const LIBRESWAN: [&str; 2] = [
    "/usr/lib/NetworkManager/VPN/nm-libreswan-service.name",
    "/etc/NetworkManager/VPN/nm-libreswan-service.name",
];

/// Completes the facts for a document. Where nobody says, it is not rejected: an error appears when it is applied.
pub async fn complete(facts: &mut Facts, nm: &Nm, desired: &Value, observed: &Value) {
    facts.lacking = lacking(desired, observed).await;
    facts.lacking_datapaths = BTreeSet::new();
    for datapath in datapaths_to_make(desired, observed).into_iter().filter(|_| facts.ovs_running) {
        if !ovs::has_datapath(&datapath).await {
            facts.lacking_datapaths.insert(datapath);
        }
    }
    facts.bridges_of_others = match facts.ovs_running && !datapaths_to_make(desired, observed).is_empty() {
        true => ovs::bridges_of_others().await,
        false => BTreeSet::new(),
    };
    facts.uplinks = match facts.ovs_running && concerns_ovs_bridges(desired, observed) {
        true => ovs::uplinks().await,
        false => Vec::new(),
    };
    let asked = asked_of_host(desired, observed);
    facts.virtual_functions = asked.nics.into_iter().filter_map(virtual_functions).collect();
    facts.missing_files = asked.files.into_iter().filter(|file| is_missing(file)).collect();
    facts.lacks_dpdk = asked.dpdk && facts.ovs_running && ovs::has_dpdk().await == Some(false);
    facts.lacks_libreswan = asked.libreswan && LIBRESWAN.iter().all(|file| is_missing(file));
    facts.lacks_supplicant = needs_supplicant(desired, observed) && !supplicant::available(nm).await;
}

fn concerns_ovs_bridges(desired: &Value, observed: &Value) -> bool {
    interfaces(desired).iter().chain(interfaces(observed)).any(|i| kind(i) == InterfaceKind::OvsBridge)
}

/// None: there is no such NIC, which is said elsewhere.
fn virtual_functions(nic: String) -> Option<(String, u64)> {
    let device = Path::new("/sys/class/net").join(&nic);
    let most = || std::fs::read_to_string(device.join("device/sriov_totalvfs")).ok()?.trim().parse().ok();
    device.exists().then(|| (nic, most().unwrap_or(0)))
}

/// NetworkManager reads it, in the root of the host: an agent in a container may have another one. What cannot be looked at may be
/// there.
fn is_missing(file: &str) -> bool {
    let of_init = Path::new("/proc/1/root").join(file.trim_start_matches('/'));
    [Path::new(file), &of_init].iter().all(|path| path.try_exists().is_ok_and(|there| !there))
}

async fn lacking(desired: &Value, observed: &Value) -> BTreeSet<InterfaceKind> {
    let needed = types_to_make(desired, observed).into_iter().filter_map(|kind| match kind.requirement() {
        Requirement::KernelDriver(driver) => Some((kind, driver)),
        _ => None,
    });
    let needed: Vec<_> = needed.collect();
    if needed.is_empty() {
        return BTreeSet::new();
    }
    let Ok(netlink) = Netlink::open() else { return BTreeSet::new() };
    let mut lacking = BTreeSet::new();
    for (kind, driver) in needed {
        match netlink.can_make(driver).await {
            Ok(true) => {}
            Ok(false) => drop(lacking.insert(kind)),
            Err(error) => {
                tracing::warn!(%error, driver, "cannot find out whether the kernel supports this kind of interface")
            }
        }
    }
    lacking
}

/// What cannot be found out is not there.
pub async fn filters_vlans() -> bool {
    let Ok(netlink) = Netlink::open() else { return false };
    netlink.filters_vlans().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot find out whether bridges can filter by VLAN");
        false
    })
}
