//! What a host reports beside its network state.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::interface_kind::InterfaceKind;

/// Facts that planning needs and that no NMState document holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Facts {
    /// An address of this host, or of a peer, whose path must not be touched unnoticed.
    pub protect: Option<IpAddr>,
    pub profiles: Vec<ProfileFact>,
    /// Profiles in the old format of network scripts.
    pub ifcfg: Vec<IfcfgProfile>,
    /// Interfaces that NetworkManager does not manage.
    pub unmanaged: BTreeSet<String>,
    pub ovs_running: bool,
    pub nm_version: Option<String>,
    /// Linux bridges can filter by VLAN: nearly every kernel has that.
    pub filters_vlans: bool,
    /// Types of interfaces that the kernel cannot make; only those are asked about that a document needs.
    pub lacking: BTreeSet<InterfaceKind>,
    /// Datapaths of Open vSwitch (`system`, `netdev`) that a document needs and this host does not have.
    pub lacking_datapaths: BTreeSet<String>,
    /// Bridges in Open vSwitch's database that NetworkManager did not make; only looked for if a document makes bridges.
    pub bridges_of_others: BTreeSet<String>,
    /// A document needs wpa_supplicant, and this host does not have it.
    pub lacks_supplicant: bool,
    /// Of NICs that shall have virtual functions: how many they can have.
    pub virtual_functions: BTreeMap<String, u64>,
    /// Files that a document names and this host does not have.
    pub missing_files: BTreeSet<String>,
    /// A document needs Open vSwitch with DPDK, and here it runs without.
    pub lacks_dpdk: bool,
    /// A document has an IPsec tunnel, and NetworkManager no plugin for it.
    pub lacks_libreswan: bool,
    /// Devices that are ports of Open vSwitch bridges and have an OpenFlow port number; only looked for if Open vSwitch runs.
    pub uplinks: Vec<UplinkFact>,
}

/// A device that is a port of an Open vSwitch bridge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct UplinkFact {
    pub bridge: String,
    pub interface: String,
    /// The OpenFlow port number that somebody requested for it, else the one that it has.
    pub ofport: u16,
    /// NetworkManager made the port.
    pub managed: bool,
}

/// A profile that NetworkManager keeps in /etc/sysconfig/network-scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct IfcfgProfile {
    pub interface: String,
    pub file: String,
}

/// One connection profile of NetworkManager.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ProfileFact {
    pub uuid: String,
    pub id: String,
    pub interface: Option<String>,
    /// NetworkManager's connection type: `802-3-ethernet`, `bridge`, `ovs-bridge`, …
    pub kind: String,
    pub autoconnect: bool,
    /// Higher is tried first at boot.
    pub autoconnect_priority: i32,
    pub on_disk: bool,
    pub active_on: Option<String>,
    /// The static addresses the profile holds, as `IP/PREFIX`: what may be taken away when a document
    /// no longer lists it. Other addresses on the interface belong to somebody else.
    pub addresses: Vec<String>,
    /// The MAC address that the profile gives its interface.
    pub mac: Option<String>,
    /// It uses 802.1X or MACsec, for which NetworkManager needs wpa_supplicant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_supplicant: bool,
    /// The OpenFlow port number that it requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ofport_request: Option<u16>,
    /// It has DNS servers, search domains or options of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_dns: bool,
    /// The policy routing rules that it has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleFact>,
    /// Destinations of its routes whose gateway is reached without a route to it (`onlink`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub onlink: Vec<String>,
}

/// By what a policy routing rule is known: NetworkManager wants a priority for each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RuleFact {
    /// `ipv4` or `ipv6`
    pub family: String,
    pub priority: u64,
}

impl ProfileFact {
    /// Whether it has this rule of NMState.
    pub fn has_rule(&self, rule: &serde_json::Value) -> bool {
        let priority = rule.get("priority").and_then(serde_json::Value::as_u64);
        let family = crate::state::text(rule, "family");
        self.rules.iter().any(|known| {
            Some(known.priority) == priority && family.is_none_or(|family| family == known.family)
        })
    }
}
