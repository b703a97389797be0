//! Enactments whose policy does not exist.

use std::collections::BTreeSet;

use super::facts::{EnactmentFacts, PolicyFacts};
use super::progress::NodeProgress;
use super::steps::{Action, Step};

/// Each with the name of its policy. They are deleted and nothing is reverted: that a policy is missing says nothing about what
/// its author wanted.
pub fn orphans<'a>(
    policies: impl IntoIterator<Item = &'a PolicyFacts>,
    enactments: impl IntoIterator<Item = &'a EnactmentFacts>,
) -> Vec<(&'a str, Action)> {
    let known: BTreeSet<&str> = policies.into_iter().map(|policy| policy.name.as_str()).collect();
    let orphaned = |e: &&EnactmentFacts| !known.contains(e.policy.as_str());
    let ended = |e: &&EnactmentFacts| !NodeProgress::of(e).has_started();
    enactments
        .into_iter()
        .filter(orphaned)
        .filter(ended)
        .map(|e| (e.policy.as_str(), Action::on(e, Step::Delete)))
        .collect()
}
