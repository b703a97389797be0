//! A node that a policy selects or selected: what it should be instructed to do, and how far it is.

use super::content::Content;
use super::facts::{EnactmentFacts, NodeFacts, PolicyFacts};
use super::overlay::{OverlayError, state_for};
use super::phase::{BlockedBy, NodePhase};
use super::progress::NodeProgress;

/// A node that the policy is about, and what it should be told.
#[derive(Debug)]
pub struct Candidate<'a> {
    pub node: &'a NodeFacts,
    pub enactment: Option<&'a EnactmentFacts>,
    /// None: nobody knows what.
    pub content: Option<Content>,
    pub phase: NodePhase,
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
                let blocked_by = match &error {
                    OverlayError::Ambiguous { .. } | OverlayError::ClearSecret { .. } => {
                        BlockedBy::Conflict(error.to_string())
                    }
                    OverlayError::MacsUnknown => BlockedBy::WaitsFor(error.to_string()),
                };
                let phase = without_content(enactment, blocked_by);
                return Self { node, enactment, content: None, phase };
            }
        };
        let content = Content::of_policy(policy, state);
        let undo = !policy.deleting && policy.spec.rollout.as_ref().is_some_and(|rollout| rollout.undo);
        match enactment {
            _ if !undo => Self::wanting(policy, node, enactment, content),
            Some(enactment) => Self::undoing(policy, node, enactment, content),
            None => Self { node, enactment, content: None, phase: NodePhase::Unaffected },
        }
    }

    pub fn wanting(
        policy: &PolicyFacts,
        node: &'a NodeFacts,
        enactment: Option<&'a EnactmentFacts>,
        content: Content,
    ) -> Self {
        let phase = enactment.map_or(NodePhase::Waiting, |e| phase(policy, node, e, &content));
        let phase = match (phase, node.away()) {
            (NodePhase::Waiting | NodePhase::Claimed, Some(why)) => {
                NodePhase::Blocked(BlockedBy::NodeNotReady(why))
            }
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
        let progress = NodeProgress::of(enactment);
        let left = Self { node, enactment: Some(enactment), content: None, phase: NodePhase::Unaffected };
        let Some(spec) = &enactment.spec else { return left };
        if !new.is_current(policy, enactment) {
            let is_way_back = spec.policy.uid == policy.uid && spec.policy.generation == policy.generation;
            let own = Content::of_spec(spec);
            return match progress {
                _ if is_way_back => Self::wanting(policy, node, Some(enactment), own),
                NodeProgress::Available => Self { phase: NodePhase::Done, ..left },
                progress if progress.has_begun() => Self { phase: NodePhase::InProgress, ..left },
                _ => left,
            };
        }
        match (progress, &spec.previous) {
            (NodeProgress::Available, previous) => {
                let back = previous.as_ref().map(|previous| Content::previous(spec, previous));
                match back.filter(|back| *back != new) {
                    Some(back) => Self::wanting(policy, node, Some(enactment), back),
                    None => Self { phase: NodePhase::Blocked(BlockedBy::NoPreviousVersion), ..left },
                }
            }
            (progress, _) if progress.has_begun() => Self { phase: NodePhase::InProgress, ..left },
            _ => left,
        }
    }

    pub fn progress(&self) -> Option<NodeProgress> {
        self.enactment.map(NodeProgress::of)
    }

    /// Whether the enactment says what it should.
    pub fn is_current(&self, policy: &PolicyFacts) -> bool {
        let told =
            |enactment| self.content.as_ref().is_some_and(|content| content.is_current(policy, enactment));
        self.enactment.is_some_and(told)
    }
}

fn without_content(enactment: Option<&EnactmentFacts>, blocked_by: BlockedBy) -> NodePhase {
    let begun = enactment.is_some_and(|e| NodeProgress::of(e).has_begun());
    if begun { NodePhase::InProgress } else { NodePhase::Blocked(blocked_by) }
}

fn phase(policy: &PolicyFacts, node: &NodeFacts, enactment: &EnactmentFacts, content: &Content) -> NodePhase {
    let told = content.is_current(policy, enactment);
    let now = told && enactment.spec.as_ref().is_some_and(|spec| spec.policy.generation == policy.generation);
    let came_back = |at| node.agent_since.is_some_and(|since| since > at);
    match NodeProgress::of(enactment) {
        NodeProgress::Available if told => NodePhase::Done,
        NodeProgress::Released { .. } | NodeProgress::Applying { .. } | NodeProgress::Retrying { .. } => {
            NodePhase::InProgress
        }
        NodeProgress::Claimed => NodePhase::Claimed,
        NodeProgress::Failing if now => NodePhase::Failed { expired: false },
        // It never began: nothing was tried, so trying is no second try.
        NodeProgress::Expired { begun: false, at } if now && came_back(at) => NodePhase::Waiting,
        NodeProgress::Expired { .. } if now => NodePhase::Failed { expired: true },
        _ => NodePhase::Waiting,
    }
}
