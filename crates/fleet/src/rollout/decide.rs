//! The decision: load (IO) -> this -> act (IO).

use std::collections::{BTreeMap, BTreeSet};

use linesman_api::options::OnDelete;
use linesman_api::policy::PolicyStatus;
use linesman_api::time::Time;

use super::candidate::Candidate;
use super::conflicts::OtherPolicies;
use super::deselected::{self, Deselected, deselected};
use super::facts::{Index, NodeFacts, PolicyFacts, Situation};
use super::gate::Gate;
use super::limit::limit;
use super::mac_owners::MacOwners;
use super::pace;
use super::phase::{BlockedBy, Failure, NodePhase};
use super::progress::NodeProgress;
use super::queue::Queue;
use super::quorum::Quorum;
use super::remembered;
use super::slots::Slots;
use super::soak;
use super::status::{NAMED, status};
use super::steps::{Action, Step};

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// In order; after a refused one the rest is dropped.
    pub actions: Vec<Action>,
    /// Without times: `condition::dated` adds them.
    pub status: PolicyStatus,
    /// In the order of the rollout.
    pub nodes: Vec<(String, NodePhase)>,
    /// When to decide again though nothing changed.
    pub wake: Option<Time>,
}

pub fn decide(situation: &Situation<'_>) -> Decision {
    let policy = situation.policy;
    let index = Index::of(&situation.enactments);
    let (mut candidates, gone) = candidates(situation, &index);
    let others = OtherPolicies::of(situation, &index);
    let failed_and_gone = remembered::recall(policy, &mut candidates);
    candidates.iter_mut().for_each(|candidate| retry_after_dependency(policy, candidate, &others));
    candidates.iter_mut().for_each(|candidate| set_aside(candidate, situation));
    candidates.iter_mut().for_each(|candidate| pace::delay(candidate, situation));
    let failed_soak = soak::fail(situation, &mut candidates);
    let limit = limit(policy.spec.max_unavailable.as_ref(), candidates.len());
    let gate = Gate::of(policy, &candidates, &failed_and_gone, limit);
    let mut slots = Slots {
        situation,
        gate: &gate,
        quorum: Quorum::of(&situation.nodes, &situation.enactments),
        others,
        queue: Queue::of(situation),
        limit,
        taken: taken(situation, &candidates, failed_and_gone.len(), limit),
    };
    let mut actions = failed_soak;
    actions.extend(gone);
    actions.extend(slots.assign(&mut candidates));
    match finalizer(situation, candidates.is_empty()) {
        Some(keep @ Action::Finalizer { keep: true }) => actions.insert(0, keep),
        last => actions.extend(last),
    }
    let soaking: Vec<(&str, Time)> =
        candidates.iter().filter_map(|c| Some((c.node.name.as_str(), soak::until(situation, c)?))).collect();
    let mut status = status(policy, &candidates, &failed_and_gone, &gate, limit);
    status.soaking_nodes = soaking.iter().take(NAMED).map(|(node, _)| node.to_string()).collect();
    Decision {
        actions,
        status,
        nodes: candidates.iter().map(|c| (c.node.name.clone(), c.phase.clone())).collect(),
        wake: situation
            .own()
            .filter_map(|e| NodeProgress::of(e).until())
            .chain(situation.own().filter_map(|e| slots.queue.due(e)))
            .chain(soaking.iter().map(|(_, until)| *until))
            .chain(candidates.iter().filter_map(|c| pace::wake(c, situation)))
            .filter(|until| *until > situation.now)
            .min(),
    }
}

/// Slots in use, claims included. As in kubernetes-nmstate, a failed node keeps its slot until the policy is edited. All of them
/// can only fail where `maxFailures` asks to continue all the same: then one slot stays free.
fn taken(situation: &Situation<'_>, candidates: &[Candidate<'_>], gone: usize, limit: usize) -> usize {
    let changing = situation.own().filter(|e| NodeProgress::of(e).has_slot()).count();
    let failed = candidates.iter().filter(|c| matches!(c.phase, NodePhase::Failed(_))).count() + gone;
    changing + failed.min(limit - 1)
}

/// The nodes of the policy in the order of the rollout, and deletions of enactments.
fn candidates<'a>(situation: &Situation<'a>, index: &Index<'a>) -> (Vec<Candidate<'a>>, Vec<Action>) {
    let policy = situation.policy;
    let owners = MacOwners::of(situation);
    let mut gone = Vec::new();
    let mut candidates = Vec::new();
    for node in in_order(&situation.nodes) {
        let enactment = index.get(&policy.name, &node.name);
        if !policy.deleting && policy.spec.selects(&node.labels) {
            candidates.push(Candidate::matching(policy, node, enactment, &owners));
        } else if let Some(enactment) = enactment {
            match deselected(policy, Some(node), enactment) {
                Deselected::Delete(enactment) => gone.push(Action::on(enactment, Step::Delete)),
                Deselected::Keep(candidate) => candidates.push(candidate),
            }
        }
    }
    let there: BTreeSet<&str> = situation.nodes.iter().map(|node| node.name.as_str()).collect();
    let lost = situation.own().filter(|e| !there.contains(e.node.as_str()));
    gone.extend(lost.filter_map(|e| Some(Action::on(e, deselected::node_gone(e, situation.now)?))));
    (candidates, gone)
}

/// What failed because it lacked something that another policy has made since is tried again.
fn retry_after_dependency(policy: &PolicyFacts, candidate: &mut Candidate<'_>, others: &OtherPolicies<'_>) {
    let (NodePhase::Failed(Failure::Reported), Some(enactment), Some(content)) =
        (&candidate.phase, candidate.enactment, &candidate.content)
    else {
        return;
    };
    if others.made_since(candidate.node, content, enactment) {
        candidate.phase = policy
            .waits_for(candidate.node)
            .map_or(NodePhase::Waiting, |reason| NodePhase::Blocked(BlockedBy::NodeNotReady(reason)));
    }
}

/// A node whose enactment cannot be written takes no slot from the others.
fn set_aside(candidate: &mut Candidate<'_>, situation: &Situation<'_>) {
    let waits = matches!(candidate.phase, NodePhase::Waiting | NodePhase::Claimed | NodePhase::Blocked(_));
    let reason = situation.sets_aside(candidate.node, candidate.content.as_ref());
    if let Some(reason) = reason.filter(|_| waits) {
        candidate.phase = NodePhase::Blocked(reason);
    }
}

/// By name, but alternating between zones, so that a wave does not take a whole zone.
fn in_order<'a>(nodes: &[&'a NodeFacts]) -> Vec<&'a NodeFacts> {
    let mut zones: BTreeMap<&str, Vec<&NodeFacts>> = BTreeMap::new();
    for node in nodes {
        zones.entry(node.zone()).or_default().push(node);
    }
    let mut ranked: Vec<(usize, &str, &NodeFacts)> = Vec::with_capacity(nodes.len());
    for (zone, mut members) in zones {
        members.sort_by(|a, b| a.name.cmp(&b.name));
        ranked.extend(members.into_iter().enumerate().map(|(rank, node)| (rank, zone, node)));
    }
    ranked.sort_by_key(|(rank, zone, _)| (*rank, *zone));
    ranked.into_iter().map(|(_, _, node)| node).collect()
}

fn finalizer(situation: &Situation<'_>, nobody_left: bool) -> Option<Action> {
    let policy = situation.policy;
    let reverts = policy.spec.options().on_delete == OnDelete::Revert;
    let keep = reverts && !(policy.deleting && nobody_left);
    // Kubernetes forbids to add one once it is being deleted.
    let change = if policy.deleting { policy.finalizer && !keep } else { policy.finalizer != keep };
    change.then_some(Action::Finalizer { keep })
}
