//! br-ex as OVN-Kubernetes needs it, on a host that has or shall have it: one check per rule.

mod host;
mod observed;
mod rules;
mod switch;

pub use observed::{BrEx, DefaultRoute, FirstBoot, Link, OvsBridge, OvsInterface, OvsPort};
pub use rules::{RULES, Rule};

use super::{Finding, Inspection};

pub const NAME: &str = "br-ex";

const CHECKS: &[fn(&BrEx, &Inspection) -> Vec<Finding>] = &[
    switch::bridge,
    switch::uplink,
    switch::one_uplink,
    switch::addresses,
    switch::mac_address,
    switch::mtu,
    switch::switching,
    host::route,
    host::profiles,
    host::owner,
    host::document,
];

/// No findings on other hosts.
pub(super) fn all(inspection: &Inspection) -> Vec<Finding> {
    let Some(br_ex) = &inspection.br_ex else { return Vec::new() };
    CHECKS.iter().flat_map(|check| check(br_ex, inspection)).collect()
}
