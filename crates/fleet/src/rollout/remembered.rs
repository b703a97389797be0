//! Nodes that failed at this generation, remembered in the status of the policy: that a node is deselected, or replaced because
//! of its failure, and that its enactment is deleted, neither continues a rollout that stopped nor tries the node again.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::facts::PolicyFacts;
use super::phase::{Failure, NodePhase};

/// A status that names more would grow with the fleet; so many failures stop every rollout but one that ignores them.
const NAMED: usize = 100;

/// Marks the nodes whose failure only the policy knows, and returns the nodes that failed and are gone.
pub fn recall<'a>(policy: &'a PolicyFacts, candidates: &mut [Candidate<'_>]) -> Vec<&'a str> {
    let mut gone = Vec::new();
    for failed in policy.failed_nodes.iter().filter(|_| !policy.deleting) {
        match candidates.iter_mut().find(|candidate| candidate.node.name == *failed) {
            Some(candidate) if candidate.enactment.is_none() => {
                candidate.phase = NodePhase::Failed(Failure::Remembered);
            }
            // What its enactment says is newer.
            Some(_) => {}
            None => gone.push(failed.as_str()),
        }
    }
    gone
}

/// What is to be remembered from now on.
pub fn remember(candidates: &[Candidate<'_>], gone: &[&str]) -> Vec<String> {
    let failed = candidates.iter().filter(|candidate| matches!(candidate.phase, NodePhase::Failed(_)));
    let failed: BTreeSet<&str> =
        failed.map(|candidate| candidate.node.name.as_str()).chain(gone.iter().copied()).collect();
    failed.into_iter().take(NAMED).map(str::to_owned).collect()
}
