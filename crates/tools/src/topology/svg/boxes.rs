//! What is written in a box, and how large that makes it.

use super::super::{Interface, Layer, label};

/// Widths of characters: the picture must not depend on a font being there, so a generous guess is used.
const NAME: f64 = 8.2;
const SMALL: f64 = 6.7;
const LABEL: f64 = 6.7;
const LINE: f64 = 16.0;
const PADDING: f64 = 12.0;
const ADDRESSES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Name,
    Label,
    Address,
    Mac,
    Route,
    SpareRoute,
}

impl Style {
    fn width(self, text: &str) -> f64 {
        let count = text.chars().count() as f64;
        match self {
            Self::Name => count * NAME + 16.0,
            Self::Label => count * LABEL,
            Self::Address | Self::Mac => count * SMALL,
            Self::Route | Self::SpareRoute => count * LABEL + 16.0,
        }
    }
}

impl Style {
    /// How far below the line before it stands, and how much more room it wants below itself.
    pub(super) fn room(self) -> (f64, f64) {
        if self == Self::Route { (LINE + 4.0, 3.0) } else { (LINE, 0.0) }
    }
}

/// What is written in one box, line by line.
#[derive(Debug, Clone)]
pub(super) struct BoxText {
    pub(super) lines: Vec<(Style, String)>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) fn writing(interface: &Interface) -> BoxText {
    let mut lines = vec![(Style::Name, interface.name.clone()), (Style::Label, label(interface))];
    if interface.layer == Layer::Physical {
        lines.extend(interface.mac_address.clone().map(|mac| (Style::Mac, mac)));
    }
    let addresses = label::addresses(interface);
    let hidden = if addresses.len() > ADDRESSES { addresses.len() - ADDRESSES + 1 } else { 0 };
    lines.extend(addresses.iter().take(addresses.len() - hidden).map(|text| (Style::Address, text.clone())));
    if hidden > 0 {
        lines.push((Style::Label, format!("and {hidden} more addresses")));
    }
    lines.extend(interface.default_routes.iter().map(|route| {
        let style = if route.preferred { Style::Route } else { Style::SpareRoute };
        (style, label::default_route("default route", route))
    }));
    let widest = lines.iter().map(|(style, text)| style.width(text)).fold(96.0, f64::max);
    let room = lines.iter().map(|(style, _)| style.room()).map(|(above, below)| above + below);
    let height = room.sum::<f64>() + 1.5 * PADDING;
    BoxText { lines, width: (widest + 2.0 * PADDING + 4.0).ceil(), height }
}

fn label(interface: &Interface) -> String {
    let label = label::label(interface);
    interface.mtu.map_or(label.clone(), |mtu| format!("{label} · mtu {mtu}"))
}

/// Many of a kind that differ in nothing but their names are one box.
#[derive(Debug, Clone)]
pub(super) struct GroupBox {
    pub(super) title: String,
    /// What is written of each member.
    pub(super) cells: Vec<String>,
    pub(super) columns: usize,
    pub(super) cell: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A box of many grows in height beyond this.
const WIDEST_GROUP: f64 = 1200.0;

/// Its name, and its first address.
fn cell(interface: &Interface) -> String {
    let addresses = label::addresses(interface);
    match addresses.as_slice() {
        [] => interface.name.clone(),
        [only] => format!("{} {only}", interface.name),
        [first, more @ ..] => format!("{} {first} +{}", interface.name, more.len()),
    }
}

pub(super) fn group_box(members: &[&Interface]) -> GroupBox {
    let kind = members.first().map(|first| &first.kind);
    let one_kind = kind.filter(|kind| members.iter().all(|member| member.kind == **kind));
    let kind = one_kind.map_or_else(|| "interface".to_owned(), ToString::to_string);
    let title = format!("{} × {kind}", members.len());
    let cells: Vec<String> = members.iter().map(|member| cell(member)).collect();
    let longest = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) as f64;
    let cell = (longest * SMALL + 22.0).ceil();
    let columns = match members.len() {
        0..=12 => 3,
        13..=64 => 4,
        many => many.div_ceil(24),
    };
    let columns = (1..=columns).rev().find(|columns| *columns as f64 * cell <= WIDEST_GROUP).unwrap_or(1);
    let rows = members.len().div_ceil(columns) as f64;
    let width = (columns as f64 * cell + 2.0 * PADDING).max(Style::Name.width(&title) + 2.0 * PADDING);
    GroupBox { title, cells, columns, cell, width: width.ceil(), height: (rows + 1.0) * LINE + 2.0 * PADDING }
}
