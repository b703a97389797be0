//! From places to SVG.

use std::fmt::Write;

use super::super::graph::Graph;
use super::super::{Interface, Topology, label};
use super::Page;
use super::boxes::{BoxText, GroupBox, Style};
use super::place::{Band, FOOT, MARGIN, Placed, TOP};
use super::rows::{Item, Sheet};
use super::style::{STYLE, class, escaped};

/// The pages one below the other.
pub(super) fn draw(topology: &Topology, pages: &[Page]) -> String {
    let width = pages.iter().map(|page| page.placed.width).fold(0.0, f64::max);
    let tops: Vec<f64> = pages
        .iter()
        .scan(0.0, |top, page| {
            let here = *top;
            *top += page.placed.bottom - TOP + PAGE_GAP;
            Some(here)
        })
        .collect();
    let last = pages.iter().zip(&tops).next_back();
    let height = last.map_or(0.0, |(page, top)| (top + page.placed.bottom + FOOT).ceil());
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = out.write_fmt(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"sheet\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n",
        escaped(&title(topology)),
        width - 1.0,
        height - 1.0,
    ));
    for (page, top) in pages.iter().zip(tops) {
        let Page { topology: part, graph, sheet, placed } = page;
        let mut canvas = Canvas { topology: part, sheet, placed, width, out };
        if top == 0.0 {
            canvas.text(MARGIN, 28.0, "host", &title(topology));
        } else {
            canvas.write(format_args!("<g transform=\"translate(0 {top})\">\n"));
        }
        placed.bands.iter().for_each(|band| canvas.band(band));
        canvas.lines();
        canvas.peers(graph);
        (0..sheet.items.len()).for_each(|item| canvas.item(item));
        if top > 0.0 {
            canvas.write(format_args!("</g>\n"));
        }
        out = canvas.out;
    }
    out + &legend(topology, pages, height - 16.0) + "</svg>\n"
}

/// Between two pages.
const PAGE_GAP: f64 = 44.0;

fn title(topology: &Topology) -> String {
    topology.hostname.as_ref().map_or_else(|| "Network topology".into(), |name| format!("Network of {name}"))
}

struct Canvas<'a> {
    topology: &'a Topology,
    sheet: &'a Sheet,
    placed: &'a Placed,
    /// Of the whole picture.
    width: f64,
    out: String,
}

impl Canvas<'_> {
    fn write(&mut self, what: std::fmt::Arguments<'_>) {
        // BoxText to a String cannot fail.
        let _ = self.out.write_fmt(what);
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.out.push_str(&text_at(x, y, class, text));
    }

    fn band(&mut self, band: &Band) {
        let (x, y) = (MARGIN, band.top.round());
        let (width, height) = (self.width - 2.0 * MARGIN, (band.bottom - band.top).round());
        self.write(format_args!(
            "<rect class=\"band\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n\
             <rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"4\" height=\"{height}\" rx=\"2\"/>\n",
            class(band.layer)
        ));
        self.text(x + 16.0, (y + height / 2.0 + 4.0).round(), "layer", &band.layer.label().to_uppercase());
    }

    /// The default route's way comes last, so that it lies on top.
    fn lines(&mut self) {
        let is_way =
            |line: &[usize]| [line.first(), line.last()].iter().flatten().all(|item| self.is_way(**item));
        let (ways, others): (Vec<_>, Vec<_>) = self.sheet.lines.iter().partition(|line| is_way(line));
        for (lines, class) in [(others, "line"), (ways, "way")] {
            for line in lines {
                let path = self.path(line);
                self.write(format_args!("<path class=\"{class}\" d=\"{path}\"/>\n"));
            }
        }
    }

    fn is_way(&self, item: usize) -> bool {
        matches!(self.sheet.items[item], Item::One(index, _) if self.topology.interfaces[index].on_default_path)
    }

    fn edge_of(&self, item: usize, side: f64) -> (f64, f64) {
        (self.placed.x[item], (self.placed.y[item] + side * self.placed.half[item]).round())
    }

    /// From the top of the lowest item to the foot of the highest, straight past the rows between.
    fn path(&self, line: &[usize]) -> String {
        let mut path = String::new();
        for pair in line.windows(2) {
            let ((x1, y1), (x2, y2)) = (self.edge_of(pair[0], -1.0), self.edge_of(pair[1], 1.0));
            let start = if path.is_empty() { format!("M{x1} {y1}") } else { String::new() };
            let middle = ((y1 + y2) / 2.0).round();
            let _ = write!(path, "{start}C{x1} {middle} {x2} {middle} {x2} {y2}");
            if matches!(self.sheet.items[pair[1]], Item::Lane) {
                let _ = write!(path, "V{}", self.edge_of(pair[1], -1.0).1);
            }
        }
        path
    }

    fn peers(&mut self, graph: &Graph) {
        for (a, b) in &graph.peers {
            let ends = (self.sheet.of_interface[*a], self.sheet.of_interface[*b]);
            let ((x1, y1), (x2, y2)) = (self.edge_of(ends.0, -1.0), self.edge_of(ends.1, -1.0));
            let high = y1.min(y2) - 30.0;
            self.write(format_args!(
                "<path class=\"peer\" d=\"M{x1} {y1}C{x1} {high} {x2} {high} {x2} {y2}\"/>\n"
            ));
        }
    }

    fn item(&mut self, item: usize) {
        let (sheet, topology) = (self.sheet, self.topology);
        match &sheet.items[item] {
            Item::One(index, writing) => self.one(item, &topology.interfaces[*index], writing),
            Item::Many(members, group) => self.many(item, members, group),
            Item::Lane => {}
        }
    }

    /// The box; gives back its left upper corner.
    fn frame(&mut self, item: usize, class_of_box: &str, bar: &str) -> (f64, f64) {
        let (width, height) = self.sheet.items[item].size();
        let x = (self.placed.x[item] - width / 2.0).round();
        let y = (self.placed.y[item] - height / 2.0).round();
        self.write(format_args!(
            "<rect class=\"{class_of_box}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>\n\
             <rect class=\"{bar}\" x=\"{}\" y=\"{}\" width=\"3\" height=\"{}\" rx=\"1.5\"/>\n",
            x + 6.0,
            y + 9.0,
            height - 18.0
        ));
        (x, y)
    }

    fn one(&mut self, item: usize, interface: &Interface, writing: &BoxText) {
        self.write(format_args!("<g><title>{}</title>\n", escaped(&tooltip(interface))));
        let way = if interface.on_default_path { " way" } else { "" };
        let down = if interface.is_up() { "" } else { " down" };
        let (x, y) = self.frame(item, &format!("box{way}{down}"), class(interface.layer));
        let (x, mut y) = (x + 16.0, y + 5.0);
        for (style, text) in &writing.lines {
            let (above, below) = style.room();
            y += above;
            match style {
                Style::Name => {
                    self.dot(x + 4.0, y - 4.5, interface.is_up());
                    self.text(x + 14.0, y, "name", text);
                }
                Style::Label => self.text(x, y, "", text),
                Style::Address => self.text(x, y, "mono", text),
                Style::Mac => self.text(x, y, "mono faint", text),
                Style::SpareRoute => self.text(x, y, "", text),
                Style::Route => self.route(x, y, writing.width - 26.0, text),
            }
            y += below;
        }
        self.write(format_args!("</g>\n"));
    }

    fn route(&mut self, x: f64, y: f64, width: f64, text: &str) {
        let (left, top) = (x - 2.0, y - 11.5);
        self.write(format_args!(
            "<rect class=\"pill\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"16\" rx=\"8\"/>\n"
        ));
        self.text(x + 6.0, y, "route", text);
    }

    fn dot(&mut self, x: f64, y: f64, up: bool) {
        self.out.push_str(&dot_at(x, y, up));
    }

    fn many(&mut self, item: usize, members: &[usize], group: &GroupBox) {
        let layer = self.topology.interfaces[members[0]].layer;
        let (x, y) = self.frame(item, "box", class(layer));
        self.text(x + 16.0, y + 21.0, "name", &group.title);
        for (position, member) in members.iter().enumerate() {
            let interface = &self.topology.interfaces[*member];
            let x = x + 16.0 + (position % group.columns) as f64 * group.cell;
            let y = y + 41.0 + (position / group.columns) as f64 * 16.0;
            self.write(format_args!("<g><title>{}</title>\n", escaped(&tooltip(interface))));
            self.dot(x + 4.0, y - 4.0, interface.is_up());
            self.text(x + 12.0, y, "mono", group.cells.get(position).unwrap_or(&interface.name));
            self.write(format_args!("</g>\n"));
        }
    }
}

fn text_at(x: f64, y: f64, class: &str, text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(text))
}

fn dot_at(x: f64, y: f64, up: bool) -> String {
    let class = if up { "up" } else { "off" };
    format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>\n")
}

/// Only what occurs in the picture.
fn legend(topology: &Topology, pages: &[Page], y: f64) -> String {
    let mut out = String::new();
    let mut x = MARGIN + 4.0;
    let interfaces = &topology.interfaces;
    let (up, down) = (interfaces.iter().any(Interface::is_up), !interfaces.iter().all(Interface::is_up));
    for (up, word) in
        [(true, "up", up), (false, "down, or not described", down)].into_iter().filter_map(shown)
    {
        out += &dot_at(x, y - 4.0, up);
        out += &text_at(x + 10.0, y, "", word);
        x += 28.0 + CHARACTER * word.len() as f64;
    }
    let way = interfaces.iter().any(|interface| interface.on_default_path);
    let pairs = pages.iter().any(|page| !page.graph.peers.is_empty());
    let lines = [("way", "default route", way), ("peer", "two ends of a pair", pairs)];
    for (class, word) in lines.into_iter().filter_map(shown) {
        let (end, middle) = (x + 22.0, y - 4.0);
        out += &format!("<path class=\"{class}\" d=\"M{x} {middle}H{end}\"/>\n");
        out += &text_at(end + 6.0, y, "", word);
        x = end + 24.0 + CHARACTER * word.len() as f64;
    }
    out
}

/// The mean width of a character in the legend.
const CHARACTER: f64 = 6.0;

fn shown<T>((mark, word, occurs): (T, &'static str, bool)) -> Option<(T, &'static str)> {
    occurs.then_some((mark, word))
}

fn tooltip(interface: &Interface) -> String {
    let mut lines = vec![format!("{}: {}", interface.name, label::label(interface))];
    lines.extend(interface.mac_address.iter().cloned());
    lines.extend(interface.mtu.map(|mtu| format!("mtu {mtu}")));
    lines.extend(interface.addresses.iter().map(|address| address.address.clone()).filter(|a| !a.is_empty()));
    lines.extend(interface.default_routes.iter().map(|route| label::default_route("default route", route)));
    lines.join(", ")
}
