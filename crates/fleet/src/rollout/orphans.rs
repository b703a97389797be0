//! Enactments whose policy is not there at all.

use std::collections::BTreeSet;

use super::facts::{EnactmentFacts, PolicyFacts};
use super::progress::NodeProgress;
use super::steps::{Action, Step};

/// Each with the name of its policy. They are deleted and nothing is reverted: that a policy is missing says nothing about what
/// its author wanted.
pub fn orphans<'a>(policies: &[PolicyFacts], enactments: &'a [EnactmentFacts]) -> Vec<(&'a str, Action)> {
    let known: BTreeSet<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
    let orphaned = |e: &&EnactmentFacts| !known.contains(e.policy.as_str());
    let ended = |e: &&EnactmentFacts| !NodeProgress::of(e).has_begun();
    enactments
        .iter()
        .filter(orphaned)
        .filter(ended)
        .map(|e| (e.policy.as_str(), Action::on(e, Step::Delete)))
        .collect()
}
