//! What a decision depends on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use linesman_api::enactment::{EnactmentSpec, EnactmentStatus};
use linesman_api::labels::{CONTROL_PLANE, HOSTNAME, ZONE};
use linesman_api::policy::PolicySpec;
use linesman_api::reasons::ReleaseRequest;
use linesman_api::selector::Labels;
use linesman_api::time::Time;
use linesman_core::mac_address::MacAddress;
use serde::{Deserialize, Serialize};

use super::content::Content;
use super::phase::BlockedBy;
use crate::sealed_secrets::UnavailableSecrets;

#[derive(Debug)]
pub struct Situation<'a> {
    /// The policy to decide on.
    pub policy: &'a PolicyFacts,
    /// All policies; this one may be among them.
    pub policies: Vec<&'a PolicyFacts>,
    /// All nodes, not only those that match.
    pub nodes: Vec<&'a NodeFacts>,
    /// Of all policies.
    pub enactments: Vec<&'a EnactmentFacts>,
    /// Nodes whose enactment of this policy could not be written, each with the reason: they wait, the others go on.
    pub set_aside: BTreeMap<&'a str, &'a BlockedBy>,
    /// Nodes that need one of these wait, too.
    pub unavailable: UnavailableSecrets,
    pub settings: Settings,
    pub now: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Seconds that a node has from its release until it must have reported; the policy's patience is added.
    pub release_for: u64,
}

impl Settings {
    /// When the last release was written; it may have expired.
    pub fn released_at(&self, spec: &EnactmentSpec) -> Option<Time> {
        let lifetime = self.release_for + spec.options.patience.unwrap_or_default();
        spec.release_expires.map(|expires| Time(expires.0.saturating_sub(lifetime)))
    }
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
    /// It has a deletion timestamp; its finalizer keeps it.
    pub deleting: bool,
    pub finalizer: bool,
    /// Nodes that failed at this generation, as its status has them.
    pub failed_nodes: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeFacts {
    pub name: String,
    pub labels: Labels,
    pub ready: bool,
    /// Since when it is not ready, as far as its object says.
    pub not_ready_since: Option<Time>,
    pub cordoned: bool,
    /// Since when its agent is ready; none: no agent runs there, or it is not ready.
    pub agent_since: Option<Time>,
    /// Of its NICs, from its NodeNetworkState.
    pub macs: BTreeSet<MacAddress>,
    /// The public key that its agent published in its NodeNetworkState.
    pub sealing_key: Option<String>,
}

/// The enactment of one policy on one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnactmentFacts {
    pub policy: String,
    pub node: String,
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.resourceVersion`: writes are only for this version.
    pub version: String,
    /// `metadata.generation`: grows with every write to the spec.
    pub generation: i64,
    /// None: of kubernetes-nmstate, which had no spec.
    pub spec: Option<EnactmentSpec>,
    pub status: EnactmentStatus,
    /// Why its status cannot be read; it counts as none then.
    pub unreadable: Option<String>,
}

impl PolicyFacts {
    /// Whether nodes return to the previous version.
    pub fn undoes(&self) -> bool {
        !self.deleting && self.spec.rollout.as_ref().is_some_and(|rollout| rollout.undo)
    }

    /// Why the node is not changed now. A node may be not ready for want of the very network that the policy makes.
    pub fn waits_for(&self, node: &NodeFacts) -> Option<NotReady> {
        let for_ready = self.spec.rollout.as_ref().is_some_and(|rollout| rollout.wait_for_ready);
        if for_ready { node.not_ready() } else { node.agent_since.is_none().then_some(NotReady::NoAgent) }
    }
}

impl EnactmentFacts {
    /// Why its agent asks for another release, after the last one ended.
    pub fn request(&self) -> Option<ReleaseRequest> {
        let spec = self.spec.as_ref()?;
        let request = self.status.requests_release.as_deref()?;
        ReleaseRequest::parse(request).filter(|_| self.status.attempt == Some(spec.attempt))
    }
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

    /// Since when it is not ready, by its own clock: another value means that it was ready in between.
    pub fn lost_since(&self) -> Option<Time> {
        (!self.ready).then(|| self.not_ready_since.unwrap_or_default())
    }

    pub fn not_ready(&self) -> Option<NotReady> {
        match self {
            Self { ready: false, .. } => Some(NotReady::Node),
            Self { cordoned: true, .. } => Some(NotReady::Cordoned),
            Self { agent_since: None, .. } => Some(NotReady::NoAgent),
            _ => None,
        }
    }
}

/// Why a node cannot be changed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReady {
    Node,
    Cordoned,
    NoAgent,
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "the node is not ready",
            Self::Cordoned => "the node is cordoned",
            Self::NoAgent => "no agent is running on the node",
        })
    }
}

impl<'a> Situation<'a> {
    pub fn others(&self) -> impl Iterator<Item = &'a PolicyFacts> {
        self.policies.iter().copied().filter(|other| other.name != self.policy.name)
    }

    /// Why nothing is written for this node now.
    pub fn sets_aside(&self, node: &NodeFacts, content: Option<&Content>) -> Option<BlockedBy> {
        let state = content.filter(|content| !content.revert).and_then(|content| content.state.as_ref());
        let written = self.set_aside.get(node.name.as_str()).map(|reason| (*reason).clone());
        written.or_else(|| Some(BlockedBy::SecretUnavailable(self.unavailable.reason(state?)?)))
    }

    pub fn own(&self) -> impl Iterator<Item = &'a EnactmentFacts> {
        self.enactments.iter().copied().filter(|e| e.policy == self.policy.name)
    }
}

/// Enactments by policy and node.
#[derive(Debug)]
pub struct Index<'a>(BTreeMap<(&'a str, &'a str), &'a EnactmentFacts>);

impl<'a> Index<'a> {
    pub fn of(enactments: &[&'a EnactmentFacts]) -> Self {
        Self(enactments.iter().map(|e| ((e.policy.as_str(), e.node.as_str()), *e)).collect())
    }

    pub fn get(&self, policy: &str, node: &str) -> Option<&'a EnactmentFacts> {
        self.0.get(&(policy, node)).copied()
    }
}
