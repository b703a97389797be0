//! Types of interfaces that a document needs and the kernel cannot make.

use std::collections::BTreeSet;

use linesman_core::interface_kind::{InterfaceKind, Requirement};
use linesman_core::plan::types_to_make;
use serde_json::Value;

use crate::netlink::Netlink;

/// Where the kernel does not say, the document is not rejected: an error appears when it is applied.
pub async fn lacking(desired: &Value, observed: &Value) -> BTreeSet<InterfaceKind> {
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
