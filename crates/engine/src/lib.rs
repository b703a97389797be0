//! The transaction on one host: NetworkManager, nmstate, Open vSwitch, journal, probes.

pub mod netlink;
pub mod ovsdb;
pub mod probe;
