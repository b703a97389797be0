//! Which row each box stands in. Layers are fixed; within one, what stands on another of it gets a row above.

use std::collections::{BTreeMap, BTreeSet};

use super::super::graph::Graph;
use super::super::{Interface, Layer, Topology, label};
use super::boxes::{self, BoxText, GroupBox};

/// Fewer alike than this are drawn one by one.
const GROUP_SIZE: usize = 6;
/// The width of a line on its way past a row.
const LANE: f64 = 14.0;

#[derive(Debug, Clone)]
pub(super) enum Item {
    One(usize, BoxText),
    Many(Vec<usize>, GroupBox),
    /// A line passes here from a row below to a row above.
    Lane,
}

impl Item {
    pub(super) fn size(&self) -> (f64, f64) {
        match self {
            Self::One(_, writing) => (writing.width, writing.height),
            Self::Many(_, group) => (group.width, group.height),
            Self::Lane => (LANE, 0.0),
        }
    }
}

#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) items: Vec<Item>,
    /// From the bottom upwards: the layer, and its items from left to right.
    pub(super) rows: Vec<(Layer, Vec<usize>)>,
    /// Between neighbouring rows only: the item below, the item above.
    pub(super) links: Vec<(usize, usize)>,
    /// Every line that is drawn, as the items it passes from below to above.
    pub(super) lines: Vec<Vec<usize>>,
    /// The item that stands for an interface.
    pub(super) of_interface: Vec<usize>,
}

type Row = (Layer, usize);

pub(super) fn lay_out(topology: &Topology, graph: &Graph) -> Sheet {
    let rows_of = rows(topology, graph);
    let mut numbers: Vec<Row> = rows_of.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let number = |row: &Row| numbers.iter().position(|known| known == row).unwrap_or(0);
    let mut sheet = Sheet {
        items: Vec::new(),
        rows: numbers.iter().map(|(layer, _)| (*layer, Vec::new())).collect(),
        links: Vec::new(),
        lines: Vec::new(),
        of_interface: vec![0; topology.interfaces.len()],
    };
    for group in groups(topology, graph, &rows_of) {
        let row = number(&rows_of[group[0]]);
        sheet.add(topology, group, row);
    }
    let row_of: Vec<usize> = rows_of.iter().map(number).collect();
    sheet.connect(graph, &row_of);
    sheet
}

impl Sheet {
    fn push(&mut self, item: Item, row: usize) -> usize {
        self.items.push(item);
        self.rows[row].1.push(self.items.len() - 1);
        self.items.len() - 1
    }

    fn add(&mut self, topology: &Topology, group: Vec<usize>, row: usize) {
        let item = match group[..] {
            [only] => Item::One(only, boxes::writing(&topology.interfaces[only])),
            _ => {
                let members: Vec<&Interface> =
                    group.iter().map(|index| &topology.interfaces[*index]).collect();
                Item::Many(group.clone(), boxes::group_box(&members))
            }
        };
        let item = self.push(item, row);
        group.iter().for_each(|member| self.of_interface[*member] = item);
    }

    fn connect(&mut self, graph: &Graph, row_of: &[usize]) {
        let mut drawn = BTreeSet::new();
        for (upper, carriers) in graph.carriers.iter().enumerate() {
            for &lower in carriers {
                let ends = (self.of_interface[lower], self.of_interface[upper]);
                if drawn.insert(ends) {
                    self.draw_line(ends, row_of[lower], row_of[upper]);
                }
            }
        }
    }

    fn draw_line(&mut self, (lower, upper): (usize, usize), from: usize, to: usize) {
        let mut line = vec![lower];
        line.extend((from + 1..to).map(|row| self.push(Item::Lane, row)));
        line.push(upper);
        // A circle of interfaces has no below and above; its line is drawn, but orders nothing.
        if from < to {
            self.links.extend(line.windows(2).map(|pair| (pair[0], pair[1])));
        }
        self.lines.push(line);
    }
}

/// A row per interface: its layer, and how many of that layer lie below it.
fn rows(topology: &Topology, graph: &Graph) -> Vec<Row> {
    let mut rows: Vec<Row> = topology.interfaces.iter().map(|interface| (interface.layer, 0)).collect();
    // As many rounds as there are interfaces settle every chain; a circle stops there as well.
    for _ in 0..rows.len() {
        let lifted: Vec<Row> = (0..rows.len()).map(|index| lifted(&rows, graph, index)).collect();
        if lifted == rows {
            break;
        }
        rows = lifted;
    }
    rows
}

/// One row above whatever it stands on.
fn lifted(rows: &[Row], graph: &Graph, index: usize) -> Row {
    let highest = graph.carriers[index].iter().map(|carrier| rows[*carrier]).max();
    match highest {
        Some((layer, step)) if (layer, step) >= rows[index] => (layer, step + 1),
        _ => rows[index],
    }
}

/// Interfaces that share a box, in the order of their names.
fn groups(topology: &Topology, graph: &Graph, rows: &[Row]) -> Vec<Vec<usize>> {
    let mut alike: BTreeMap<(Row, Vec<usize>, bool), Vec<usize>> = BTreeMap::new();
    for (index, interface) in topology.interfaces.iter().enumerate() {
        let plain = is_plain(interface, index, graph);
        let key = if plain { graph.carriers[index].clone() } else { vec![index] };
        alike.entry((rows[index], key, plain)).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for ((_, _, plain), members) in alike {
        match plain && members.len() >= GROUP_SIZE {
            true => groups.push(members),
            false => groups.extend(members.into_iter().map(|member| vec![member])),
        }
    }
    groups.sort();
    groups
}

/// Nothing to say but its name and on what it stands.
fn is_plain(interface: &Interface, index: usize, graph: &Graph) -> bool {
    graph.carried[index].is_empty()
        && graph.peer_of(index).is_none()
        && interface.default_routes.is_empty()
        && label::addresses(interface).is_empty()
}
