//! A picture in fixed layers, the hardware at the bottom. Everything is in the file: no fonts, no scripts.
//!
//! ```text
//! boxes (what is written) -> rows (which row) -> order (few crossings) -> place (x, y) -> draw
//! ```

mod boxes;
mod draw;
mod order;
mod place;
mod rows;
mod style;

use super::Topology;
use super::graph::Graph;

pub(super) fn render(topology: &Topology) -> String {
    let graph = Graph::of(topology);
    let mut sheet = rows::lay_out(topology, &graph);
    order::settle(&mut sheet, &graph);
    let placed = place::place(&sheet);
    draw::draw(topology, &graph, &sheet, &placed)
}
