//! Everything that a decision depends on.

use std::collections::{BTreeMap, BTreeSet};

use linesman_api::enactment::{EnactmentSpec, EnactmentStatus};
use linesman_api::labels::{CONTROL_PLANE, HOSTNAME, ZONE};
use linesman_api::policy::PolicySpec;
use linesman_api::selector::Labels;
use linesman_api::time::Time;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub struct Situation<'a> {
    /// The one that is decided about.
    pub policy: &'a PolicyFacts,
    /// The others; this one may be among them.
    pub policies: &'a [PolicyFacts],
    /// All nodes, not only those that match.
    pub nodes: &'a [NodeFacts],
    /// Of all policies.
    pub enactments: &'a [EnactmentFacts],
    pub settings: Settings,
    pub now: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Seconds that a node has from its release until it must have reported; the policy's patience comes on top.
    pub release_for: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { release_for: 300 }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyFacts {
    pub name: String,
    pub uid: String,
    pub generation: i64,
    pub spec: PolicySpec,
    /// Somebody deleted it; its finalizer keeps it.
    pub deleting: bool,
    pub finalizer: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeFacts {
    pub name: String,
    pub labels: Labels,
    pub ready: bool,
    pub cordoned: bool,
    /// Since when its agent has been there; none: there is no agent, or it is silent.
    pub agent_since: Option<Time>,
    /// Of its NICs, as its NodeNetworkState tells.
    pub macs: BTreeSet<String>,
}

/// What is written in the cluster about one policy on one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnactmentFacts {
    pub policy: String,
    pub node: String,
    /// `metadata.resourceVersion`: what is written back holds only for this version.
    pub version: String,
    /// None: of kubernetes-nmstate, which had no spec.
    pub spec: Option<EnactmentSpec>,
    pub status: EnactmentStatus,
}

impl NodeFacts {
    pub fn is_control_plane(&self) -> bool {
        CONTROL_PLANE.iter().any(|label| self.labels.contains_key(*label))
    }

    pub fn hostname(&self) -> &str {
        self.labels.get(HOSTNAME).unwrap_or(&self.name)
    }

    pub fn zone(&self) -> &str {
        self.labels.get(ZONE).map_or("", String::as_str)
    }

    /// Why nothing can be asked of the node now.
    pub fn away(&self) -> Option<&'static str> {
        match self {
            Self { ready: false, .. } => Some("the node is not ready"),
            Self { cordoned: true, .. } => Some("the node is cordoned"),
            Self { agent_since: None, .. } => Some("no agent runs on the node"),
            _ => None,
        }
    }
}

impl Situation<'_> {
    pub fn others(&self) -> impl Iterator<Item = &PolicyFacts> {
        self.policies.iter().filter(|other| other.name != self.policy.name)
    }

    pub fn own(&self) -> impl Iterator<Item = &EnactmentFacts> {
        self.enactments.iter().filter(|e| e.policy == self.policy.name)
    }
}

/// Enactments by policy and node.
#[derive(Debug)]
pub struct Index<'a>(BTreeMap<(&'a str, &'a str), &'a EnactmentFacts>);

impl<'a> Index<'a> {
    pub fn of(enactments: &'a [EnactmentFacts]) -> Self {
        Self(enactments.iter().map(|e| ((e.policy.as_str(), e.node.as_str()), e)).collect())
    }

    pub fn get(&self, policy: &str, node: &str) -> Option<&'a EnactmentFacts> {
        self.0.get(&(policy, node)).copied()
    }
}
