//! The status of a policy: a function of its nodes.

use linesman_api::condition::{Condition, Truth, find};
use linesman_api::conditions::{EnactmentCondition, PolicyCondition};
use linesman_api::options::OnDelete;
use linesman_api::policy::{BlockedNode, NodeCounts, PolicyStatus, Waves};
use linesman_api::reasons::PolicyReason;

use super::candidate::Candidate;
use super::facts::PolicyFacts;
use super::gate::Gate;
use super::phase::{BlockedBy, NodePhase};
use super::progress::NodeProgress;

/// How many nodes are named; a status that names all would grow with the fleet.
pub(super) const NAMED: usize = 10;

pub fn status(
    policy: &PolicyFacts,
    candidates: &[Candidate<'_>],
    gate: &Gate<'_>,
    limit: usize,
) -> PolicyStatus {
    let counts = counts(candidates);
    let changing =
        candidates.iter().filter(|c| c.progress().is_some_and(NodeProgress::has_slot)).count() as u64;
    PolicyStatus {
        conditions: conditions(policy, candidates, gate, &counts),
        observed_generation: Some(policy.generation),
        max_unavailable: Some(limit as u64),
        nodes: Some(counts),
        waves: (counts.matching > 0).then(|| waves(&counts, limit as u64)),
        blocked_nodes: blocked_nodes(policy, candidates),
        unavailable_node_count_map: match changing {
            0 => [].into(),
            many => [(policy.generation.to_string(), many)].into(),
        },
        ..PolicyStatus::default()
    }
}

fn counts(candidates: &[Candidate<'_>]) -> NodeCounts {
    let mut counts = NodeCounts { matching: candidates.len() as u64, ..NodeCounts::default() };
    for candidate in candidates {
        let count = match &candidate.phase {
            NodePhase::Done => &mut counts.available,
            NodePhase::InProgress | NodePhase::Claimed => &mut counts.progressing,
            NodePhase::Failed { .. } => &mut counts.failing,
            NodePhase::Blocked(BlockedBy::NodeNotReady(_)) => &mut counts.not_ready,
            NodePhase::Blocked(BlockedBy::Stopped(_) | BlockedBy::NoPreviousVersion)
            | NodePhase::Unaffected => &mut counts.aborted,
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
fn blocked_nodes(policy: &PolicyFacts, candidates: &[Candidate<'_>]) -> Vec<BlockedNode> {
    let blocked =
        |candidate: &Candidate<'_>, reason: String| BlockedNode { node: candidate.node.name.clone(), reason };
    let failed = candidates.iter().filter_map(|c| match c.phase {
        NodePhase::Failed { expired } => Some(blocked(c, failure(c, expired))),
        _ => None,
    });
    let others = candidates.iter().filter_map(|c| match &c.phase {
        NodePhase::Blocked(BlockedBy::Paused | BlockedBy::Stopped(_) | BlockedBy::Canary) => None,
        NodePhase::Blocked(reason) => Some(blocked(c, reason.to_string())),
        NodePhase::InProgress => Some(blocked(c, format!("is being changed, but {}", hidden(c)?))),
        _ => None,
    });
    let canaries = policy.spec.rollout.iter().flat_map(|rollout| &rollout.canary);
    let unknown =
        canaries.filter(|name| !policy.deleting && candidates.iter().all(|c| c.node.name != **name));
    let unknown = unknown.map(|name| BlockedNode {
        node: name.clone(),
        reason: "is listed in rollout.canary, but the policy does not select such a node".into(),
    });
    failed.chain(unknown).chain(others).take(NAMED).collect()
}

fn unreadable(candidate: &Candidate<'_>) -> Option<String> {
    let error = candidate.enactment?.unreadable.as_ref()?;
    Some(format!("what it reports cannot be read: {error}"))
}

/// Why nothing is heard of a node that is being changed.
fn hidden(candidate: &Candidate<'_>) -> Option<String> {
    unreadable(candidate).or_else(|| candidate.node.not_ready().map(|reason| reason.to_string()))
}

fn failure(candidate: &Candidate<'_>, expired: bool) -> String {
    let conditions = candidate.enactment.map(|e| e.status.conditions.as_slice()).unwrap_or_default();
    match find(conditions, EnactmentCondition::Failing) {
        _ if expired => {
            let reason = unreadable(candidate).map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("did not report in time after its release{reason}")
        }
        Some(condition) if !condition.message.is_empty() => condition.message.clone(),
        _ => "failed".into(),
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
    let conflict = candidates.iter().find_map(|c| match &c.phase {
        NodePhase::Blocked(reason @ (BlockedBy::Conflict(_) | BlockedBy::NoPreviousVersion)) => {
            Some((c.node.name.as_str(), reason))
        }
        _ => None,
    });
    let refused = candidates.iter().find_map(|c| match &c.phase {
        NodePhase::Blocked(reason @ BlockedBy::Refused(_)) => Some((c.node.name.as_str(), reason)),
        _ => None,
    });
    let unfinished =
        counts.progressing + counts.pending > 0 || (counts.available == 0 && counts.not_ready > 0);
    let (condition, reason, message) = if counts.matching == 0 {
        (Ignored, PolicyReason::NoMatchingNode, no_node(policy).into())
    } else if let Some((node, reason)) = refused {
        (Degraded, PolicyReason::WriteRefused, format!("{node}: {reason}; trying again"))
    } else if counts.failing + counts.aborted > 0 {
        (Degraded, PolicyReason::FailedToConfigure, degraded(gate, counts))
    } else if let Some((node, reason)) = conflict {
        (Degraded, PolicyReason::PoliciesConflict, format!("{node}: {reason}"))
    } else if unfinished {
        let reason = match gate.closed_by() {
            Some(BlockedBy::Paused) => PolicyReason::RolloutPaused,
            _ => PolicyReason::ConfigurationProgressing,
        };
        (Progressing, reason, progressing(policy, gate, counts))
    } else {
        (Available, PolicyReason::SuccessfullyConfigured, configured(counts) + &not_ready(counts))
    };
    let summary = Summary { condition, reason, message };
    PolicyCondition::ALL.iter().map(|kind| summary.of(*kind, policy.generation)).collect()
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

fn degraded(gate: &Gate<'_>, counts: &NodeCounts) -> String {
    let mut parts = Vec::new();
    if counts.failing > 0 {
        parts.push(format!("{} of {} nodes failed", counts.failing, counts.matching));
    }
    if counts.aborted > 0 {
        let reason = gate.closed_by().map_or_else(|| "the rollout was undone".into(), ToString::to_string);
        parts.push(format!("{} not started: {reason}", counts.aborted));
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

fn not_ready(counts: &NodeCounts) -> String {
    match counts.not_ready {
        0 => String::new(),
        1 => "; 1 is not ready and is configured when it becomes ready".into(),
        many => format!("; {many} are not ready and are configured when they become ready"),
    }
}
