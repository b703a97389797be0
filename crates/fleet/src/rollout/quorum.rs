//! The control plane: across all policies together, a majority of its nodes is not disrupted at any time.

use std::collections::BTreeSet;

use super::facts::{EnactmentFacts, NodeFacts};
use super::progress::NodeProgress;

#[derive(Debug)]
pub struct Quorum<'a> {
    members: BTreeSet<&'a str>,
    down: BTreeSet<&'a str>,
    /// Have a slot of any policy.
    disrupted: BTreeSet<&'a str>,
}

impl<'a> Quorum<'a> {
    pub fn of(nodes: &[&'a NodeFacts], enactments: &[&'a EnactmentFacts]) -> Self {
        let members: BTreeSet<&str> =
            nodes.iter().filter(|n| n.is_control_plane()).map(|n| n.name.as_str()).collect();
        let down =
            nodes.iter().filter(|n| n.is_control_plane() && !n.ready).map(|n| n.name.as_str()).collect();
        let disrupted = enactments
            .iter()
            .filter(|e| NodeProgress::of(e).has_slot())
            .map(|e| e.node.as_str())
            .filter(|node| members.contains(node))
            .collect();
        Self { members, down, disrupted }
    }

    /// How many may be missing. One or two nodes have no majority to spare: they are changed one by one.
    fn tolerance(&self) -> usize {
        (self.members.len().saturating_sub(1) / 2).max(1)
    }

    /// Whether the nodes that are disrupted now may be, `node` among them.
    pub fn tolerates(&self, node: &str) -> bool {
        !self.members.contains(node) || self.missing(&self.disrupted, node) <= self.tolerance()
    }

    /// Disrupts `node` too, if that may be.
    pub fn disrupt(&mut self, node: &'a str) -> bool {
        if !self.members.contains(node) || self.disrupted.contains(node) {
            return true;
        }
        let with: BTreeSet<&str> = self.disrupted.iter().copied().chain([node]).collect();
        let may = self.missing(&with, node) <= self.tolerance();
        if may {
            self.disrupted = with;
        }
        may
    }

    /// Whether a claim on `node` should be given back, since too many were claimed at once: those whose names come
    /// first stay, for every operator alike.
    pub fn is_excess(&self, node: &str) -> bool {
        let spare = self.tolerance().saturating_sub(self.down.difference(&self.disrupted).count());
        !self.tolerates(node) && !self.disrupted.iter().take(spare).any(|kept| *kept == node)
    }

    /// A node that is not ready is not lost by changing it, though its etcd may well run: it waits for those that are being changed,
    /// not for others that are not ready either.
    fn missing(&self, disrupted: &BTreeSet<&str>, node: &str) -> usize {
        if self.down.contains(node) { disrupted.len() } else { self.down.union(disrupted).count() }
    }

    /// Why `node` may not be disrupted.
    pub fn reason(&self, node: &str) -> String {
        let (lost, state) = match self.down.contains(node) {
            true => (self.disrupted.iter().copied().collect::<Vec<_>>(), "being changed"),
            false => (self.down.union(&self.disrupted).copied().collect(), "being changed or not ready"),
        };
        format!("the control plane cannot lose another node while these are {state}: {}", lost.join(", "))
    }
}
