//! What was seen on a host.

use serde::{Deserialize, Serialize};

use super::br_ex::BrEx;
use crate::facts::{IfcfgProfile, ProfileFact};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Inspection {
    pub root: bool,
    pub dbus: Answer,
    pub networkmanager: Answer,
    pub ovs_plugin: bool,
    pub open_vswitch: OpenVSwitch,
    /// wpa_supplicant is there; none where the bus was not asked.
    pub supplicant: Option<bool>,
    /// Hardware that NetworkManager sees.
    pub nics: Vec<Nic>,
    pub profiles: Vec<ProfileFact>,
    pub ifcfg: Vec<IfcfgProfile>,
    /// Open ones, whoever made them.
    pub checkpoints: Vec<String>,
    /// Another linesman is changing the host at this moment.
    pub under_way: bool,
    pub unfinished: Vec<Unfinished>,
    /// A record of an unfinished change that only a newer linesman can read.
    pub newer_record: Option<String>,
    pub state_dir: StateDir,
    /// None where systemd does not run.
    pub units: Option<Vec<Unit>>,
    pub competing_tools: Vec<CompetingTool>,
    /// None where a host neither has one nor may have to have one.
    pub br_ex: Option<BrEx>,
}

/// Whether somebody answers, and what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    #[default]
    NotAsked,
    /// With its version, where it has one.
    Yes(String),
    /// With the reason.
    No(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct OpenVSwitch {
    /// Its socket is there, or was there.
    pub installed: bool,
    pub database: bool,
    pub switch: bool,
    /// None where nobody was asked.
    pub kernel_datapath: Option<bool>,
    /// Bridges in the database that use the kernel's datapath.
    pub kernel_bridges: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Nic {
    pub name: String,
    pub managed: bool,
    /// NetworkManager's number for why it is in its state.
    pub reason: u32,
}

/// A change in the journal that has not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Unfinished {
    pub id: String,
    pub source: String,
    /// It waits for a confirmation at this checkpoint.
    pub waits: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct StateDir {
    pub path: String,
    /// Why nothing can be written there.
    pub unwritable: Option<String>,
    pub free_bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Unit {
    pub name: String,
    pub enabled: bool,
}

/// Another tool that may configure the network, and where that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CompetingTool {
    pub tool: Tool,
    pub evidence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    Netplan,
    Ifupdown,
    Networkd,
    CloudInit,
    Wicked,
    Connman,
    Dhcpcd,
    KubernetesNmstate,
}

/// A configuration file of another tool, for the pure part of recognising it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    pub path: String,
    pub text: String,
}
