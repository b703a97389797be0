//! Who stands on whom.

use std::collections::{BTreeMap, BTreeSet};

use super::{Edge, EdgeKind, Interface, Layer, Topology};

#[derive(Debug)]
pub(super) struct Graph {
    /// What each interface stands on.
    pub(super) carriers: Vec<Vec<usize>>,
    /// What each interface carries.
    pub(super) carried: Vec<Vec<usize>>,
    pub(super) peers: Vec<(usize, usize)>,
}

impl Graph {
    pub(super) fn of(topology: &Topology) -> Self {
        let interfaces = &topology.interfaces;
        let index: BTreeMap<&str, usize> =
            interfaces.iter().enumerate().map(|(index, interface)| (interface.id.as_str(), index)).collect();
        let mut graph = Self {
            carriers: vec![Vec::new(); interfaces.len()],
            carried: vec![Vec::new(); interfaces.len()],
            peers: Vec::new(),
        };
        for edge in &topology.edges {
            let ends = (index.get(edge.from.as_str()), index.get(edge.to.as_str()));
            if let (Some(&from), Some(&to)) = ends {
                graph.join(edge, from, to, interfaces);
            }
        }
        for list in graph.carriers.iter_mut().chain(&mut graph.carried) {
            // Interfaces are sorted, so their numbers are in the order for people.
            list.sort_unstable();
            list.dedup();
        }
        graph
    }

    fn join(&mut self, edge: &Edge, from: usize, to: usize, interfaces: &[Interface]) {
        let (lower, upper) = match edge.kind {
            EdgeKind::Peer => return self.peers.push((from, to)),
            EdgeKind::PortOf if is_hung_on(&interfaces[from], &interfaces[to]) => (to, from),
            EdgeKind::PortOf | EdgeKind::BaseOf => (from, to),
        };
        self.carriers[upper].push(lower);
        self.carried[lower].push(upper);
    }

    /// These and all that they stand on.
    pub(super) fn below(&self, from: &BTreeSet<usize>) -> BTreeSet<usize> {
        spread(from, |index| self.carriers[index].clone())
    }

    /// These, all that they stand on, all that they carry, and the other ends of cables among that.
    pub(super) fn around(&self, from: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut near = self.below(from);
        near.extend(spread(from, |index| self.carried[index].clone()));
        let ends = self.peers.iter().filter(|(a, b)| near.contains(a) || near.contains(b));
        let ends: Vec<usize> = ends.flat_map(|(a, b)| [*a, *b]).collect();
        near.extend(ends);
        near
    }

    pub(super) fn peer_of(&self, index: usize) -> Option<usize> {
        self.peers.iter().find_map(|(a, b)| match index {
            _ if *a == index => Some(*b),
            _ if *b == index => Some(*a),
            _ => None,
        })
    }
}

/// A bridge stands on its uplinks, but carries the ports of workloads.
fn is_hung_on(port: &Interface, controller: &Interface) -> bool {
    port.layer == Layer::Workload && controller.layer == Layer::Bridge
}

fn spread(from: &BTreeSet<usize>, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let mut seen = from.clone();
    let mut queue: Vec<usize> = from.iter().copied().collect();
    while let Some(index) = queue.pop() {
        queue.extend(next(index).into_iter().filter(|next| seen.insert(*next)));
    }
    seen
}
