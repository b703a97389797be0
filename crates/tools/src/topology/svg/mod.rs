//! A picture in fixed layers, the hardware at the bottom. Everything is in the file: no fonts, no scripts.
//!
//! ```text
//! pages (how many side by side) -> boxes (what is written) -> rows (which row) -> order (few crossings) -> place (x, y) -> draw
//! ```

mod boxes;
mod draw;
mod order;
mod pages;
mod place;
mod rows;
mod style;

use super::Topology;
use super::graph::Graph;
use place::Placed;
use rows::Sheet;

/// A part of the topology, ready to be drawn.
struct Page {
    topology: Topology,
    graph: Graph,
    sheet: Sheet,
    placed: Placed,
}

impl Page {
    fn of(topology: &Topology) -> Self {
        let graph = Graph::of(topology);
        let mut sheet = rows::lay_out(topology, &graph);
        order::settle(&mut sheet, &graph);
        let placed = place::place(&sheet);
        Self { topology: topology.clone(), graph, sheet, placed }
    }
}

pub(super) fn render(topology: &Topology) -> String {
    let parts = pages::split(topology, |part| Page::of(part).placed.width);
    draw::draw(topology, &parts.iter().map(Page::of).collect::<Vec<_>>())
}
