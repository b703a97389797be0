//! Where a policy stands on one node, seen from what the node should be told.

use std::fmt;

use super::content::Content;
use super::facts::{EnactmentFacts, NodeFacts, PolicyFacts};
use super::overlay::{OverlayError, state_for};
use super::standing::Standing;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Holds what is wanted.
    Done,
    /// Was released, and has not ended; perhaps of an older version, which is let end first.
    Busy,
    /// Has a slot, and is released in the next look.
    Claimed,
    /// At this generation: waits for another one.
    Failed {
        expired: bool,
    },
    /// Goes as soon as there is a slot.
    Waiting,
    Held(Hold),
    /// The rollout is undone, and this node never took the new version.
    Left,
}

/// Why a node does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    Away(&'static str),
    /// The policy itself or another one is wrong for this node.
    Conflict(String),
    Paused,
    /// Somebody aborted it, or too many failed.
    Stopped(String),
    /// For the canaries, which go first.
    Canary,
    /// For another policy, the control plane, the node's own report.
    Awaits(String),
    /// Undo without an earlier version.
    NoWayBack,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(why) => f.write_str(why),
            Self::Conflict(why) | Self::Stopped(why) | Self::Awaits(why) => f.write_str(why),
            Self::Canary => f.write_str("waits until every canary holds"),
            Self::Paused => f.write_str("the rollout is paused"),
            Self::NoWayBack => f.write_str("no earlier version of the policy held on this node"),
        }
    }
}

/// A node that the policy is about, and what it should be told.
#[derive(Debug)]
pub struct Candidate<'a> {
    pub node: &'a NodeFacts,
    pub enactment: Option<&'a EnactmentFacts>,
    /// None: nobody knows what.
    pub content: Option<Content>,
    pub phase: Phase,
}

impl<'a> Candidate<'a> {
    /// A node that should have what the policy says.
    pub fn matching(
        policy: &PolicyFacts,
        node: &'a NodeFacts,
        enactment: Option<&'a EnactmentFacts>,
    ) -> Self {
        let state = match state_for(&policy.spec, node) {
            Ok(state) => state,
            Err(error) => {
                let hold = match &error {
                    OverlayError::Ambiguous { .. } | OverlayError::ClearSecret { .. } => {
                        Hold::Conflict(error.to_string())
                    }
                    OverlayError::MacsUnknown => Hold::Awaits(error.to_string()),
                };
                let phase = without_content(enactment, hold);
                return Self { node, enactment, content: None, phase };
            }
        };
        let content = Content::of_policy(policy, state);
        let undo = !policy.deleting && policy.spec.rollout.as_ref().is_some_and(|rollout| rollout.undo);
        match enactment {
            _ if !undo => Self::wanting(policy, node, enactment, content),
            Some(enactment) => Self::undoing(policy, node, enactment, content),
            None => Self { node, enactment, content: None, phase: Phase::Left },
        }
    }

    pub fn wanting(
        policy: &PolicyFacts,
        node: &'a NodeFacts,
        enactment: Option<&'a EnactmentFacts>,
        content: Content,
    ) -> Self {
        let phase = enactment.map_or(Phase::Waiting, |e| phase(policy, node, e, &content));
        let phase = match (phase, node.away()) {
            (Phase::Waiting | Phase::Claimed, Some(why)) => Phase::Held(Hold::Away(why)),
            (phase, _) => phase,
        };
        Self { node, enactment, content: Some(content), phase }
    }

    /// `new` is the version that is taken back.
    fn undoing(
        policy: &PolicyFacts,
        node: &'a NodeFacts,
        enactment: &'a EnactmentFacts,
        new: Content,
    ) -> Self {
        let standing = Standing::of(enactment);
        let left = Self { node, enactment: Some(enactment), content: None, phase: Phase::Left };
        let Some(spec) = &enactment.spec else { return left };
        if !new.is_told(policy, enactment) {
            let is_way_back = spec.policy.uid == policy.uid && spec.policy.generation == policy.generation;
            let own = Content::of_spec(spec);
            return match standing {
                _ if is_way_back => Self::wanting(policy, node, Some(enactment), own),
                Standing::Available => Self { phase: Phase::Done, ..left },
                standing if standing.has_begun() => Self { phase: Phase::Busy, ..left },
                _ => left,
            };
        }
        match (standing, &spec.previous) {
            (Standing::Available, previous) => {
                let back = previous.as_ref().map(|previous| Content::previous(spec, previous));
                match back.filter(|back| *back != new) {
                    Some(back) => Self::wanting(policy, node, Some(enactment), back),
                    None => Self { phase: Phase::Held(Hold::NoWayBack), ..left },
                }
            }
            (standing, _) if standing.has_begun() => Self { phase: Phase::Busy, ..left },
            _ => left,
        }
    }

    pub fn standing(&self) -> Option<Standing> {
        self.enactment.map(Standing::of)
    }

    /// Whether the enactment says what it should.
    pub fn is_told(&self, policy: &PolicyFacts) -> bool {
        let told =
            |enactment| self.content.as_ref().is_some_and(|content| content.is_told(policy, enactment));
        self.enactment.is_some_and(told)
    }
}

fn without_content(enactment: Option<&EnactmentFacts>, hold: Hold) -> Phase {
    let begun = enactment.is_some_and(|e| Standing::of(e).has_begun());
    if begun { Phase::Busy } else { Phase::Held(hold) }
}

fn phase(policy: &PolicyFacts, node: &NodeFacts, enactment: &EnactmentFacts, content: &Content) -> Phase {
    let told = content.is_told(policy, enactment);
    let now = told && enactment.spec.as_ref().is_some_and(|spec| spec.policy.generation == policy.generation);
    let came_back = |at| node.agent_since.is_some_and(|since| since > at);
    match Standing::of(enactment) {
        Standing::Available if told => Phase::Done,
        Standing::Released { .. } | Standing::Applying { .. } | Standing::Retrying { .. } => Phase::Busy,
        Standing::Claimed => Phase::Claimed,
        Standing::Failing if now => Phase::Failed { expired: false },
        // It never began: nothing was tried, so trying is no second try.
        Standing::Expired { begun: false, at } if now && came_back(at) => Phase::Waiting,
        Standing::Expired { .. } if now => Phase::Failed { expired: true },
        _ => Phase::Waiting,
    }
}
