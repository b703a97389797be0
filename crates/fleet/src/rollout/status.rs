//! The status of a policy: a function of its nodes.

use linesman_api::condition::{Condition, Truth, find};
use linesman_api::conditions::{EnactmentCondition, PolicyCondition};
use linesman_api::options::{Drift, OnDelete};
use linesman_api::policy::{BlockedNode, NodeCounts, PolicyStatus, Waves};
use linesman_api::reasons::PolicyReason;

use super::candidate::Candidate;
use super::content::applied;
use super::facts::{EnactmentFacts, PolicyFacts};
use super::gate::Gate;
use super::limit::beyond_all;
use super::phase::{BlockedBy, Failure, NodePhase};
use super::progress::NodeProgress;
use super::{remembered, soak};

/// How many nodes are named; a status that names all would grow with the fleet.
pub const NAMED: usize = 10;

pub fn status(
    policy: &PolicyFacts,
    candidates: &[Candidate<'_>],
    failed_and_gone: &[&str],
    gate: &Gate<'_>,
    limit: usize,
) -> PolicyStatus {
    let counts = counts(policy, candidates);
    let changing =
        candidates.iter().filter(|c| c.progress().is_some_and(NodeProgress::has_slot)).count() as u64;
    PolicyStatus {
        conditions: conditions(policy, candidates, gate, &counts),
        observed_generation: Some(policy.generation),
        max_unavailable: Some(limit as u64),
        nodes: Some(counts),
        waves: (counts.matching > 0).then(|| waves(&counts, limit as u64)),
        blocked_nodes: blocked_nodes(policy, candidates, failed_and_gone),
        failed_nodes: remembered::remember(candidates, failed_and_gone),
        unavailable_node_count_map: match changing {
            0 => [].into(),
            many => [(policy.generation.to_string(), many)].into(),
        },
        ..PolicyStatus::default()
    }
}

fn counts(policy: &PolicyFacts, candidates: &[Candidate<'_>]) -> NodeCounts {
    let mut counts = NodeCounts { matching: candidates.len() as u64, ..NodeCounts::default() };
    for candidate in candidates {
        let count = match &candidate.phase {
            NodePhase::Done => &mut counts.available,
            NodePhase::InProgress | NodePhase::Claimed => &mut counts.progressing,
            NodePhase::Failed(_) => &mut counts.failing,
            NodePhase::Blocked(BlockedBy::NodeNotReady(_)) => &mut counts.not_ready,
            NodePhase::Blocked(BlockedBy::Stopped(_) | BlockedBy::NoPreviousVersion) => &mut counts.aborted,
            // It never had its turn: that it stays as it is was asked for.
            NodePhase::Unaffected if candidate.enactment.is_some_and(|e| applied(policy, e).is_some()) => {
                &mut counts.available
            }
            // It joined.
            NodePhase::Unaffected => continue,
            NodePhase::Waiting | NodePhase::Blocked(_) => &mut counts.pending,
        };
        *count += 1;
    }
    counts
}

fn waves(counts: &NodeCounts, limit: u64) -> Waves {
    let begun = counts.available + counts.progressing + counts.failing;
    let total = counts.matching.div_ceil(limit);
    Waves { current: begun.div_ceil(limit).min(total), total }
}

/// Failed nodes first, then those that a person could help.
fn blocked_nodes(policy: &PolicyFacts, candidates: &[Candidate<'_>], gone: &[&str]) -> Vec<BlockedNode> {
    let left = gone.iter().map(|node| BlockedNode {
        node: node.to_string(),
        reason: "failed, and is no longer selected; edit the policy to continue its rollout".into(),
    });
    let blocked =
        |candidate: &Candidate<'_>, reason: String| BlockedNode { node: candidate.node.name.clone(), reason };
    let failed = candidates.iter().filter_map(|c| match c.phase {
        NodePhase::Failed(failure) => Some(blocked(c, describe(policy, c, failure))),
        _ => None,
    });
    let others = candidates.iter().filter_map(|c| match &c.phase {
        NodePhase::Blocked(BlockedBy::Paused | BlockedBy::Stopped(_) | BlockedBy::Canary) => None,
        NodePhase::Blocked(reason) => Some(blocked(c, reason.to_string())),
        NodePhase::InProgress => Some(blocked(c, format!("is being changed, but {}", hidden(c)?))),
        _ => drift(c).map(|drifted| blocked(c, describe_drift(policy, drifted))),
    });
    let canaries = policy.spec.rollout.iter().flat_map(|rollout| &rollout.canary);
    let unknown =
        canaries.filter(|name| !policy.deleting && candidates.iter().all(|c| c.node.name != **name));
    let unknown = unknown.filter(|name| !gone.contains(&name.as_str()));
    let unknown = unknown.map(|name| BlockedNode {
        node: name.clone(),
        reason: "is listed in rollout.canary, but the policy does not select such a node".into(),
    });
    left.chain(failed).chain(unknown).chain(others).take(NAMED).collect()
}

fn unreadable(candidate: &Candidate<'_>) -> Option<String> {
    let error = candidate.enactment?.unreadable.as_ref()?;
    Some(format!("what it reports cannot be read: {error}"))
}

/// Why nothing is heard of a node that is being changed.
fn hidden(candidate: &Candidate<'_>) -> Option<String> {
    unreadable(candidate).or_else(|| candidate.node.not_ready().map(|reason| reason.to_string()))
}

fn describe(policy: &PolicyFacts, candidate: &Candidate<'_>, failure: Failure) -> String {
    let own =
        |e: &&EnactmentFacts| e.spec.as_ref().is_some_and(|spec| e.status.attempt == Some(spec.attempt));
    let conditions = candidate.enactment.filter(own).map(|e| e.status.conditions.as_slice());
    let failing = find(conditions.unwrap_or_default(), EnactmentCondition::Failing);
    let message = failing.filter(|failing| failing.is_true() && !failing.message.is_empty());
    match (failure, message) {
        (Failure::Expired, None) => {
            let reason = unreadable(candidate).map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("did not report in time after its release{reason}")
        }
        // It had retried until then.
        (Failure::Expired, Some(failing)) => format!("{}; its release expired", failing.message),
        (Failure::Reported, Some(failing)) => failing.message.clone(),
        (Failure::Reported, None) => "failed".into(),
        (Failure::Remembered, _) => {
            "failed before its enactment was deleted; edit the policy to try this node again".into()
        }
        (Failure::NotReady, _) => {
            format!("became not ready within {} s after it was configured", soak::seconds(policy))
        }
    }
}

/// In kubernetes-nmstate's order; the first that applies is the one that is true.
fn conditions(
    policy: &PolicyFacts,
    candidates: &[Candidate<'_>],
    gate: &Gate<'_>,
    counts: &NodeCounts,
) -> Vec<Condition> {
    use PolicyCondition::{Available, Degraded, Ignored, Progressing};
    let refused = candidates.iter().find_map(|c| match &c.phase {
        NodePhase::Blocked(blocked_by) => Some((c.node.name.as_str(), refusal(blocked_by)?, blocked_by)),
        _ => None,
    });
    let unwritten = candidates.iter().find_map(|c| match &c.phase {
        NodePhase::Blocked(reason @ BlockedBy::Refused(_)) => Some((c.node.name.as_str(), reason)),
        _ => None,
    });
    let unfinished =
        counts.progressing + counts.pending > 0 || (counts.available == 0 && counts.not_ready > 0);
    let (condition, reason, message) = if counts.matching == 0 {
        (Ignored, PolicyReason::NoMatchingNode, no_node(policy).into())
    } else if let Some((node, reason)) = unwritten {
        (Degraded, PolicyReason::WriteRefused, format!("{node}: {reason}; trying again"))
    } else if counts.failing + counts.aborted > 0 {
        let reason = failed_because(candidates);
        (Degraded, reason, degraded(candidates, gate, counts) + &first_of(candidates, reason))
    } else if let Some((node, reason, blocked_by)) = refused {
        (Degraded, reason, format!("{node}: {blocked_by}"))
    } else if unfinished {
        let reason = match gate.closed_by() {
            Some(BlockedBy::Paused) => PolicyReason::RolloutPaused,
            _ => PolicyReason::ConfigurationProgressing,
        };
        (Progressing, reason, progressing(policy, gate, counts))
    } else if policy.undoes() {
        (Available, PolicyReason::RolloutUndone, undone(counts) + &not_ready(counts))
    } else {
        (Available, PolicyReason::SuccessfullyConfigured, configured(counts) + &not_ready(counts))
    };
    let message = message + &drifted(candidates);
    let summary = Summary { condition, reason, message: message + &capped(policy, counts) };
    PolicyCondition::ALL.iter().map(|kind| summary.of(*kind, policy.generation)).collect()
}

/// Why no node can be changed, whatever happens on the nodes.
fn refusal(blocked_by: &BlockedBy) -> Option<PolicyReason> {
    match blocked_by {
        BlockedBy::Conflict(_) => Some(PolicyReason::PoliciesConflict),
        BlockedBy::HostsOverlap(_) => Some(PolicyReason::HostsOverlap),
        BlockedBy::DocumentRefused(_) => Some(PolicyReason::DocumentRefused),
        BlockedBy::SecretUnavailable(_) => Some(PolicyReason::SecretUnavailable),
        _ => None,
    }
}

/// What the agents found wrong with the policy itself is its reason, too.
fn failed_because(candidates: &[Candidate<'_>]) -> PolicyReason {
    let failed = candidates.iter().filter(|c| matches!(c.phase, NodePhase::Failed(Failure::Reported)));
    let conditions =
        failed.filter_map(|c| find(&c.enactment?.status.conditions, EnactmentCondition::Failing));
    let known = |reason: PolicyReason| {
        conditions.clone().any(|failing| failing.is_true() && failing.reason == reason.as_str())
    };
    let own = [PolicyReason::DocumentRefused, PolicyReason::PoliciesConflict];
    own.into_iter().find(|reason| known(*reason)).unwrap_or(PolicyReason::FailedToConfigure)
}

/// What is wrong with the policy itself, as the first node says it.
fn first_of(candidates: &[Candidate<'_>], reason: PolicyReason) -> String {
    let own = |failing: &&Condition| failing.is_true() && failing.reason == reason.as_str();
    let first = candidates.iter().filter(|_| reason != PolicyReason::FailedToConfigure).find_map(|c| {
        let failing = find(&c.enactment?.status.conditions, EnactmentCondition::Failing).filter(own)?;
        Some(format!("; {}: {}", c.node.name, failing.message))
    });
    first.unwrap_or_default()
}

pub(super) struct Summary {
    /// The one that is true.
    pub condition: PolicyCondition,
    pub reason: PolicyReason,
    pub message: String,
}

impl Summary {
    pub fn of(&self, kind: PolicyCondition, generation: i64) -> Condition {
        use PolicyCondition::{Available, Degraded, Progressing};
        let status = match kind {
            kind if kind == self.condition => Truth::True,
            // It can still succeed or fail.
            Available | Degraded if self.condition == Progressing => Truth::Unknown,
            _ => Truth::False,
        };
        let message = if status == Truth::True { self.message.clone() } else { String::new() };
        let reason = match (kind, self.condition) {
            // As in kubernetes-nmstate: a rollout that is over keeps the reason of its progress.
            (Progressing, Degraded | Available) => PolicyReason::ConfigurationProgressing,
            _ => self.reason,
        };
        Condition { observed_generation: Some(generation), ..Condition::new(kind, status, reason, message) }
    }
}

fn no_node(policy: &PolicyFacts) -> &'static str {
    if policy.deleting { "no node has to be reverted" } else { "no node matches the selectors of the policy" }
}

fn configured(counts: &NodeCounts) -> String {
    format!("{} of {} nodes configured", counts.available, counts.matching)
}

fn undone(counts: &NodeCounts) -> String {
    let untouched = match counts.matching.saturating_sub(counts.available + counts.not_ready) {
        0 => String::new(),
        many => format!(", {many} without any"),
    };
    format!(
        "{} of {} nodes have the previous version{untouched}: the rollout was undone, and spec is not applied until rollout.undo is \
         removed",
        counts.available, counts.matching
    )
}

fn degraded(candidates: &[Candidate<'_>], gate: &Gate<'_>, counts: &NodeCounts) -> String {
    let mut parts = Vec::new();
    if counts.failing > 0 {
        parts.push(format!("{} of {} nodes failed", counts.failing, counts.matching));
    }
    let stays = |c: &&Candidate<'_>| c.phase == NodePhase::Blocked(BlockedBy::NoPreviousVersion);
    let stay = candidates.iter().filter(stays).count() as u64;
    if stay > 0 {
        parts.push(format!(
            "{stay} of {} nodes cannot be undone: they have no previous version, and stay as they are",
            counts.matching
        ));
    }
    if counts.aborted > stay {
        let reason = gate.closed_by().map(ToString::to_string).unwrap_or_default();
        parts.push(format!("{} not started: {reason}", counts.aborted - stay));
    }
    let rest = counts.progressing + counts.pending;
    if rest > 0 {
        parts.push(format!("{rest} not finished"));
    }
    parts.join("; ") + &not_ready(counts)
}

fn progressing(policy: &PolicyFacts, gate: &Gate<'_>, counts: &NodeCounts) -> String {
    let reverts = policy.spec.options().on_delete == OnDelete::Revert;
    let progress = match (policy.deleting, reverts) {
        (false, _) => configured(counts),
        (true, true) => format!("the policy is being deleted; nodes to revert: {}", counts.matching),
        (true, false) => {
            format!("the policy is being deleted; nodes still being changed: {}", counts.matching)
        }
    };
    let reason = match (gate.closed_by(), gate.awaited()) {
        (Some(reason), _) => format!("; {reason}"),
        (None, []) => String::new(),
        (None, canaries) => format!("; waiting for the canaries: {}", canaries.join(", ")),
    };
    progress + &reason + &not_ready(counts)
}

fn drifted(candidates: &[Candidate<'_>]) -> String {
    match candidates.iter().filter_map(drift).count() {
        0 => String::new(),
        1 => "; 1 has drifted".into(),
        many => format!("; {many} have drifted"),
    }
}

/// How a node differs that is configured and asks for no correction.
fn drift<'a>(candidate: &Candidate<'a>) -> Option<&'a Condition> {
    let enactment = candidate.enactment.filter(|_| candidate.phase == NodePhase::Done)?;
    find(&enactment.status.conditions, EnactmentCondition::Drifted).filter(|drifted| drifted.is_true())
}

fn describe_drift(policy: &PolicyFacts, drifted: &Condition) -> String {
    let stopped = match policy.spec.options().drift {
        Drift::Correct => ", and is not corrected: it drifted again after several corrections",
        _ => "",
    };
    format!("has drifted{stopped}: {}", drifted.message)
}

fn capped(policy: &PolicyFacts, counts: &NodeCounts) -> String {
    let nodes = usize::try_from(counts.matching).unwrap_or(usize::MAX);
    match beyond_all(policy.spec.max_unavailable.as_ref(), nodes) {
        Some(written) if nodes > 0 && !policy.deleting => {
            format!("; maxUnavailable is {written}, which counts as {nodes}: the policy has no more nodes")
        }
        _ => String::new(),
    }
}

fn not_ready(counts: &NodeCounts) -> String {
    match counts.not_ready {
        0 => String::new(),
        1 => "; 1 is not ready and is configured when it becomes ready".into(),
        many => format!("; {many} are not ready and are configured when they become ready"),
    }
}
