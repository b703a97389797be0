//! The control plane: across all policies together, most of its nodes stay untouched at any time.

use std::collections::BTreeSet;

use super::facts::{EnactmentFacts, NodeFacts};
use super::progress::NodeProgress;

#[derive(Debug)]
pub struct Quorum<'a> {
    members: BTreeSet<&'a str>,
    down: BTreeSet<&'a str>,
    /// Have a slot of any policy.
    touched: BTreeSet<&'a str>,
}

impl<'a> Quorum<'a> {
    pub fn of(nodes: &'a [NodeFacts], enactments: &'a [EnactmentFacts]) -> Self {
        let members: BTreeSet<&str> =
            nodes.iter().filter(|n| n.is_control_plane()).map(|n| n.name.as_str()).collect();
        let down =
            nodes.iter().filter(|n| n.is_control_plane() && !n.ready).map(|n| n.name.as_str()).collect();
        let touched = enactments
            .iter()
            .filter(|e| NodeProgress::of(e).has_slot())
            .map(|e| e.node.as_str())
            .filter(|node| members.contains(node))
            .collect();
        Self { members, down, touched }
    }

    /// How many may be missing. One or two nodes have no majority to spare: they go one by one.
    fn tolerance(&self) -> usize {
        (self.members.len().saturating_sub(1) / 2).max(1)
    }

    /// Whether the nodes that are touched now may be; in particular `node` among them.
    pub fn bears(&self, node: &str) -> bool {
        !self.members.contains(node) || self.missing(&self.touched) <= self.tolerance()
    }

    /// Whether `node` may be touched, too; then it is.
    pub fn touch(&mut self, node: &'a str) -> bool {
        if !self.members.contains(node) || self.touched.contains(node) {
            return true;
        }
        let with: BTreeSet<&str> = self.touched.iter().copied().chain([node]).collect();
        let may = self.missing(&with) <= self.tolerance();
        if may {
            self.touched = with;
        }
        may
    }

    /// Whether a claim on `node` should be given back, since too many were claimed at once: those whose names come
    /// first stay, in the eyes of everybody.
    pub fn is_excess(&self, node: &str) -> bool {
        let spare = self.tolerance().saturating_sub(self.down.difference(&self.touched).count());
        !self.bears(node) && !self.touched.iter().take(spare).any(|kept| *kept == node)
    }

    fn missing(&self, touched: &BTreeSet<&str>) -> usize {
        self.down.union(touched).count()
    }

    pub fn reason(&self) -> String {
        let names: Vec<&str> = self.down.union(&self.touched).copied().collect();
        format!(
            "the control plane can spare no other node while these are changed or down: {}",
            names.join(", ")
        )
    }
}
