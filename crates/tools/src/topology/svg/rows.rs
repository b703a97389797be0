//! Which row each box stands in. Layers are fixed; within one, what stands on another of it gets a row above.

use std::collections::{BTreeMap, BTreeSet};

use super::super::graph::Graph;
use super::super::{Interface, Layer, Topology, label};
use super::boxes::{self, BoxText, GroupBox};

/// Fewer alike than this are drawn one by one: with nothing but a name, below something else, with addresses.
const GROUP_SIZE: usize = 6;
const GROUP_SIZE_BELOW: usize = 12;
const GROUP_SIZE_ADDRESSED: usize = 24;
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
    for group in grouped(topology, graph, &rows_of) {
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

/// Interfaces that share a box, in the order of their names; the others alone.
pub(super) fn groups(topology: &Topology, graph: &Graph) -> Vec<Vec<usize>> {
    grouped(topology, graph, &rows(topology, graph))
}

fn grouped(topology: &Topology, graph: &Graph, rows: &[Row]) -> Vec<Vec<usize>> {
    type Alike = (Row, usize, Vec<usize>, Vec<usize>);
    let mut alike: BTreeMap<Alike, Vec<usize>> = BTreeMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, interface) in topology.interfaces.iter().enumerate() {
        match group_size(interface, index, graph) {
            Some(size) => {
                let (carriers, carried) = (graph.carriers[index].clone(), graph.carried[index].clone());
                alike.entry((rows[index], size, carriers, carried)).or_default().push(index);
            }
            None => groups.push(vec![index]),
        }
    }
    for ((_, size, _, _), members) in alike {
        match members.len() >= size {
            true => groups.push(members),
            false => groups.extend(members.into_iter().map(|member| vec![member])),
        }
    }
    groups.sort();
    groups
}

/// How many of its kind share a box; none: it has more to say than its name, its addresses and its neighbours.
fn group_size(interface: &Interface, index: usize, graph: &Graph) -> Option<usize> {
    let single = graph.peer_of(index).is_some() || !interface.default_routes.is_empty();
    let (addressed, carries) = (!label::addresses(interface).is_empty(), !graph.carried[index].is_empty());
    match (addressed, carries) {
        _ if single || carries && interface.on_default_path => None,
        (false, false) => Some(GROUP_SIZE),
        (false, true) if graph.carriers[index].is_empty() => Some(GROUP_SIZE_BELOW),
        (true, false) => Some(GROUP_SIZE_ADDRESSED),
        _ => None,
    }
}
