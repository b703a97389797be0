//! NMState: the one object that deploys the rest.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::condition::Condition;
use crate::selector::Labels;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NMStateSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerations: Option<Vec<Toleration>>,
    /// As in a Pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infra_node_selector: Option<Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infra_tolerations: Option<Vec<Toleration>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infra_affinity: Option<Value>,
    /// Taken and not heeded: Linesman has no webhook that needs a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_sign_configuration: Option<SelfSign>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_configuration: Option<ProbeConfiguration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_configuration: Option<MetricsConfiguration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LogLevel>,
    /// Globs of interfaces that NodeNetworkStates leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interface_filter: Vec<String>,
    /// Profiles that are gone after a reboot.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelfSign {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_rotate_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_overlap_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert_rotate_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert_overlap_interval: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeConfiguration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<DnsProbe>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DnsProbe {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MetricsConfiguration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind_address: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    #[default]
    Info,
    Debug,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NMStateStatus {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
