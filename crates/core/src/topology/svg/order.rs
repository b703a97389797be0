//! Who stands left of whom: few crossings, by the mean position of neighbours, back and forth.

use super::rows::Sheet;

const SWEEPS: usize = 8;

pub(super) fn settle(sheet: &mut Sheet) {
    let neighbours = Neighbours::of(sheet);
    let mut best = (crossings(sheet), rows(sheet));
    for sweep in 0..SWEEPS {
        let upwards = sweep % 2 == 0;
        let count = sheet.rows.len();
        for step in 1..count {
            let (row, fixed) = if upwards { (step, step - 1) } else { (count - 1 - step, count - step) };
            let near = if upwards { &neighbours.below } else { &neighbours.above };
            let position = positions(&sheet.rows[fixed].1, sheet.items.len());
            sort(&mut sheet.rows[row].1, near, &position);
        }
        let now = crossings(sheet);
        if now < best.0 {
            best = (now, rows(sheet));
        }
    }
    for (row, order) in sheet.rows.iter_mut().zip(best.1) {
        row.1 = order;
    }
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

/// Items without neighbours keep their place among the others.
fn sort(row: &mut [usize], near: &[Vec<usize>], position: &[f64]) {
    let mean = |item: usize| {
        let near = &near[item];
        (!near.is_empty()).then(|| near.iter().map(|n| position[*n]).sum::<f64>() / near.len() as f64)
    };
    let slots: Vec<usize> = (0..row.len()).filter(|slot| mean(row[*slot]).is_some()).collect();
    let mut movable: Vec<usize> = slots.iter().map(|slot| row[*slot]).collect();
    movable.sort_by(|a, b| mean(*a).unwrap_or(0.0).total_cmp(&mean(*b).unwrap_or(0.0)));
    for (slot, item) in slots.into_iter().zip(movable) {
        row[slot] = item;
    }
}

fn crossings(sheet: &Sheet) -> usize {
    let mut position = vec![(0, 0); sheet.items.len()];
    for (number, (_, row)) in sheet.rows.iter().enumerate() {
        row.iter().enumerate().for_each(|(place, item)| position[*item] = (number, place));
    }
    let links: Vec<_> =
        sheet.links.iter().map(|(lower, upper)| (position[*lower], position[*upper])).collect();
    let crosses = |(a, b): (&((usize, usize), (usize, usize)), &((usize, usize), (usize, usize)))| {
        a.0.0 == b.0.0 && ((a.0.1 < b.0.1 && a.1.1 > b.1.1) || (a.0.1 > b.0.1 && a.1.1 < b.1.1))
    };
    let pairs = links.iter().enumerate().flat_map(|(i, a)| links[i + 1..].iter().map(move |b| (a, b)));
    pairs.filter(|pair| crosses(*pair)).count()
}
