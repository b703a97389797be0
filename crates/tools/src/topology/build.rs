//! From a state to interfaces and edges.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::graph::Graph;
use super::layer::{Layer, LayerPosition, layer};
use super::route::DefaultRoutes;
use super::{Address, Edge, EdgeKind, Interface, NodeKind, Topology};
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::mac_address::MacAddress;
use linesman_core::state::{
    address, at, base, condition, flag, interfaces, is_absent, kind, list, name, ports, text,
};

pub(super) fn build(state: &Value) -> Topology {
    let described: Vec<&Value> =
        interfaces(state).iter().filter(|entry| !is_absent(entry) && !name(entry).is_empty()).collect();
    let mut builder = GraphBuilder::new(&described);
    described.iter().for_each(|entry| builder.relate(entry));
    let routes = DefaultRoutes::of(state);
    let mut topology = builder.finish(hostname(state), &routes);
    mark_default_path(&mut topology);
    topology
}

fn hostname(state: &Value) -> Option<String> {
    let names = ["running", "config"].into_iter().filter_map(|key| text(state.get("hostname")?, key));
    names.map(str::to_owned).find(|name| !name.is_empty())
}

fn mark_default_path(topology: &mut Topology) {
    let ends = topology.interfaces.iter().enumerate().filter(|(_, interface)| {
        interface.default_routes.iter().any(|route| route.preferred && route.vrf.is_none())
    });
    let ends: BTreeSet<usize> = ends.map(|(index, _)| index).collect();
    for index in Graph::of(topology).below(&ends) {
        topology.interfaces[index].on_default_path = true;
    }
}

/// The graph while it is built: who is described, who is only named, and how they relate.
struct GraphBuilder<'a> {
    nodes: BTreeMap<String, Node<'a>>,
    edges: BTreeSet<Edge>,
}

struct Node<'a> {
    name: &'a str,
    kind: NodeKind,
    entry: Option<&'a Value>,
}

impl Node<'_> {
    fn is_in_kernel(&self) -> bool {
        !matches!(&self.kind, NodeKind::Interface(kind) if kind.is_userspace())
    }
}

impl<'a> GraphBuilder<'a> {
    fn new(described: &[&'a Value]) -> Self {
        let nodes = described.iter().map(|entry| {
            let (name, kind) = (name(entry), plain_kind(entry));
            (id(&kind, name), Node { name, kind: kind.into(), entry: Some(entry) })
        });
        Self { nodes: nodes.collect(), edges: BTreeSet::new() }
    }

    /// The id of the kernel's interface of that name; one that nobody describes is taken note of as `kind`.
    fn find(&mut self, name: &'a str, kind: InterfaceKind) -> String {
        let known = self.nodes.iter().find(|(_, node)| node.name == name && node.is_in_kernel());
        match known {
            Some((id, _)) => id.clone(),
            None => self.note(name, kind),
        }
    }

    fn find_controller(&mut self, name: &'a str) -> String {
        let has_ports = |kind: &NodeKind| matches!(kind, NodeKind::Interface(kind) if kind.has_ports());
        let known = self.nodes.iter().find(|(_, node)| node.name == name && has_ports(&node.kind));
        match known {
            Some((id, _)) => id.clone(),
            None => self.find(name, InterfaceKind::Unknown),
        }
    }

    fn note(&mut self, name: &'a str, kind: InterfaceKind) -> String {
        let id = id(&kind, name);
        self.nodes.entry(id.clone()).or_insert(Node { name, kind: kind.into(), entry: None });
        id
    }

    fn join(&mut self, from: String, to: String, kind: EdgeKind) {
        if from != to {
            self.edges.insert(Edge { from, to, kind });
        }
    }

    fn relate(&mut self, entry: &'a Value) {
        let own = id(&plain_kind(entry), name(entry));
        if kind(entry) == InterfaceKind::OvsBridge {
            self.relate_ovs_ports(entry, &own);
        } else {
            for port in ports(entry).unwrap_or_default() {
                let port = self.find(port, InterfaceKind::Unknown);
                self.join(port, own.clone(), EdgeKind::PortOf);
            }
        }
        if let Some((_, base)) = base(entry) {
            let base = self.find(base, InterfaceKind::Unknown);
            self.join(base, own.clone(), EdgeKind::BaseOf);
        }
        if let Some(peer) = peer(entry) {
            let peer = self.find(peer, plain_kind(entry));
            let (from, to) = if own < peer { (own.clone(), peer) } else { (peer, own.clone()) };
            self.join(from, to, EdgeKind::Peer);
        }
        if let Some(controller) = text(entry, "controller").filter(|controller| !controller.is_empty()) {
            let controller = self.find_controller(controller);
            if !self.is_member(&own, &controller) {
                self.join(own, controller, EdgeKind::PortOf);
            }
        }
    }

    fn relate_ovs_ports(&mut self, bridge: &'a Value, own: &str) {
        for port in list(bridge, &["bridge", "port"]) {
            let Some(bond) = port.get("link-aggregation") else {
                let kind = match name(port) == name(bridge) {
                    true => InterfaceKind::OvsInterface,
                    false => InterfaceKind::Unknown,
                };
                let port = self.find(name(port), kind);
                self.join(port, own.to_owned(), EdgeKind::PortOf);
                continue;
            };
            let bonded = id(&NodeKind::OvsBond, name(port));
            self.nodes.insert(
                bonded.clone(),
                Node { name: name(port), kind: NodeKind::OvsBond, entry: Some(bridge_port(port)) },
            );
            for member in list(bond, &["port"]) {
                let member = self.find(name(member), InterfaceKind::Unknown);
                self.join(member, bonded.clone(), EdgeKind::PortOf);
            }
            self.join(bonded, own.to_owned(), EdgeKind::PortOf);
        }
    }

    /// A member of an OVS bond has the bridge as its controller, but is a port of the bond.
    fn is_member(&self, port: &str, controller: &str) -> bool {
        let above = |id: &str| {
            let id = id.to_owned();
            self.edges
                .iter()
                .filter(move |e| e.kind == EdgeKind::PortOf && e.from == id)
                .map(|e| e.to.clone())
        };
        above(port).any(|to| to == controller || above(&to).any(|to| to == controller))
    }

    fn finish(self, hostname: Option<String>, routes: &DefaultRoutes<'_>) -> Topology {
        let interfaces = self.nodes.iter().map(|(id, node)| self.interface(id, node, routes));
        let mut interfaces: Vec<Interface> = interfaces.collect();
        interfaces.sort_by(|a, b| {
            a.layer.cmp(&b.layer).then_with(|| super::natural::order(&a.name, &b.name)).then(a.id.cmp(&b.id))
        });
        Topology { hostname, interfaces, edges: self.edges.into_iter().collect() }
    }

    fn interface(&self, id: &str, node: &Node<'_>, routes: &DefaultRoutes<'_>) -> Interface {
        let entry = node.entry.unwrap_or(&Value::Null);
        // Routes go through the kernel's interface, not through the bridge that shares its name.
        let routed = node.is_in_kernel() && node.kind != NodeKind::OvsBond;
        Interface {
            id: id.to_owned(),
            name: node.name.to_owned(),
            kind: node.kind.clone(),
            layer: self.layer(id, node, routes),
            state: if node.entry.is_some() { condition(entry) } else { "unknown" }.to_owned(),
            detail: detail(&node.kind, entry),
            mtu: entry.get("mtu").and_then(Value::as_u64),
            mac_address: text(entry, "mac-address").map(str::to_owned),
            addresses: ["ipv4", "ipv6"].iter().flat_map(|family| addresses(entry, family)).collect(),
            default_routes: if routed { routes.through(node.name) } else { Vec::new() },
            on_default_path: false,
        }
    }

    fn layer(&self, id: &str, node: &Node<'_>, routes: &DefaultRoutes<'_>) -> Layer {
        let has = |kind: EdgeKind| self.edges.iter().filter(move |edge| edge.kind == kind);
        let controllers: Vec<&str> =
            has(EdgeKind::PortOf).filter(|edge| edge.from == id).map(|edge| edge.to.as_str()).collect();
        let is_bridge = |id: &&&str| id.starts_with("ovs-bridge/") || id.starts_with("linux-bridge/");
        let is_bond =
            |id: &&str| id.starts_with("bond/") || id.starts_with("ovs-bond/") || id.starts_with("hsr/");
        let bridge = controllers.iter().find(is_bridge);
        let position = LayerPosition {
            port_of_bridge: bridge.is_some(),
            carries: controllers.iter().any(is_bond) || has(EdgeKind::BaseOf).any(|edge| edge.from == id),
            has_peer: has(EdgeKind::Peer).any(|edge| edge.from == id || edge.to == id),
            uplink: bridge.is_some_and(|bridge| self.is_uplink(node, bridge, routes)),
        };
        layer(&node.kind, position)
    }

    /// The host speaks through the bridge with this port's MAC address.
    fn is_uplink(&self, port: &Node<'_>, bridge: &str, routes: &DefaultRoutes<'_>) -> bool {
        let mac = |node: &Node<'_>| text(node.entry?, "mac-address")?.parse::<MacAddress>().ok();
        let name = self.nodes.get(bridge).map_or("", |bridge| bridge.name);
        let speaks = self.nodes.values().any(|other| other.name == name && mac(other) == mac(port));
        speaks && mac(port).is_some() && !routes.through(name).is_empty()
    }
}

fn id(kind: &impl std::fmt::Display, name: &str) -> String {
    format!("{kind}/{name}")
}

/// One end of a veth pair is distinguished from a NIC by its peer, whatever its type is called.
fn plain_kind(entry: &Value) -> InterfaceKind {
    match kind(entry) {
        InterfaceKind::Ethernet if entry.get("veth").is_some() => InterfaceKind::Veth,
        kind => kind,
    }
}

fn bridge_port(port: &Value) -> &Value {
    port.get("link-aggregation").unwrap_or(port)
}

fn peer(entry: &Value) -> Option<&str> {
    let named = |section: &str| text(entry.get(section)?, "peer").filter(|peer| !peer.is_empty());
    named("veth").or_else(|| named("patch"))
}

fn detail(kind: &NodeKind, entry: &Value) -> Option<String> {
    let NodeKind::Interface(kind) = kind else { return text(entry, "mode").map(str::to_owned) };
    let place: &[&str] = match kind {
        InterfaceKind::Bond => &["link-aggregation", "mode"],
        InterfaceKind::Vlan => &["vlan", "id"],
        InterfaceKind::Vxlan => &["vxlan", "id"],
        InterfaceKind::Vrf => &["vrf", "route-table-id"],
        InterfaceKind::MacVlan => &["mac-vlan", "mode"],
        InterfaceKind::MacVtap => &["mac-vtap", "mode"],
        InterfaceKind::Ipvlan => &["ipvlan", "mode"],
        InterfaceKind::Tun => &["tun", "mode"],
        InterfaceKind::IpTunnel => &["ip-tunnel", "mode"],
        InterfaceKind::OvsInterface if entry.get("patch").is_some() => return Some("patch".into()),
        _ => return None,
    };
    match at(entry, place)? {
        Value::Number(table) if *kind == InterfaceKind::Vrf => Some(format!("table {table}")),
        Value::String(word) => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn addresses(entry: &Value, family: &str) -> Vec<Address> {
    let Some(section) = entry.get(family).filter(|section| flag(section, "enabled") != Some(false)) else {
        return Vec::new();
    };
    let dynamic = flag(section, "dhcp") == Some(true) || flag(section, "autoconf") == Some(true);
    let written = list(section, &["address"]).iter().filter_map(address);
    let mut found: Vec<Address> =
        written.map(|address| Address { address: address.to_string(), dynamic }).collect();
    if found.is_empty() && dynamic {
        found.push(Address { address: String::new(), dynamic });
    }
    found
}
