//! A tree from the hardware upwards, for a terminal.

use linesman_core::terminal::TextStyle;

use super::graph::Graph;
use super::{Interface, Layer, Topology, label};

pub(super) fn render(topology: &Topology, colour: bool) -> String {
    if topology.interfaces.is_empty() {
        return "no interfaces\n".into();
    }
    let graph = Graph::of(topology);
    let mut tree =
        Tree { topology, graph: &graph, seen: vec![false; topology.interfaces.len()], lines: Vec::new() };
    tree.grow();
    let head = Line { tree: "INTERFACE".into(), label: "TYPE".into(), mtu: "MTU".into(), ..Line::default() };
    let head = Line { last: Some(Last::Plain("ADDRESS".into())), ..head };
    let widths = Widths::of(tree.lines.iter().chain([&head]));
    let style = TextStyle { colour };
    std::iter::once(style.dim(&head.set(&widths, TextStyle { colour: false })))
        .chain(tree.lines.iter().map(|line| line.set(&widths, style)))
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// Whatever is indented by more than this is drawn in a tree of its own.
const DEEPEST: usize = 90;

struct Tree<'a> {
    topology: &'a Topology,
    graph: &'a Graph,
    seen: Vec<bool>,
    lines: Vec<Line>,
}

impl Tree<'_> {
    fn grow(&mut self) {
        for root in self.roots() {
            if self.seen[root] {
                continue;
            }
            match self.bundle(root) {
                Some((carriers, upper)) => self.join(&carriers, upper),
                None => self.place(root, "", ""),
            }
        }
        // What stands on each other in a circle has no root, and what is too deep begins anew.
        for index in 0..self.seen.len() {
            if !self.seen[index] {
                self.place(index, "", "");
            }
        }
    }

    /// What stands on nothing; whatever carries something or has an address first, hardware before the rest.
    fn roots(&self) -> Vec<usize> {
        let interfaces = &self.topology.interfaces;
        let mut roots: Vec<usize> =
            (0..interfaces.len()).filter(|index| self.graph.carriers[*index].is_empty()).collect();
        let idle = |index: usize| {
            self.graph.carried[index].is_empty() && label::addresses(&interfaces[index]).is_empty()
        };
        roots.sort_by_key(|index| (interfaces[*index].layer, idle(*index), *index));
        roots
    }

    /// Several roots that carry one thing together and nothing else: the ports of a bond.
    fn bundle(&self, root: usize) -> Option<(Vec<usize>, usize)> {
        let [upper] = self.graph.carried[root][..] else { return None };
        let carriers = &self.graph.carriers[upper];
        let alone =
            |index: &usize| self.graph.carriers[*index].is_empty() && self.graph.carried[*index] == [upper];
        (carriers.len() > 1 && carriers.iter().all(alone)).then(|| (carriers.clone(), upper))
    }

    fn join(&mut self, carriers: &[usize], upper: usize) {
        let width = |index: &usize| self.topology.interfaces[*index].name.chars().count();
        let widest = carriers.iter().map(width).max().unwrap_or(0);
        for (position, carrier) in carriers.iter().enumerate() {
            self.seen[*carrier] = true;
            let fill = "─".repeat(widest - width(carrier) + 1);
            let corner = if position == 0 { "┐" } else { "┤" };
            let rest = format!("{}│", " ".repeat(widest + 4));
            self.describe(*carrier, "", &format!(" {fill}{corner}"), &rest);
        }
        let indent = " ".repeat(widest + 4);
        self.place(upper, &format!("{indent}└─ "), &format!("{indent}   "));
    }

    fn place(&mut self, index: usize, first: &str, rest: &str) {
        if rest.chars().count() > DEEPEST {
            return self.refer(index, first, "see below");
        }
        if std::mem::replace(&mut self.seen[index], true) {
            return self.refer(index, first, "see above");
        }
        let carried = self.graph.carried[index].clone();
        let below = if carried.is_empty() { "  " } else { "│ " };
        self.describe(index, first, "", &format!("{rest}{below}"));
        for (position, upper) in carried.iter().enumerate() {
            let last = position + 1 == carried.len();
            let (corner, bar) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.place(*upper, &format!("{rest}{corner}"), &format!("{rest}{bar}"));
        }
    }

    fn refer(&mut self, index: usize, first: &str, whereto: &str) {
        let name = &self.topology.interfaces[index].name;
        let tree = format!("{first}↗ {name}");
        self.lines.push(Line { tree, label: whereto.into(), ..Line::default() });
    }

    fn describe(&mut self, index: usize, first: &str, after: &str, rest: &str) {
        let interface = &self.topology.interfaces[index];
        let peer = self.graph.peer_of(index).map(|peer| &self.topology.interfaces[peer]);
        let mut facts = facts(interface, peer).into_iter();
        self.lines.push(Line {
            tree: first.into(),
            dot: Some(dot(interface)),
            name: interface.name.clone(),
            after: after.into(),
            label: label::label(interface),
            mtu: interface.mtu.map(|mtu| mtu.to_string()).unwrap_or_default(),
            last: facts.next(),
        });
        self.lines.extend(facts.map(|fact| Line { tree: rest.into(), last: Some(fact), ..Line::default() }));
    }
}

/// What stands in the last column, one per line.
fn facts(interface: &Interface, peer: Option<&Interface>) -> Vec<Last> {
    let mut facts: Vec<Last> = label::addresses(interface).into_iter().map(Last::Plain).collect();
    facts.extend(peer.map(|peer| Last::Plain(format!("⇄ {}", peer.name))));
    for route in &interface.default_routes {
        let route_label = label::default_route("default", route);
        facts.push(if route.preferred { Last::Strong(route_label) } else { Last::Plain(route_label) });
    }
    if facts.is_empty() && interface.layer == Layer::Physical {
        facts.extend(interface.mac_address.clone().map(Last::Faint));
    }
    facts
}

#[derive(Clone, Copy)]
enum Dot {
    Up,
    Down,
    Referenced,
}

fn dot(interface: &Interface) -> Dot {
    match (interface.is_up(), interface.is_only_referenced()) {
        (true, _) => Dot::Up,
        (_, true) => Dot::Referenced,
        _ => Dot::Down,
    }
}

enum Last {
    Plain(String),
    Strong(String),
    Faint(String),
}

#[derive(Default)]
struct Line {
    tree: String,
    dot: Option<Dot>,
    name: String,
    after: String,
    label: String,
    mtu: String,
    last: Option<Last>,
}

struct Widths {
    tree: usize,
    label: usize,
    mtu: usize,
}

impl Widths {
    fn of<'a>(lines: impl Iterator<Item = &'a Line>) -> Self {
        lines.fold(Self { tree: 0, label: 0, mtu: 0 }, |widths, line| Self {
            tree: widths.tree.max(line.tree_width()),
            label: widths.label.max(line.label.chars().count()),
            mtu: widths.mtu.max(line.mtu.len()),
        })
    }
}

impl Line {
    fn tree_width(&self) -> usize {
        let dot = if self.dot.is_some() { 2 } else { 0 };
        [&self.tree, &self.name, &self.after].iter().map(|part| part.chars().count()).sum::<usize>() + dot
    }

    fn set(&self, widths: &Widths, style: TextStyle) -> String {
        let dot = match self.dot {
            Some(Dot::Up) => style.green("●") + " ",
            Some(Dot::Down) => style.red("○") + " ",
            Some(Dot::Referenced) => style.dim("◌") + " ",
            None => String::new(),
        };
        let gap = " ".repeat(widths.tree - self.tree_width());
        let tree = format!(
            "{}{dot}{}{}{gap}",
            style.dim(&self.tree),
            style.bold(&self.name),
            style.dim(&self.after)
        );
        let last = match &self.last {
            Some(Last::Plain(text)) => text.clone(),
            Some(Last::Strong(text)) => style.green(text),
            Some(Last::Faint(text)) => style.dim(text),
            None => String::new(),
        };
        let (label, mtu) =
            (format!("{:<1$}", self.label, widths.label), format!("{:>1$}", self.mtu, widths.mtu));
        format!("{tree}  {label}  {mtu}  {last}")
    }
}
