//! Enactments whose policy is not there at all.

use super::facts::{EnactmentFacts, PolicyFacts};
use super::standing::Standing;
use super::steps::{Action, Step};

/// They are deleted and nothing is reverted: that a policy is missing says nothing about what its author wanted.
pub fn orphans(policies: &[PolicyFacts], enactments: &[EnactmentFacts]) -> Vec<Action> {
    let orphaned = |e: &&EnactmentFacts| policies.iter().all(|policy| policy.name != e.policy);
    let ended = |e: &&EnactmentFacts| !Standing::of(e).has_begun();
    enactments.iter().filter(orphaned).filter(ended).map(|e| Action::on(e, Step::Delete)).collect()
}
