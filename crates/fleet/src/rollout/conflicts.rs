//! Other policies on the same node: those that conflict with this one, and those that it depends on.

use std::collections::BTreeMap;

use linesman_api::condition::find;
use linesman_api::conditions::EnactmentCondition::{self, Available, Failing};
use linesman_api::time::Time;
use serde_json::Value;

use super::content::Content;
use super::facts::{EnactmentFacts, Index, NodeFacts, PolicyFacts, Situation};
use super::overlay::state_for;
use super::progress::NodeProgress;
use linesman_core::codes::CONFLICT;
use linesman_core::compose::{compose, in_order, makes_any, needs};
use linesman_core::policy::Policy;
use linesman_core::reconcile::refused;

/// Why other policies keep this one from a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Obstacles {
    pub conflict: Option<String>,
    /// Why no slot should be taken.
    pub claim: Option<String>,
    /// Why it may not start yet, though it may take a slot.
    pub release: Option<String>,
}

#[derive(Debug)]
pub struct OtherPolicies<'a> {
    own: &'a PolicyFacts,
    others: Vec<&'a PolicyFacts>,
    index: &'a Index<'a>,
    /// Enactments of policies that are deleted or no longer select the node, by node: until those are gone, the node has what
    /// they configured.
    leaving: BTreeMap<&'a str, Vec<&'a EnactmentFacts>>,
    /// By the progress of the other policies: without entries in `hosts`, nodes with the same progress have the same obstacles.
    known: BTreeMap<Vec<(&'a str, OtherProgress)>, Obstacles>,
}

/// How far another policy is on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OtherProgress {
    Waiting,
    Failed,
    Claimed,
    Released,
    Applied,
}

impl<'a> OtherPolicies<'a> {
    pub fn of(situation: &'a Situation<'a>, index: &'a Index<'a>) -> Self {
        let others: Vec<&PolicyFacts> = situation.others().filter(|other| !other.deleting).collect();
        let leaving = leaving(situation, &others);
        Self { own: situation.policy, others, index, leaving, known: BTreeMap::new() }
    }

    pub fn obstacles(&mut self, node: &NodeFacts, content: &Content) -> Obstacles {
        if content.revert {
            return Obstacles::default();
        }
        let obstacles = self.obstacles_of_others(node, content);
        let claim = obstacles.claim.or_else(|| self.conflict_with_leaving(node, content));
        Obstacles { claim, ..obstacles }
    }

    /// The agent would refuse this policy for good while it has the other one.
    fn conflict_with_leaving(&self, node: &NodeFacts, content: &Content) -> Option<String> {
        let leaving = self.leaving.get(node.name.as_str())?;
        let own = policy(self.own, content.state.clone());
        let conflicts = |enactment: &&&EnactmentFacts| {
            let states = states_on_node(enactment);
            states
                .into_iter()
                .any(|state| compose(&[&Policy { name: String::new(), state, ..own.clone() }, &own]).is_err())
        };
        let other = leaving.iter().find(conflicts)?;
        Some(format!(
            "waits until the policy {} is removed from this node: it conflicts with this one",
            other.policy
        ))
    }

    fn obstacles_of_others(&mut self, node: &NodeFacts, content: &Content) -> Obstacles {
        let here: Vec<&'a PolicyFacts> =
            self.others.iter().copied().filter(|other| other.spec.selects(&node.labels)).collect();
        if here.is_empty() {
            return Obstacles::default();
        }
        let progress: Vec<(&'a str, OtherProgress)> =
            here.iter().map(|other| (other.name.as_str(), self.progress(other, node))).collect();
        let plain = content.state == self.own.spec.desired_state;
        let alike = plain && here.iter().all(|other| other.spec.hosts.is_empty());
        if let Some(known) = self.known.get(&progress).filter(|_| alike) {
            return known.clone();
        }
        let obstacles = self.find_obstacles(node, content, &here, &progress);
        if alike {
            self.known.insert(progress, obstacles.clone());
        }
        obstacles
    }

    /// Whether something that it depends on was first made on this node after it had failed there. Both times are from the same
    /// agent.
    pub fn made_since(&self, node: &NodeFacts, content: &Content, failed: &EnactmentFacts) -> bool {
        let failed = since(failed, Failing);
        let needed = needs(content.state.as_ref().unwrap_or(&Value::Null));
        let makes = |other: &PolicyFacts| {
            let state = state_for(&other.spec, node).ok().flatten().unwrap_or_default();
            makes_any(&state, &needed) && self.progress(other, node) == OtherProgress::Applied
        };
        let first = |enactment: &&EnactmentFacts| {
            enactment.spec.as_ref().is_some_and(|spec| spec.previous.is_none())
                && since(enactment, Available) >= failed
        };
        let here = self.others.iter().filter(|other| other.spec.selects(&node.labels));
        failed.is_some()
            && here
                .filter(|other| makes(other))
                .any(|other| self.index.get(&other.name, &node.name).as_ref().is_some_and(first))
    }

    fn progress(&self, other: &PolicyFacts, node: &NodeFacts) -> OtherProgress {
        let Some(enactment) = self.index.get(&other.name, &node.name) else { return OtherProgress::Waiting };
        let current = state_for(&other.spec, node)
            .is_ok_and(|state| Content::of_policy(other, state).is_current(other, enactment));
        match NodeProgress::of(enactment) {
            _ if !current => OtherProgress::Waiting,
            NodeProgress::Available => OtherProgress::Applied,
            NodeProgress::Claimed => OtherProgress::Claimed,
            NodeProgress::Failing | NodeProgress::Expired { .. } => OtherProgress::Failed,
            NodeProgress::Bound => OtherProgress::Waiting,
            _ => OtherProgress::Released,
        }
    }

    fn find_obstacles(
        &self,
        node: &NodeFacts,
        content: &Content,
        here: &[&'a PolicyFacts],
        progress: &[(&'a str, OtherProgress)],
    ) -> Obstacles {
        let own = policy(self.own, content.state.clone());
        let theirs = here.iter().filter_map(|other| Some(policy(other, state_for(&other.spec, node).ok()?)));
        let all: Vec<Policy> = theirs.chain([own.clone()]).collect();
        let place = |name: &str| progress.iter().find(|(known, _)| *known == name).map(|(_, place)| *place);
        let conflict = conflict_with(&own, &all, |name| place(name) == Some(OtherProgress::Applied));
        let mut obstacles = Obstacles { conflict, ..Obstacles::default() };
        let needed = needs(&own.state);
        let refs: Vec<&Policy> = all.iter().collect();
        let earlier = in_order(&refs).into_iter().take_while(|p| p.name != own.name);
        for below in earlier.filter(|p| makes_any(&p.state, &needed)) {
            let reason =
                |what: &str| Some(format!("depends on the policy {}, which {what} on this node", below.name));
            match place(&below.name) {
                Some(OtherProgress::Waiting) | None => obstacles.claim = reason("is not applied yet"),
                Some(OtherProgress::Failed) => obstacles.claim = reason("failed"),
                Some(OtherProgress::Claimed) => obstacles.release = reason("is applied first"),
                Some(OtherProgress::Released | OtherProgress::Applied) => {}
            }
        }
        obstacles
    }
}

fn leaving<'a>(
    situation: &Situation<'a>,
    staying: &[&'a PolicyFacts],
) -> BTreeMap<&'a str, Vec<&'a EnactmentFacts>> {
    let staying: BTreeMap<&str, &PolicyFacts> =
        staying.iter().map(|other| (other.name.as_str(), *other)).collect();
    let nodes: BTreeMap<&str, &NodeFacts> =
        situation.nodes.iter().map(|node| (node.name.as_str(), *node)).collect();
    let stays = |enactment: &EnactmentFacts| {
        let (other, node) = (staying.get(enactment.policy.as_str()), nodes.get(enactment.node.as_str()));
        other.zip(node).is_some_and(|(other, node)| other.spec.selects(&node.labels))
    };
    let mut leaving: BTreeMap<&str, Vec<&EnactmentFacts>> = BTreeMap::new();
    for enactment in situation.enactments.iter().copied() {
        if enactment.policy != situation.policy.name && !stays(enactment) {
            leaving.entry(enactment.node.as_str()).or_default().push(enactment);
        }
    }
    leaving
}

/// What the policy of an enactment may have configured on its node. What captures found is known to its agent only.
fn states_on_node(enactment: &EnactmentFacts) -> Vec<Value> {
    let Some(spec) = &enactment.spec else { return Vec::new() };
    let progress = NodeProgress::of(enactment);
    let reverted = spec.revert && progress == NodeProgress::Available;
    let begun = progress == NodeProgress::Available || progress.until().is_some() || spec.revert;
    let current = spec.desired_state.as_ref().filter(|_| begun && spec.capture.is_empty());
    let previous = spec.previous.as_ref().filter(|previous| previous.capture.is_empty());
    let states = current.into_iter().chain(previous.and_then(|previous| previous.desired_state.as_ref()));
    states.filter(|_| !reverted).cloned().collect()
}

fn since(enactment: &EnactmentFacts, kind: EnactmentCondition) -> Option<Time> {
    find(&enactment.status.conditions, kind)?.last_transition_time
}

fn policy(facts: &PolicyFacts, state: Option<Value>) -> Policy {
    let capture = (!facts.spec.capture.is_empty()).then(|| serde_json::json!(facts.spec.capture));
    Policy {
        name: facts.name.clone(),
        state: state.unwrap_or_default(),
        capture,
        options: facts.spec.options(),
    }
}

/// What captures resolve to is only known on the node: its agent checks again.
fn conflict_with(own: &Policy, all: &[Policy], is_applied: impl Fn(&str) -> bool) -> Option<String> {
    let plain: Vec<&Policy> = all.iter().filter(|policy| policy.capture.is_none()).collect();
    let refused = refused(&plain, is_applied);
    let conflict = refused.get(&own.name)?.first()?;
    let other = conflict.other_policy(&own.name);
    Some(format!("[{CONFLICT}] conflicts with the policy {other}: desiredState.{conflict}"))
}
