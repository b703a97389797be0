//! The status of a policy: a function of its nodes.

use linesman_api::condition::{Condition, Truth};
use linesman_api::conditions::policy::{ALL, AVAILABLE, DEGRADED, IGNORED, PROGRESSING};
use linesman_api::options::OnDelete;
use linesman_api::policy::{Held, NodeCounts, PolicyStatus, Waves};
use linesman_api::reasons::policy as reasons;

use super::candidate::Candidate;
use super::facts::PolicyFacts;
use super::gate::Gate;
use super::phase::{BlockedBy, NodePhase};
use super::progress::NodeProgress;

/// How many nodes are named; a status that names all would grow with the fleet.
const NAMED: usize = 10;

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
        held: held(policy, candidates),
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
            NodePhase::Blocked(BlockedBy::NodeNotReady(_)) => &mut counts.away,
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
fn held(policy: &PolicyFacts, candidates: &[Candidate<'_>]) -> Vec<Held> {
    let failed = candidates.iter().filter_map(|c| match c.phase {
        NodePhase::Failed { expired } => {
            Some(Held { node: c.node.name.clone(), reason: failure(c, expired) })
        }
        _ => None,
    });
    let others = candidates.iter().filter_map(|c| match &c.phase {
        NodePhase::Blocked(BlockedBy::Paused | BlockedBy::Stopped(_) | BlockedBy::Canary) => None,
        NodePhase::Blocked(blocked_by) => {
            Some(Held { node: c.node.name.clone(), reason: blocked_by.to_string() })
        }
        NodePhase::InProgress => {
            let why = c.node.away()?;
            Some(Held { node: c.node.name.clone(), reason: format!("was released, but {why}") })
        }
        _ => None,
    });
    let canaries = policy.spec.rollout.iter().flat_map(|rollout| &rollout.canary);
    let strangers =
        canaries.filter(|name| !policy.deleting && candidates.iter().all(|c| c.node.name != **name));
    let strangers = strangers.map(|name| Held {
        node: name.clone(),
        reason: "is named as a canary, but the policy selects no such node".into(),
    });
    failed.chain(strangers).chain(others).take(NAMED).collect()
}

fn failure(candidate: &Candidate<'_>, expired: bool) -> String {
    let conditions = candidate.enactment.map(|e| e.status.conditions.as_slice()).unwrap_or_default();
    let failing = linesman_api::condition::find(conditions, linesman_api::conditions::enactment::FAILING);
    match failing {
        _ if expired => "did not report in time after its release".into(),
        Some(condition) if !condition.message.is_empty() => condition.message.clone(),
        _ => "failed".into(),
    }
}

/// kubernetes-nmstate's order of tests; the first one that holds is told.
fn conditions(
    policy: &PolicyFacts,
    candidates: &[Candidate<'_>],
    gate: &Gate<'_>,
    counts: &NodeCounts,
) -> Vec<Condition> {
    let conflict = candidates.iter().find_map(|c| match &c.phase {
        NodePhase::Blocked(blocked_by @ (BlockedBy::Conflict(_) | BlockedBy::NoPreviousVersion)) => {
            Some((c.node.name.as_str(), blocked_by))
        }
        _ => None,
    });
    let going = counts.progressing + counts.pending > 0 || (counts.available == 0 && counts.away > 0);
    let told = if counts.matching == 0 {
        let message =
            if policy.deleting { "no node has to go back" } else { "no node matches the policy's selector" };
        Told { kind: IGNORED, reason: reasons::NO_NODE, open: false, message: message.into() }
    } else if counts.failing + counts.aborted > 0 {
        Told { kind: DEGRADED, reason: reasons::FAILED, open: false, message: degraded(gate, counts) }
    } else if let Some((node, why)) = conflict {
        Told { kind: DEGRADED, reason: reasons::CONFLICT, open: false, message: format!("{node}: {why}") }
    } else if going {
        let reason = match gate.closed_by() {
            Some(BlockedBy::Paused) => reasons::PAUSED,
            _ => reasons::PROGRESSING,
        };
        Told { kind: PROGRESSING, reason, open: true, message: progressing(policy, gate, counts) }
    } else {
        let message = format!("{} of {} nodes configured{}", counts.available, counts.matching, away(counts));
        Told { kind: AVAILABLE, reason: reasons::CONFIGURED, open: false, message }
    };
    ALL.iter().map(|kind| told.of(kind, policy.generation)).collect()
}

struct Told {
    /// The one that is true.
    kind: &'static str,
    reason: &'static str,
    /// Whether it can still end well or badly.
    open: bool,
    message: String,
}

impl Told {
    fn of(&self, kind: &str, generation: i64) -> Condition {
        let status = match kind {
            kind if kind == self.kind => Truth::True,
            AVAILABLE | DEGRADED if self.open => Truth::Unknown,
            _ => Truth::False,
        };
        let message = if status == Truth::True { self.message.clone() } else { String::new() };
        let reason = match (kind, self.kind) {
            // As kubernetes-nmstate has it: what is over is said to have been progressing.
            (PROGRESSING, DEGRADED | AVAILABLE) => reasons::PROGRESSING,
            _ => self.reason,
        };
        Condition { observed_generation: Some(generation), ..Condition::new(kind, status, reason, message) }
    }
}

fn degraded(gate: &Gate<'_>, counts: &NodeCounts) -> String {
    let mut parts = Vec::new();
    if counts.failing > 0 {
        parts.push(format!("{} of {} nodes failed", counts.failing, counts.matching));
    }
    if counts.aborted > 0 {
        let why = gate.closed_by().map_or_else(|| "the rollout is undone".into(), ToString::to_string);
        parts.push(format!("{} not begun: {why}", counts.aborted));
    }
    let rest = counts.progressing + counts.pending;
    if rest > 0 {
        parts.push(format!("{rest} to go"));
    }
    parts.join("; ") + &away(counts)
}

fn progressing(policy: &PolicyFacts, gate: &Gate<'_>, counts: &NodeCounts) -> String {
    let done = format!("{} of {} nodes configured", counts.available, counts.matching);
    let reverts = policy.spec.options().on_delete == OnDelete::Revert;
    let doing = match (policy.deleting, reverts) {
        (false, _) => done,
        (true, true) => format!("still to go back: {}", counts.matching),
        (true, false) => format!("still being changed: {}", counts.matching),
    };
    let why = match (gate.closed_by(), gate.awaited()) {
        (Some(blocked_by), _) => format!("; {blocked_by}"),
        (None, []) => String::new(),
        (None, canaries) => format!("; first the canaries: {}", canaries.join(", ")),
    };
    doing + &why + &away(counts)
}

fn away(counts: &NodeCounts) -> String {
    match counts.away {
        0 => String::new(),
        1 => "; 1 is away and follows when it is back".into(),
        many => format!("; {many} are away and follow when they are back"),
    }
}
