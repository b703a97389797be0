//! NodeOpenVSwitch: Open vSwitch on a node, as its keeper sees it.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OpenVSwitchStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
    /// What does not fit together; absent if all does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<String>,
    /// Types that ovs-vswitchd has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datapath_types: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitStatus>,
    /// Of all units since the host booted.
    pub restarts: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bridges: Vec<BridgeStatus>,
    /// Of all bridges; the lists are cut.
    pub bridge_count: u32,
    pub port_count: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interface_errors: Vec<InterfaceError>,
    pub interface_error_count: u32,
    pub settings: SettingsStatus,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Versions {
    /// Of the running ovs-vswitchd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovs: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovsdb_server: Option<String>,
    /// Of the database's schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UnitStatus {
    pub name: String,
    /// As systemd has it: active, failed.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Time>,
    pub restarts: u32,
    /// How the last process ended, if not in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_crash: Option<String>,
    /// Rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mebibytes: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BridgeStatus {
    pub name: String,
    pub datapath_type: String,
    pub ports: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InterfaceError {
    pub interface: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bridge: String,
    pub error: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsStatus {
    pub applied_count: u32,
    pub refused_count: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<AppliedSetting>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedSetting>,
    /// Keys for which ovs-vswitchd has to be restarted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs_restart: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AppliedSetting {
    pub key: String,
    pub value: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RefusedSetting {
    pub key: String,
    /// Where it is written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    pub reason: String,
    pub message: String,
}
