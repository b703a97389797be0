//! Which interfaces are drawn side by side: as many as a screen is wide, the others below.
//!
//! What carries nothing is a roof. A page is drawn with some of the roofs and all that they stand on; what carries roofs of
//! several pages is drawn on each.

use std::collections::BTreeSet;

use super::super::Topology;
use super::super::graph::Graph;
use super::rows;

/// Together with the margins, what a wide screen shows without scrolling.
pub(super) const WIDEST: f64 = 1600.0;

/// More boxes side by side are wider in any case.
const TRIED_AT_ONCE: usize = 64;

/// `width`: how wide a part would be drawn.
pub(super) fn split(topology: &Topology, width: impl Fn(&Topology) -> f64) -> Vec<Topology> {
    let graph = Graph::of(topology);
    let units = units(topology, &graph);
    if units.len() <= TRIED_AT_ONCE && width(topology) <= WIDEST {
        return vec![topology.clone()];
    }
    let part = |roofs: &[usize]| {
        let below = graph.below(&roofs.iter().copied().collect());
        topology.keep(|index| below.contains(&index))
    };
    let mut pages = Vec::new();
    let mut page: Vec<usize> = Vec::new();
    for unit in units {
        let more = [page.as_slice(), unit.as_slice()].concat();
        if !page.is_empty() && width(&part(&more)) > WIDEST {
            pages.push(part(&page));
            page = unit;
        } else {
            page = more;
        }
    }
    pages.push(part(&page));
    pages
}

/// Roofs that stay together: those that share a box. What is connected comes one after the other.
fn units(topology: &Topology, graph: &Graph) -> Vec<Vec<usize>> {
    let roofs = |index: &usize| graph.carried[*index].is_empty();
    let component = components(topology, graph);
    let mut units: Vec<Vec<usize>> =
        rows::groups(topology, graph).into_iter().filter(|group| group.iter().all(roofs)).collect();
    // Interfaces that carry each other in a circle have no roof: each is one.
    let covered = graph.below(&units.iter().flatten().copied().collect::<BTreeSet<_>>());
    let circles = (0..topology.interfaces.len()).filter(|index| !covered.contains(index));
    units.extend(circles.map(|index| vec![index]));
    units.sort_by_key(|unit| (unit.iter().map(|index| component[*index]).min(), unit.clone()));
    units
}

/// The lowest number of each interface's connected ones, cables included.
fn components(topology: &Topology, graph: &Graph) -> Vec<usize> {
    let mut component: Vec<Option<usize>> = vec![None; topology.interfaces.len()];
    for start in 0..component.len() {
        let mut queue = vec![start];
        while let Some(index) = queue.pop() {
            if component[index].is_none() {
                component[index] = Some(start);
                queue.extend(&graph.carriers[index]);
                queue.extend(&graph.carried[index]);
                queue.extend(graph.peer_of(index));
            }
        }
    }
    component.into_iter().map(Option::unwrap_or_default).collect()
}
