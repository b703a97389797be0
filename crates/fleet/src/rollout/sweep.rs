//! Nodes that a policy is no longer about: it was deleted, their labels changed, or they are gone.

use linesman_api::enactment::{EnactmentSpec, Stage};
use linesman_api::options::OnDelete;
use linesman_api::time::Time;

use super::content::Content;
use super::facts::{EnactmentFacts, NodeFacts, PolicyFacts};
use super::phase::{Candidate, Phase};
use super::standing::Standing;
use super::steps::Step;

#[derive(Debug)]
pub enum Leaving<'a> {
    /// Nothing is left to do or to wait for.
    Delete(&'a EnactmentFacts),
    /// Is in progress, or is told to go back.
    Stay(Candidate<'a>),
}

pub fn leaving<'a>(
    policy: &PolicyFacts,
    node: Option<&'a NodeFacts>,
    enactment: &'a EnactmentFacts,
) -> Leaving<'a> {
    let standing = Standing::of(enactment);
    let (Some(node), Some(spec)) = (node, &enactment.spec) else { return Leaving::Delete(enactment) };
    if standing.has_begun() {
        let candidate = Candidate { node, enactment: Some(enactment), content: None, phase: Phase::Busy };
        return Leaving::Stay(candidate);
    }
    let went_back = spec.revert && standing == Standing::Available;
    let retained = policy.spec.options().on_delete == OnDelete::Retain;
    if retained || went_back || !left_something(enactment, standing) {
        return Leaving::Delete(enactment);
    }
    Leaving::Stay(Candidate::wanting(policy, node, Some(enactment), Content::reverting(spec)))
}

/// On a node that nobody knows. Kubernetes deletes what a node owned; what is seen here may be older news than the enactment,
/// so one that was released is waited for as ever.
pub fn lost(enactment: &EnactmentFacts, now: Time) -> Option<Step> {
    let spec = enactment.spec.as_ref();
    match (Standing::of(enactment).until(), spec) {
        (Some(until), _) if now < until => None,
        (Some(_), Some(spec)) => {
            Some(Step::Expire(Box::new(EnactmentSpec { stage: Stage::Expired, ..spec.clone() })))
        }
        _ => Some(Step::Delete),
    }
}

/// Whether the policy, in any version, may have changed the node and not taken that back.
fn left_something(enactment: &EnactmentFacts, standing: Standing) -> bool {
    let spec = enactment.spec.as_ref();
    spec.is_some_and(|spec| spec.revert || spec.previous.is_some())
        || matches!(standing, Standing::Available | Standing::Expired { begun: true, .. })
}
