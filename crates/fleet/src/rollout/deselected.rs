//! Nodes that a policy is no longer about: it was deleted, their labels changed, or they are gone.

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
pub enum Deselected<'a> {
    /// Nothing is left to do or to wait for.
    Delete(&'a EnactmentFacts),
    /// Is in progress, or is told to go back.
    Keep(Candidate<'a>),
}

pub fn deselected<'a>(
    policy: &PolicyFacts,
    node: Option<&'a NodeFacts>,
    enactment: &'a EnactmentFacts,
) -> Deselected<'a> {
    let progress = NodeProgress::of(enactment);
    let (Some(node), Some(spec)) = (node, &enactment.spec) else { return Deselected::Delete(enactment) };
    if progress.has_begun() {
        let candidate =
            Candidate { node, enactment: Some(enactment), content: None, phase: NodePhase::InProgress };
        return Deselected::Keep(candidate);
    }
    let went_back = spec.revert && progress == NodeProgress::Available;
    let retained = policy.spec.options().on_delete == OnDelete::Retain;
    if retained || went_back || !left_something(enactment, progress) {
        return Deselected::Delete(enactment);
    }
    Deselected::Keep(Candidate::wanting(policy, node, Some(enactment), Content::reverting(spec)))
}

/// On a node that nobody knows. Kubernetes deletes what a node owned; what is seen here may be older news than the enactment,
/// so one that was released is waited for as ever.
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

/// Whether the policy, in any version, may have changed the node and not taken that back.
fn left_something(enactment: &EnactmentFacts, progress: NodeProgress) -> bool {
    let spec = enactment.spec.as_ref();
    spec.is_some_and(|spec| spec.revert || spec.previous.is_some())
        || matches!(progress, NodeProgress::Available | NodeProgress::Expired { begun: true, .. })
}
