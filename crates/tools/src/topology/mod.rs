//! What carries what: from an NMState state to a picture that shows it at one look.
//!
//! ```text
//! state -> build: interfaces and edges -> graph: what each interface is built on -> text, or svg
//! ```

mod build;
mod graph;
mod label;
mod layer;
mod natural;
mod route;
mod svg;
mod text;

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::Value;

use graph::Graph;
pub use layer::Layer;
use linesman_core::interface_kind::InterfaceKind;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Topology {
    pub hostname: Option<String>,
    pub interfaces: Vec<Interface>,
    pub edges: Vec<Edge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Interface {
    /// `TYPE/NAME`: an Open vSwitch bridge and its internal interface share a name.
    pub id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: NodeKind,
    pub layer: Layer,
    /// `up`, `down`, …; `unknown` when others name it but nothing describes it.
    pub state: String,
    /// What distinguishes it from others of its type: a bond's mode, a VLAN's id, a VRF's table.
    pub detail: Option<String>,
    pub mtu: Option<u64>,
    pub mac_address: Option<String>,
    pub addresses: Vec<Address>,
    pub default_routes: Vec<DefaultRoute>,
    /// Traffic of the default route passes here.
    pub on_default_path: bool,
}

/// The type of what is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    Interface(InterfaceKind),
    /// A port of an Open vSwitch bridge with several members: drawn as one, though no document has such a type.
    OvsBond,
}

impl From<InterfaceKind> for NodeKind {
    fn from(kind: InterfaceKind) -> Self {
        Self::Interface(kind)
    }
}

impl std::fmt::Display for NodeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Interface(kind) => kind.fmt(f),
            Self::OvsBond => f.pad("ovs-bond"),
        }
    }
}

impl Serialize for NodeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Address {
    /// `IP/PREFIX`; empty when it is not known yet what DHCP or the router will give.
    pub address: String,
    pub dynamic: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DefaultRoute {
    pub family: &'static str,
    pub via: Option<String>,
    pub metric: Option<i64>,
    /// The VRF whose table holds it; `None` is the host's own.
    pub vrf: Option<String>,
    /// The one that the host takes.
    pub preferred: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub kind: EdgeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeKind {
    /// `from` is a port of `to`.
    PortOf,
    /// `to` is built on `from`.
    BaseOf,
    /// Two ends of one cable: a veth pair, an Open vSwitch patch.
    Peer,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no interface {name} in this state; there are: {known}")]
pub struct UnknownInterface {
    pub name: String,
    pub known: String,
}

impl Topology {
    /// From a state as `linesman show` prints it, or as a document declares it.
    pub fn of(state: &Value) -> Self {
        build::build(state)
    }

    /// Only `names`, what they stand on and what they carry; everything if there are none.
    pub fn around(&self, names: &[String]) -> Result<Self, UnknownInterface> {
        let mut wanted = BTreeSet::new();
        for name in names {
            let found = self.interfaces.iter().enumerate().filter(|(_, interface)| interface.name == *name);
            let before = wanted.len();
            wanted.extend(found.map(|(index, _)| index));
            if wanted.len() == before {
                return Err(self.unknown(name));
            }
        }
        if wanted.is_empty() {
            return Ok(self.clone());
        }
        let near = Graph::of(self).around(&wanted);
        Ok(self.keep(|index| near.contains(&index)))
    }

    fn unknown(&self, name: &str) -> UnknownInterface {
        let mut known: Vec<&str> = self.interfaces.iter().map(|interface| interface.name.as_str()).collect();
        known.sort_by(|a, b| natural::order(a, b));
        known.dedup();
        UnknownInterface { name: name.to_owned(), known: known.join(", ") }
    }

    fn keep(&self, wanted: impl Fn(usize) -> bool) -> Self {
        let kept = self.interfaces.iter().enumerate().filter(|(index, _)| wanted(*index));
        let interfaces: Vec<Interface> = kept.map(|(_, interface)| interface.clone()).collect();
        let ids: BTreeSet<&str> = interfaces.iter().map(|interface| interface.id.as_str()).collect();
        let inside = |edge: &&Edge| ids.contains(edge.from.as_str()) && ids.contains(edge.to.as_str());
        let edges = self.edges.iter().filter(inside).cloned().collect();
        Self { hostname: self.hostname.clone(), interfaces, edges }
    }

    /// What is worth drawing: a loopback with nothing but its own addresses is on every host.
    fn worth_drawing(&self) -> Self {
        if self.interfaces.len() == 1 {
            return self.clone();
        }
        self.keep(|index| !self.interfaces[index].is_plain_loopback())
    }

    /// A tree from the hardware upwards.
    pub fn text(&self, colour: bool) -> String {
        text::render(&self.worth_drawing(), colour)
    }

    /// A picture in layers, the hardware at the bottom.
    pub fn svg(&self) -> String {
        svg::render(&self.worth_drawing())
    }
}

impl Interface {
    fn is_up(&self) -> bool {
        self.state == "up"
    }

    /// Others name it, nothing describes it.
    fn is_only_referenced(&self) -> bool {
        self.state == "unknown"
    }

    fn is_plain_loopback(&self) -> bool {
        let own = |address: &Address| matches!(address.address.as_str(), "127.0.0.1/8" | "::1/128");
        self.kind == InterfaceKind::Loopback.into() && self.addresses.iter().all(own)
    }
}

#[cfg(test)]
mod tests;
