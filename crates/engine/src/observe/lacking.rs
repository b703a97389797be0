//! What a document needs and this host does not have: types of interfaces, datapaths, a supplicant, a name for a bridge.

use std::collections::BTreeSet;

use linesman_core::facts::Facts;
use linesman_core::interface_kind::{InterfaceKind, Requirement};
use linesman_core::plan::{datapaths_to_make, needs_supplicant, types_to_make};
use serde_json::Value;

use crate::netlink::Netlink;
use crate::nm::Nm;
use crate::{ovs, supplicant};

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
    facts.lacks_supplicant = needs_supplicant(desired, observed) && !supplicant::available(nm).await;
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
