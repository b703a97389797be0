//! Nodes that a policy no longer selects: it was deleted, their labels changed, or they are gone.

use linesman_api::enactment::{EnactmentSpec, Stage};
use linesman_api::options::OnDelete;
use linesman_api::time::Time;

use super::candidate::Candidate;
use super::content::Content;
use super::facts::{EnactmentFacts, NodeFacts, PolicyFacts};
use super::phase::NodePhase;
use super::progress::NodeProgress;
use super::steps::Step;

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and not stored")]
pub enum Deselected<'a> {
    /// Nothing is left to do or to wait for.
    Delete(&'a EnactmentFacts),
    /// Is in progress, or must revert.
    Keep(Candidate<'a>),
}

pub fn deselected<'a>(
    policy: &PolicyFacts,
    node: Option<&'a NodeFacts>,
    enactment: &'a EnactmentFacts,
) -> Deselected<'a> {
    let progress = NodeProgress::of(enactment);
    let (Some(node), Some(spec)) = (node, &enactment.spec) else { return Deselected::Delete(enactment) };
    if progress.has_started() {
        let candidate =
            Candidate { node, enactment: Some(enactment), content: None, phase: NodePhase::InProgress };
        return Deselected::Keep(candidate);
    }
    let reverted = spec.revert && progress == NodeProgress::Available;
    let retained = policy.spec.options().on_delete == OnDelete::Retain;
    if retained || reverted || !left_something(enactment, progress) {
        return Deselected::Delete(enactment);
    }
    Deselected::Keep(Candidate::wanting(policy, node, Some(enactment), Content::reverting(spec)))
}

/// On a node without a Node object. Kubernetes deletes what a node owned; the cache of nodes may be older than that of enactments, so
/// one that was released is waited for as usual.
pub fn node_gone(enactment: &EnactmentFacts, now: Time) -> Option<Step> {
    let spec = enactment.spec.as_ref();
    match (NodeProgress::of(enactment).until(), spec) {
        (Some(until), _) if now < until => None,
        (Some(_), Some(spec)) => {
            Some(Step::Expire(Box::new(EnactmentSpec { stage: Stage::Expired, ..spec.clone() })))
        }
        _ => Some(Step::Delete),
    }
}

/// Whether the policy, in any version, may have changed the node and not reverted that.
fn left_something(enactment: &EnactmentFacts, progress: NodeProgress) -> bool {
    let spec = enactment.spec.as_ref();
    spec.is_some_and(|spec| spec.revert || spec.previous.is_some())
        || matches!(progress, NodeProgress::Available | NodeProgress::Expired { started: true, .. })
}
