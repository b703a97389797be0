//! Nodes that were configured a moment ago: one that becomes not ready then counts as failed. The next nodes do not wait for it.

use linesman_api::condition::find;
use linesman_api::conditions::EnactmentCondition::Available;
use linesman_api::enactment::EnactmentSpec;
use linesman_api::time::Time;

use super::candidate::Candidate;
use super::facts::{EnactmentFacts, NodeFacts, PolicyFacts, Situation};
use super::phase::{Failure, NodePhase};
use super::steps::{Action, Step};

const DEFAULT: u64 = 60;

pub fn seconds(policy: &PolicyFacts) -> u64 {
    policy.spec.rollout.as_ref().and_then(|rollout| rollout.soak).unwrap_or(DEFAULT)
}

/// Until when this node soaks; none if it does not.
pub fn until(situation: &Situation<'_>, candidate: &Candidate<'_>) -> Option<Time> {
    let enactment = candidate.enactment.filter(|_| candidate.phase == NodePhase::Done)?;
    let until = configured_at(situation, enactment)?.plus(seconds(situation.policy));
    (until > situation.now && !situation.policy.deleting).then_some(until)
}

/// Counts soaking nodes that became not ready as failed. Written down: a node that returns does not undo that.
pub fn fail(situation: &Situation<'_>, candidates: &mut [Candidate<'_>]) -> Vec<Action> {
    let mut actions = Vec::new();
    for candidate in candidates {
        let soaking = candidate.enactment.filter(|_| until(situation, candidate).is_some());
        let Some((enactment, spec)) = soaking.and_then(|it| Some((it, it.spec.as_ref()?))) else { continue };
        if was_lost(candidate.node, spec) {
            let mut spec = EnactmentSpec { failed_soak: Some(situation.now), ..spec.clone() };
            spec.policy.generation = spec.policy.generation.max(situation.policy.generation);
            actions.push(Action::on(enactment, Step::FailSoak(Box::new(spec))));
            candidate.phase = NodePhase::Failed(Failure::NotReady);
        }
    }
    actions
}

/// Whether it became not ready after its release, whatever its clock and the operator's say.
fn was_lost(node: &NodeFacts, spec: &EnactmentSpec) -> bool {
    let since = node.lost_since();
    since.is_some() && since != spec.not_ready_since
}

/// By the clock of its agent, unless that cannot be true: then it was configured when it was released, which is the operator's to
/// know.
fn configured_at(situation: &Situation<'_>, enactment: &EnactmentFacts) -> Option<Time> {
    let spec = enactment.spec.as_ref()?;
    let released = situation.settings.released_at(spec).filter(|at| *at <= situation.now)?;
    let reported = find(&enactment.status.conditions, Available)?.last_transition_time;
    Some(reported.filter(|at| *at >= released && *at <= situation.now).unwrap_or(released))
}
