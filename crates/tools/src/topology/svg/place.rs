//! Where on the sheet each item stands: as near below and above its neighbours as the others in its row let it.

use super::super::Layer;
use super::order::Neighbours;
use super::rows::{Item, Sheet};

const SWEEPS: usize = 160;
const GAP: f64 = 22.0;
/// Between two rows of one layer, between two layers, and inside a layer above and below its boxes.
const ROW_GAP: f64 = 44.0;
const LAYER_GAP: f64 = 26.0;
const INSIDE: f64 = 16.0;
const GUTTER: f64 = 130.0;
pub(super) const TOP: f64 = 46.0;
pub(super) const MARGIN: f64 = 20.0;
pub(super) const FOOT: f64 = 40.0;

#[derive(Debug)]
pub(super) struct Placed {
    /// The middle of each item.
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Half the height of each item; a lane is as high as its row.
    pub(super) half: Vec<f64>,
    pub(super) bands: Vec<Band>,
    pub(super) width: f64,
    /// Of the lowest band.
    pub(super) bottom: f64,
}

#[derive(Debug)]
pub(super) struct Band {
    pub(super) layer: Layer,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

pub(super) fn place(sheet: &Sheet) -> Placed {
    let x = columns(sheet);
    let right = (0..x.len()).map(|item| x[item] + sheet.items[item].size().0 / 2.0).fold(360.0, f64::max);
    let Heights { y, half, bands, bottom } = heights(sheet);
    let left = GUTTER + MARGIN;
    Placed {
        x: x.iter().map(|x| (x + left).round()).collect(),
        y,
        half,
        bands,
        width: (left + right + MARGIN + INSIDE).ceil(),
        bottom,
    }
}

struct Heights {
    y: Vec<f64>,
    half: Vec<f64>,
    bands: Vec<Band>,
    bottom: f64,
}

/// From the top of the sheet downwards, so rows are visited from the last to the first.
fn heights(sheet: &Sheet) -> Heights {
    let mut y = vec![0.0; sheet.items.len()];
    let mut half: Vec<f64> = sheet.items.iter().map(|item| item.size().1 / 2.0).collect();
    let mut bands: Vec<Band> = Vec::new();
    let mut cursor = TOP;
    for (layer, row) in sheet.rows.iter().rev() {
        match bands.last_mut() {
            Some(band) if band.layer == *layer => cursor = band.bottom - INSIDE + ROW_GAP,
            _ => {
                let top = if bands.is_empty() { cursor } else { cursor + LAYER_GAP };
                bands.push(Band { layer: *layer, top, bottom: top });
                cursor = top + INSIDE;
            }
        }
        let height = row.iter().map(|item| sheet.items[*item].size().1).fold(0.0, f64::max);
        for item in row {
            y[*item] = (cursor + height / 2.0).round();
            if matches!(sheet.items[*item], Item::Lane) {
                half[*item] = height / 2.0;
            }
        }
        cursor += height + INSIDE;
        if let Some(band) = bands.last_mut() {
            band.bottom = cursor;
        }
    }
    Heights { y, half, bands, bottom: cursor }
}

/// A line that is the only one at both of its ends shall be straight; one of many may bend.
/// Weights that are far apart take long to find a place, so the last sweeps only pull straight what is nearly so.
const STRAIGHT: [f64; 2] = [12.0, 1000.0];
const STRAIGHTEN: usize = 60;
const BENT: f64 = 1.0;
/// What nothing holds goes wherever the others leave room.
const LOOSE: f64 = 1e-6;

/// Where an item should be, and with which weight.
type Target = (f64, f64);

fn columns(sheet: &Sheet) -> Vec<f64> {
    let neighbours = Neighbours::of(sheet);
    let mut x = vec![0.0; sheet.items.len()];
    for (_, row) in &sheet.rows {
        pack(sheet, row, &mut x);
    }
    for sweep in 0..SWEEPS {
        let count = sheet.rows.len();
        let straight = STRAIGHT[usize::from(sweep + STRAIGHTEN >= SWEEPS)];
        for step in 0..count {
            let row = &sheet.rows[if sweep % 2 == 0 { step } else { count - 1 - step }].1;
            let alignment = Alignment { neighbours: &neighbours, straight, x: &x };
            let targets: Vec<Target> = row.iter().map(|item| alignment.of(*item)).collect();
            arrange(sheet, row, &targets, &mut x);
        }
    }
    let held = |item: &usize| !neighbours.below[*item].is_empty() || !neighbours.above[*item].is_empty();
    let edge = |item: usize| x[item] - sheet.items[item].size().0 / 2.0;
    let left = (0..x.len()).filter(held).map(edge).fold(f64::MAX, f64::min);
    let left = if left == f64::MAX { 0.0 } else { left };
    for (_, row) in &sheet.rows {
        gather(sheet, row, held, left, &mut x);
    }
    x.iter().map(|x| x - left).collect()
}

/// What nothing holds stands next to the one before it, or at the left edge.
fn gather(sheet: &Sheet, row: &[usize], held: impl Fn(&usize) -> bool, left: f64, x: &mut [f64]) {
    for (slot, item) in row.iter().enumerate().filter(|(_, item)| !held(item)) {
        x[*item] = match slot.checked_sub(1).and_then(|before| row.get(before)) {
            Some(before) => x[*before] + apart(sheet, *before, *item),
            None => left + sheet.items[*item].size().0 / 2.0,
        };
    }
}

struct Alignment<'a> {
    neighbours: &'a Neighbours,
    straight: f64,
    x: &'a [f64],
}

impl Alignment<'_> {
    fn of(&self, item: usize) -> Target {
        let Neighbours { below, above } = self.neighbours;
        let down = below[item].iter().map(|near| self.pull(*near, &below[item], &above[*near]));
        let up = above[item].iter().map(|near| self.pull(*near, &above[item], &below[*near]));
        let (sum, weight) =
            down.chain(up).fold((0.0, 0.0), |(sum, all), (x, pull)| (sum + x * pull, all + pull));
        // To follow others would make a row that nothing holds wander further with every sweep.
        if weight > 0.0 { (sum / weight, weight) } else { (self.x[item], LOOSE) }
    }

    fn pull(&self, near: usize, ours: &[usize], theirs: &[usize]) -> Target {
        (self.x[near], if ours.len() == 1 && theirs.len() == 1 { self.straight } else { BENT })
    }
}

/// How far apart the middles of two neighbours in a row must be.
fn apart(sheet: &Sheet, left: usize, right: usize) -> f64 {
    let (left, right) = (&sheet.items[left], &sheet.items[right]);
    let gap = if matches!((left, right), (Item::Lane, Item::Lane)) { 4.0 } else { GAP };
    (left.size().0 + right.size().0) / 2.0 + gap
}

fn pack(sheet: &Sheet, row: &[usize], x: &mut [f64]) {
    for pair in row.windows(2) {
        x[pair[1]] = x[pair[0]] + apart(sheet, pair[0], pair[1]);
    }
}

/// As near to the target places as order and distance allow, in the sense of least squares: neighbours that
/// would overlap are pooled and moved as one block (isotonic regression).
fn arrange(sheet: &Sheet, row: &[usize], targets: &[Target], x: &mut [f64]) {
    let mut offsets = vec![0.0; row.len()];
    for (slot, pair) in row.windows(2).enumerate() {
        offsets[slot + 1] = offsets[slot] + apart(sheet, pair[0], pair[1]);
    }
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for ((target, weight), offset) in targets.iter().zip(&offsets) {
        blocks.push((target - offset, *weight, 1));
        while let [.., (before, v, n), (after, w, m)] = blocks[..] {
            if before <= after {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            blocks.push(((before * v + after * w) / (v + w), v + w, n + m));
        }
    }
    let settled = blocks.iter().flat_map(|(place, _, count)| std::iter::repeat_n(*place, *count));
    for ((item, place), offset) in row.iter().zip(settled).zip(&offsets) {
        x[*item] = place + offset;
    }
}
