//! What was seen of br-ex.

use serde::{Deserialize, Serialize};

/// Of a host that has a br-ex, or documents that may declare one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct BrEx {
    /// In Open vSwitch's database.
    pub bridge: Option<OvsBridge>,
    /// The kernel's links that matter here: br-ex, and the uplinks.
    pub links: Vec<Link>,
    pub default_routes: Vec<DefaultRoute>,
    /// The selected document declares it.
    pub declared: bool,
    /// The file is there that keeps configure-ovs from this host.
    pub flag: bool,
    pub first_boot: Option<FirstBoot>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct OvsBridge {
    pub fail_mode: Option<String>,
    pub stp: bool,
    pub rstp: bool,
    pub ports: Vec<OvsPort>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct OvsPort {
    pub name: String,
    /// More than one in a bond of Open vSwitch.
    pub interfaces: Vec<OvsInterface>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct OvsInterface {
    pub name: String,
    /// Open vSwitch's type; empty for a link of the kernel.
    pub kind: String,
    pub ofport: Option<i64>,
    /// Why the switch cannot use it.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Link {
    pub name: String,
    pub mac: Option<String>,
    pub mtu: Option<u32>,
    /// Nobody has set it up, so that nothing passes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub down: bool,
    /// As `IP/PREFIX`; link-local ones are left out.
    pub addresses: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct DefaultRoute {
    pub ipv6: bool,
    pub interface: String,
    pub metric: u32,
}

/// What the host remembers of its document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FirstBoot {
    pub state: String,
    pub message: String,
    pub file: Option<String>,
    pub in_use: bool,
}

/// The port leads out of the host: neither a patch port, nor internal, nor a tunnel.
const LEADING_OUT: [&str; 5] = ["", "system", "dpdk", "afxdp", "afxdp-nonpmd"];

impl OvsBridge {
    pub(super) fn uplinks(&self) -> Vec<&OvsPort> {
        let leads_out = |interface: &OvsInterface| LEADING_OUT.contains(&interface.kind.as_str());
        self.ports.iter().filter(|port| port.interfaces.iter().any(leads_out)).collect()
    }
}

impl BrEx {
    pub(super) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// Links of the kernel that are, or belong to, uplinks.
    pub(super) fn uplink_links(&self) -> Vec<&Link> {
        let uplinks = self.bridge.iter().flat_map(OvsBridge::uplinks);
        uplinks.flat_map(|port| &port.interfaces).filter_map(|interface| self.link(&interface.name)).collect()
    }
}
