//! What others do in the kernel while a change is on: addresses, routes and ports that came or went since the snapshot.
//!
//! NetworkManager takes all of it away when it activates an interface anew. What was added since the snapshot must come
//! back as well; what its owner withdrew must not, a virtual IP least of all: another host may have it by now.

use std::collections::BTreeSet;
use std::net::IpAddr;

use linesman_core::foreign_port;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::plan::Plan;
use linesman_core::state::{addresses, interfaces, kind, name};
use serde_json::Value;

use crate::keyfile::ProfileFile;
use crate::netlink::{AddressFact, RouteFact};
use crate::nm::NmView;
use crate::snapshot::{Kernel, Snapshot, foreign, foreign_routes};

/// What is theirs on the interfaces of a change.
#[derive(Clone, Debug, Default)]
pub struct Others {
    pub addresses: Vec<AddressFact>,
    pub routes: Vec<RouteFact>,
    /// Ports on Linux bridges, each with its bridge.
    pub ports: Vec<(String, String)>,
}

impl Others {
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty() && self.routes.is_empty()
    }

    /// Addresses and routes of a snapshot; who attached which port is in its state.
    pub fn before(snapshot: &Snapshot) -> Self {
        let (addresses, routes) = (snapshot.foreign.clone(), snapshot.routes.clone());
        Self { addresses, routes, ports: Vec::new() }
    }

    fn has_address(&self, other: &AddressFact) -> bool {
        self.addresses.iter().any(|address| address.ip == other.ip)
    }

    fn has_route(&self, other: &RouteFact) -> bool {
        self.routes.iter().any(|route| is_same(route, other))
    }
}

/// The ports on Linux bridges of the plan that NetworkManager runs no profile on, each with its bridge. Pure.
pub fn ports(kernel: &Kernel, view: &NmView, state: &Value, plan: &Plan) -> Vec<(String, String)> {
    let bridges: BTreeSet<&str> = interfaces(state)
        .iter()
        .filter(|i| kind(i) == InterfaceKind::LinuxBridge && plan.touched.contains(name(i)))
        .map(name)
        .collect();
    let ports = kernel.links.iter().filter_map(|link| Some((link.name.clone(), link.controller.clone()?)));
    let is_theirs = |(port, bridge): &(String, String)| {
        let ours = plan.touched.contains(port.as_str()) || view.runs_profile_on(port);
        bridges.contains(bridge.as_str()) && !ours
    };
    ports.filter(is_theirs).collect()
}

/// What the change itself sets, and what a rollback sets again.
fn declared(desired: &Value, snapshot: &Snapshot) -> BTreeSet<IpAddr> {
    let wanted = interfaces(desired).iter().flat_map(|interface| addresses(interface).map(|a| a.addr()));
    let former = snapshot.profiles.iter().flat_map(|profile| profile.addresses()).map(|(ip, _)| ip);
    wanted.chain(former).collect()
}

/// The same route, wherever it leads by now: it may have moved with the addresses of its interface.
fn is_same(one: &RouteFact, other: &RouteFact) -> bool {
    let key = |route: &RouteFact| (route.destination.clone(), route.table, route.metric, route.protocol);
    key(one) == key(other)
}

/// What others did since the snapshot. Pure.
#[derive(Clone, Debug, Default)]
pub struct Since {
    pub came: Others,
    gone: Others,
}

impl Since {
    /// What of `before` was there in `seen`, when NetworkManager had done its part, and is not any more: its owner took
    /// it away, unless its interface was made anew.
    pub fn withdrawn(before: &Others, seen: &Kernel, now: &Kernel) -> Self {
        let index =
            |kernel: &Kernel, name: &str| kernel.links.iter().find(|l| l.name == name).map(|l| l.index);
        let stayed = |name: &str| index(seen, name).is_some() && index(seen, name) == index(now, name);
        let on = |kernel: &Kernel, ip: IpAddr| {
            kernel.addresses.iter().find(|held| held.ip == ip).map(|held| held.interface.clone())
        };
        let route = |kernel: &Kernel, route: &RouteFact| {
            kernel.routes.iter().find(|known| is_same(known, route)).map(|known| known.interfaces.clone())
        };
        let mut gone = before.clone();
        gone.addresses
            .retain(|a| on(now, a.ip).is_none() && on(seen, a.ip).is_some_and(|name| stayed(&name)));
        gone.routes.retain(|r| {
            let through = route(seen, r);
            route(now, r).is_none() && through.is_some_and(|names| names.iter().all(|name| stayed(name)))
        });
        Self { came: Others::default(), gone }
    }

    /// Adds what is there and was not before. `view` and `profiles` are NetworkManager's of now.
    #[must_use]
    pub fn and_came(
        self,
        snapshot: &Snapshot,
        plan: &Plan,
        desired: &Value,
        now: &Kernel,
        view: &NmView,
        profiles: &[ProfileFile],
    ) -> Self {
        const STATIC: u8 = 4;
        let before = Others::before(snapshot);
        let existed = |name: &str| interfaces(&snapshot.state).iter().any(|i| i["name"] == name);
        let names: BTreeSet<String> =
            plan.touched.iter().map(ToString::to_string).filter(|name| existed(name)).collect();
        let declared = declared(desired, snapshot);
        let mut addresses = foreign(&now.addresses, view, profiles, &names);
        // NetworkManager marks all of its own, those that a router or somebody gave a device meanwhile included.
        addresses.retain(|address| !address.leaves_prefix_route());
        addresses.retain(|address| !declared.contains(&address.ip) && !before.has_address(address));
        let mut routes = foreign_routes(now.routes.clone(), view, profiles);
        // One by NetworkManager looks the same while it changes its profiles.
        routes.retain(|route| route.protocol != STATIC && !before.has_route(route));
        routes.retain(|route| route.interfaces.iter().all(|name| existed(name)));
        Self { came: Others { addresses, routes, ports: ports(now, view, &snapshot.state, plan) }, ..self }
    }

    /// The snapshot as if it were taken now, for what a rollback owes: nothing that was withdrawn. Ports are added, which
    /// it must know to leave them alone; addresses and routes that came are not part of the former state.
    pub fn former(&self, snapshot: &Snapshot) -> Snapshot {
        let mut former = snapshot.clone();
        former.foreign.retain(|address| !self.gone.has_address(address));
        former.routes.retain(|route| !self.gone.has_route(route));
        for (port, bridge) in &self.came.ports {
            foreign_port::add(&mut former.state, port, bridge);
        }
        self.strip(&mut former.state);
        former
    }

    /// The same with all that came, for what goes along with a change that stays.
    pub fn current(&self, snapshot: &Snapshot) -> Snapshot {
        let mut current = self.former(snapshot);
        current.foreign.extend(self.came.addresses.iter().cloned());
        current.routes.extend(self.came.routes.iter().cloned());
        current
    }

    fn strip(&self, state: &mut Value) {
        let is_gone = |held: &Value| {
            let ip = held["ip"].as_str().and_then(|ip| ip.parse::<IpAddr>().ok());
            self.gone.addresses.iter().any(|gone| Some(gone.ip) == ip)
        };
        let all = state.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
        for interface in all {
            for family in ["/ipv4/address", "/ipv6/address"] {
                if let Some(held) = interface.pointer_mut(family).and_then(Value::as_array_mut) {
                    held.retain(|address| !is_gone(address));
                }
            }
        }
        if let Some(routes) = state.pointer_mut("/routes/config").and_then(Value::as_array_mut) {
            routes.retain(|route| {
                let table = route["table-id"].as_u64().unwrap_or(254);
                let is_it = |gone: &RouteFact| {
                    route["destination"] == gone.destination && u64::from(gone.table) == table
                };
                !self.gone.routes.iter().any(is_it)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::netlink::LinkFact;

    fn route(destination: &str, protocol: u8, through: &str) -> RouteFact {
        RouteFact {
            destination: destination.into(),
            table: 254,
            metric: 0,
            protocol,
            interfaces: vec![through.into()],
            message: String::new(),
        }
    }

    fn link(name: &str, index: u32, controller: Option<&str>) -> LinkFact {
        LinkFact {
            index,
            name: name.into(),
            kind: None,
            up: true,
            carrier: true,
            promiscuous: false,
            controller: controller.map(str::to_owned),
            mac: None,
            mtu: None,
        }
    }

    fn kernel(addresses: &[(&str, &str)], routes: &[RouteFact], ports: &[&str]) -> Kernel {
        let of = |port: &'static str| ports.contains(&port).then_some("br1");
        Kernel {
            addresses: addresses.iter().map(|(on, ip)| AddressFact::test(on, ip)).collect(),
            routes: routes.to_vec(),
            links: vec![
                link("eth0", 1, None),
                link("br1", 2, None),
                link("pod0", 3, of("pod0")),
                link("pod2", 4, of("pod2")),
            ],
        }
    }

    fn plan() -> Plan {
        Plan { touched: ["eth0".into(), "br1".into(), "br-ex".into()].into(), ..Plan::default() }
    }

    /// A virtual IP, a route of a daemon, and a Pod on a bridge.
    fn snapshot() -> Snapshot {
        let state = json!({
            "interfaces": [
                { "name": "eth0", "type": "ethernet", "ipv4": { "address": [{ "ip": "10.9.0.99", "prefix-length": 32 }] } },
                { "name": "br1", "type": "linux-bridge", "bridge": { "port": [{ "name": "pod0" }] } },
                { "name": "pod0", "type": "veth", "controller": "br1", "foreign-port": true },
            ],
            "routes": { "config": [{ "destination": "203.0.113.0/24", "next-hop-interface": "eth0" }] },
        });
        Snapshot {
            state,
            foreign: vec![AddressFact::test("eth0", "10.9.0.99")],
            routes: vec![route("203.0.113.0/24", 12, "eth0")],
            ..Snapshot::default()
        }
    }

    fn ips(snapshot: &Snapshot) -> Vec<String> {
        snapshot.foreign.iter().map(|address| format!("{} {}", address.interface, address.ip)).collect()
    }

    fn ports(snapshot: &Snapshot) -> Vec<String> {
        foreign_port::of_touched_bridges(&plan(), &snapshot.state).into_iter().map(|(port, _)| port).collect()
    }

    #[test]
    fn what_others_added_goes_along_and_nothing_that_the_change_made() {
        let (snapshot, bird) = (snapshot(), route("198.51.100.0/24", 12, "eth0"));
        let held =
            [("eth0", "10.9.0.100"), ("eth0", "10.66.0.1"), ("br-ex", "10.9.0.99"), ("br-ex", "10.9.0.101")];
        let routes = [bird.clone(), route("10.1.0.0/16", 4, "eth0"), route("10.2.0.0/16", 12, "br-ex")];
        let now = kernel(&held, &routes, &["pod0", "pod2"]);
        let desired = json!({ "interfaces": [{ "name": "eth0", "ipv4": { "address": [{ "ip": "10.66.0.1", "prefix-length": 24 }] } }] });
        let since = Since::default().and_came(&snapshot, &plan(), &desired, &now, &NmView::default(), &[]);
        let current = since.current(&snapshot);
        assert_eq!(ips(&current), ["eth0 10.9.0.99", "eth0 10.9.0.100"]);
        assert_eq!(current.routes, [snapshot.routes[0].clone(), bird]);
        assert_eq!(ports(&current), ["pod0", "pod2"]);
        let former = since.former(&snapshot);
        assert_eq!((ips(&former), &former.routes), (ips(&snapshot), &snapshot.routes));
        assert_eq!(ports(&former), ["pod0", "pod2"], "a port that is known is left alone");
    }

    #[test]
    fn what_its_owner_withdrew_stays_away() {
        let snapshot = snapshot();
        // It had moved with the addresses of its interface.
        let seen = kernel(&[("br1", "10.9.0.99")], &[route("203.0.113.0/24", 12, "br1")], &[]);
        let before = Others::before(&snapshot);
        let since = Since::withdrawn(&before, &seen, &kernel(&[], &[], &[]));
        for later in [since.former(&snapshot), since.current(&snapshot)] {
            assert!(later.foreign.is_empty() && later.routes.is_empty());
            assert_eq!(later.state["interfaces"][0]["ipv4"]["address"], json!([]), "no goal either");
            assert_eq!(later.state["routes"]["config"], json!([]));
        }
    }

    #[test]
    fn what_was_taken_away_with_its_interface_or_before_was_not_withdrawn() {
        let snapshot = snapshot();
        let before = Others::before(&snapshot);
        let seen = kernel(&[("eth0", "10.9.0.99")], &snapshot.routes, &["pod0"]);
        let anew =
            Kernel { links: vec![link("eth0", 9, None), link("br1", 8, None)], ..kernel(&[], &[], &[]) };
        let none = kernel(&[], &[], &[]);
        for (seen, now) in [(&seen, &anew), (&none, &none)] {
            let later = Since::withdrawn(&before, seen, now).current(&snapshot);
            assert_eq!((ips(&later), &later.routes), (ips(&snapshot), &snapshot.routes));
            assert_eq!(ports(&later), ["pod0"]);
        }
    }
}
