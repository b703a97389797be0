//! Who stands left of whom: few crossings, by the mean position of neighbours, back and forth.

use super::super::graph::Graph;
use super::rows::Sheet;

const SWEEPS: usize = 8;
/// Less than any difference of mean positions that matters.
const LEAN: f64 = 1e-3;

pub(super) fn settle(sheet: &mut Sheet, graph: &Graph) {
    let neighbours = Neighbours::of(sheet);
    let peers = peers(sheet, graph);
    let mut best = (crossings(sheet), rows(sheet));
    for sweep in 0..SWEEPS {
        let upwards = sweep % 2 == 0;
        let count = sheet.rows.len();
        for step in 1..count {
            let (row, fixed) = if upwards { (step, step - 1) } else { (count - 1 - step, count - step) };
            let near = if upwards { &neighbours.below } else { &neighbours.above };
            let position = positions(&sheet.rows[fixed].1, sheet.items.len());
            sort(&mut sheet.rows[row].1, near, &position, &peers);
        }
        let now = crossings(sheet);
        // Of equally good orders the later one, in which cables have found their sides.
        if now <= best.0 {
            best = (now, rows(sheet));
        }
    }
    for (row, order) in sheet.rows.iter_mut().zip(best.1) {
        row.1 = loose_last(&order, &neighbours, &peers);
    }
}

/// The item at the other end of an item's cable.
fn peers(sheet: &Sheet, graph: &Graph) -> Vec<Option<usize>> {
    let mut peers = vec![None; sheet.items.len()];
    for (a, b) in &graph.peers {
        let (a, b) = (sheet.of_interface[*a], sheet.of_interface[*b]);
        (peers[a], peers[b]) = (Some(b), Some(a));
    }
    peers
}

/// What no line holds goes beside its peer, or else to the right.
fn loose_last(row: &[usize], neighbours: &Neighbours, peers: &[Option<usize>]) -> Vec<usize> {
    let is_loose = |item: &usize| neighbours.below[*item].is_empty() && neighbours.above[*item].is_empty();
    let (loose, held): (Vec<usize>, Vec<usize>) = row.iter().copied().partition(is_loose);
    let mut order = Vec::new();
    for item in held {
        order.push(item);
        order.extend(peers[item].filter(|peer| loose.contains(peer)));
    }
    let rest: Vec<usize> = loose.into_iter().filter(|item| !order.contains(item)).collect();
    order.extend(rest);
    order
}

fn rows(sheet: &Sheet) -> Vec<Vec<usize>> {
    sheet.rows.iter().map(|(_, row)| row.clone()).collect()
}

pub(super) struct Neighbours {
    pub(super) below: Vec<Vec<usize>>,
    pub(super) above: Vec<Vec<usize>>,
}

impl Neighbours {
    pub(super) fn of(sheet: &Sheet) -> Self {
        let empty = vec![Vec::new(); sheet.items.len()];
        let mut neighbours = Self { below: empty.clone(), above: empty };
        for &(lower, upper) in &sheet.links {
            neighbours.below[upper].push(lower);
            neighbours.above[lower].push(upper);
        }
        neighbours
    }
}

fn positions(row: &[usize], items: usize) -> Vec<f64> {
    let mut positions = vec![0.0; items];
    row.iter().enumerate().for_each(|(position, item)| positions[*item] = position as f64);
    positions
}

/// Items without neighbours keep their place among the others; of equals, those are outside whose peer is there.
fn sort(row: &mut [usize], near: &[Vec<usize>], position: &[f64], peers: &[Option<usize>]) {
    let place = |item: usize| row.iter().position(|other| *other == item);
    let lean = |item: usize| match (place(item), peers[item].and_then(place)) {
        (Some(own), Some(peer)) if peer < own => -LEAN,
        (Some(_), Some(_)) => LEAN,
        _ => 0.0,
    };
    let mean = |item: usize| {
        let near = &near[item];
        let sum: f64 = near.iter().map(|n| position[*n]).sum();
        (!near.is_empty()).then(|| sum / near.len() as f64 + lean(item))
    };
    let slots: Vec<usize> = (0..row.len()).filter(|slot| !near[row[*slot]].is_empty()).collect();
    let mut movable: Vec<(f64, usize)> =
        slots.iter().filter_map(|slot| Some((mean(row[*slot])?, row[*slot]))).collect();
    movable.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (slot, (_, item)) in slots.into_iter().zip(movable) {
        row[slot] = item;
    }
}

fn crossings(sheet: &Sheet) -> usize {
    let mut position = vec![(0, 0); sheet.items.len()];
    for (number, (_, row)) in sheet.rows.iter().enumerate() {
        row.iter().enumerate().for_each(|(place, item)| position[*item] = (number, place));
    }
    let links: Vec<Link> =
        sheet.links.iter().map(|(lower, upper)| Link::between(position[*lower], position[*upper])).collect();
    let crossings_with =
        |(index, link): (usize, &Link)| links[index + 1..].iter().filter(|other| link.crosses(other)).count();
    links.iter().enumerate().map(crossings_with).sum()
}

/// A line from a place in one row to a place in the next.
struct Link {
    row: usize,
    from: usize,
    to: usize,
}

impl Link {
    fn between((row, from): (usize, usize), (_, to): (usize, usize)) -> Self {
        Self { row, from, to }
    }

    fn crosses(&self, other: &Self) -> bool {
        let sides = (self.from.cmp(&other.from), self.to.cmp(&other.to));
        self.row == other.row && sides.0 == sides.1.reverse() && sides.0.is_ne()
    }
}
