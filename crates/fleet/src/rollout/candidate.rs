//! A node that a policy selects or selected: what it should be instructed to do, and how far it is.

use linesman_api::enactment::Purpose;
use linesman_api::reasons::ReleaseRequest::{self, ConflictEnded, Drifted, RecordLost};
use linesman_api::time::Time;

use super::content::{Content, applied, version};
use super::facts::{EnactmentFacts, NodeFacts, PolicyFacts};
use super::mac_owners::{MacOwners, matched_mac};
use super::overlay::{OverlayError, state_for};
use super::phase::{BlockedBy, Failure, NodePhase};
use super::progress::NodeProgress;

const NO_KEY: &str = "the policy refers to a Secret, and the agent on the node has not published a key to encrypt it with; \
                      update the agent if it is older than the operator";

/// A node, and what its enactment should be.
#[derive(Debug)]
pub struct Candidate<'a> {
    pub node: &'a NodeFacts,
    pub enactment: Option<&'a EnactmentFacts>,
    /// None: it cannot be known.
    pub content: Option<Content>,
    pub phase: NodePhase,
}

impl<'a> Candidate<'a> {
    /// A node that the policy selects.
    pub fn matching(
        policy: &PolicyFacts,
        node: &'a NodeFacts,
        enactment: Option<&'a EnactmentFacts>,
        owners: &MacOwners<'_>,
    ) -> Self {
        let state = owners.dispute(&policy.spec, node).map_or_else(|| state_for(&policy.spec, node), Err);
        let state = match state {
            Ok(state) => state,
            Err(error) => {
                let blocked_by = match &error {
                    OverlayError::Ambiguous { .. } => BlockedBy::HostsOverlap(error.to_string()),
                    OverlayError::MacShared { .. } | OverlayError::MacTaken { .. } => {
                        BlockedBy::HostsOverlap(error.to_string())
                    }
                    OverlayError::ClearSecret { .. } => BlockedBy::DocumentRefused(error.to_string()),
                    OverlayError::MacsUnknown => BlockedBy::WaitsFor(error.to_string()),
                };
                let phase = without_content(enactment, blocked_by);
                return Self { node, enactment, content: None, phase };
            }
        };
        let content = Content { mac: matched_mac(&policy.spec, node), ..Content::of_policy(policy, state) };
        let undo = policy.undoes();
        match enactment {
            _ if !undo => Self::wanting(policy, node, enactment, content),
            Some(enactment) => Self::undoing(policy, node, enactment, &content),
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
        let phase = match (phase, policy.waits_for(node)) {
            (NodePhase::Waiting | NodePhase::Claimed, Some(why)) => {
                NodePhase::Blocked(BlockedBy::NodeNotReady(why))
            }
            (NodePhase::Waiting | NodePhase::Claimed, None)
                if node.sealing_key.is_none() && content.needs_secrets() =>
            {
                NodePhase::Blocked(BlockedBy::WaitsFor(NO_KEY.into()))
            }
            (phase, _) => phase,
        };
        Self { node, enactment, content: Some(content), phase }
    }

    /// `new` is the version that is undone. What the node has decides, not what its enactment says: that may be an undo which an
    /// edit interrupted, or a version that never started.
    fn undoing(
        policy: &PolicyFacts,
        node: &'a NodeFacts,
        enactment: &'a EnactmentFacts,
        new: &Content,
    ) -> Self {
        let without_content = |phase| Self { node, enactment: Some(enactment), content: None, phase };
        let progress = NodeProgress::of(enactment);
        if progress.has_started() {
            return without_content(NodePhase::InProgress);
        }
        let Some(spec) = enactment.spec.as_ref().filter(|spec| spec.policy.uid == policy.uid) else {
            return without_content(NodePhase::Unaffected);
        };
        let returning =
            |version| Self::wanting(policy, node, Some(enactment), Content::earlier(policy, spec, version));
        let instructed = version(spec);
        if !new.is_version(&instructed) {
            match (progress, spec.purpose) {
                (NodeProgress::Available, _) => {
                    return Self::wanting(policy, node, Some(enactment), Content::of_spec(spec));
                }
                (_, Purpose::Undo | Purpose::Repeat) => return returning(&instructed),
                (_, Purpose::Rollout) => {}
            }
        }
        let tried = matches!(progress, NodeProgress::Failing | NodeProgress::Expired { started: true, .. });
        let previous = spec.previous.as_ref().filter(|previous| !new.is_version(previous));
        match applied(policy, enactment) {
            Some(applied) if new.is_version(&applied) => previous
                .map_or_else(|| without_content(NodePhase::Blocked(BlockedBy::NoPreviousVersion)), returning),
            // It was rolled back, by its own word, or nothing was heard of it: another release makes sure.
            Some(applied) if tried => returning(&applied),
            None if matches!(progress, NodeProgress::Expired { started: true, .. }) => {
                without_content(NodePhase::Blocked(BlockedBy::NoPreviousVersion))
            }
            _ => without_content(NodePhase::Unaffected),
        }
    }

    pub fn progress(&self) -> Option<NodeProgress> {
        self.enactment.map(NodeProgress::of)
    }

    /// Whether the node has this version already, or tried it at this generation: those that have not come first.
    pub fn is_repeated(&self, policy: &PolicyFacts) -> bool {
        let generation = self.enactment.and_then(|e| Some(e.spec.as_ref()?.policy.generation));
        let ended = match self.progress() {
            Some(NodeProgress::Available) => true,
            Some(NodeProgress::Failing | NodeProgress::Expired { .. }) => {
                generation == Some(policy.generation)
            }
            _ => false,
        };
        ended && self.is_current(policy)
    }

    /// The last release of a node that is released again: the one whose is oldest comes first.
    pub fn last_release(&self, policy: &PolicyFacts) -> Option<Time> {
        self.enactment?.spec.as_ref().filter(|_| self.is_repeated(policy))?.release_expires
    }

    /// Whether the enactment is what it should be.
    pub fn is_current(&self, policy: &PolicyFacts) -> bool {
        let current =
            |enactment| self.content.as_ref().is_some_and(|content| content.is_current(policy, enactment));
        self.enactment.is_some_and(current)
    }
}

fn without_content(enactment: Option<&EnactmentFacts>, blocked_by: BlockedBy) -> NodePhase {
    let started = enactment.is_some_and(|e| NodeProgress::of(e).has_started());
    if started { NodePhase::InProgress } else { NodePhase::Blocked(blocked_by) }
}

fn phase(policy: &PolicyFacts, node: &NodeFacts, enactment: &EnactmentFacts, content: &Content) -> NodePhase {
    let current = content.is_current(policy, enactment);
    let this_generation =
        current && enactment.spec.as_ref().is_some_and(|spec| spec.policy.generation == policy.generation);
    let requests =
        |reasons: &[ReleaseRequest]| enactment.request().is_some_and(|reason| reasons.contains(&reason));
    let came_back = |at| node.agent_since.is_some_and(|since| since > at);
    match NodeProgress::of(enactment) {
        NodeProgress::Available if this_generation && failed_soak(enactment) => {
            NodePhase::Failed(Failure::NotReady)
        }
        NodeProgress::Available if current && !requests(&[Drifted, RecordLost]) => NodePhase::Done,
        NodeProgress::Released { .. } | NodeProgress::Applying { .. } | NodeProgress::Retrying { .. } => {
            NodePhase::InProgress
        }
        NodeProgress::Claimed => NodePhase::Claimed,
        NodeProgress::Failing if this_generation && !requests(&[ConflictEnded]) => {
            NodePhase::Failed(Failure::Reported)
        }
        // It never started: nothing was attempted, so this is no second attempt.
        NodeProgress::Expired { started: false, at } if this_generation && came_back(at) => {
            NodePhase::Waiting
        }
        NodeProgress::Expired { .. } if this_generation => NodePhase::Failed(Failure::Expired),
        _ => NodePhase::Waiting,
    }
}

fn failed_soak(enactment: &EnactmentFacts) -> bool {
    enactment.spec.as_ref().is_some_and(|spec| spec.failed_soak.is_some())
}
