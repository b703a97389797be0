//! Gateways, routes and routing policy.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::Work;
use crate::import::draft::{Section, destination, put};
use crate::import::fields::{Fields, Place};
use linesman_core::state::address;

/// Where a route leaves the host: its device, or one of a VRF's ports.
pub(super) enum NextHopDevice<'a> {
    Interface(&'a str),
    Ports(Vec<Port>),
}

/// A VRF's port and the networks it is in.
pub(super) struct Port {
    name: String,
    networks: Vec<IpNet>,
}

impl NextHopDevice<'_> {
    /// Of a VRF's ports the one in whose network the next hop is; else the first.
    fn name(&self, hop: Option<IpAddr>) -> &str {
        let ports = match self {
            NextHopDevice::Interface(name) => return name,
            NextHopDevice::Ports(ports) => ports,
        };
        let reaches =
            |port: &&Port| hop.is_some_and(|hop| port.networks.iter().any(|network| network.contains(&hop)));
        ports.iter().find(reaches).or(ports.first()).map_or("", |port| &port.name)
    }
}

impl Work<'_> {
    pub(super) fn ports_of(&self, names: &[String]) -> Vec<Port> {
        let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let named = |interface: &Section| {
            interface
                .get("name")
                .and_then(Value::as_str)
                .filter(|name| wanted.contains(name))
                .map(str::to_owned)
        };
        let networks = |interface: &Section| {
            let lists = ["ipv4", "ipv6"]
                .iter()
                .filter_map(|family| interface.get(*family)?.get("address")?.as_array());
            lists.flatten().filter_map(address).map(|address| address.trunc()).collect()
        };
        let declared =
            self.draft.interfaces.iter().filter_map(|interface| {
                Some(Port { name: named(interface)?, networks: networks(interface) })
            });
        let first = names.first().map(|name| Port { name: name.clone(), networks: Vec::new() });
        declared.chain(first).collect()
    }

    /// `table` is that of the VRF the routes belong to.
    pub(super) fn routes(&mut self, fields: &mut Fields, device: &NextHopDevice<'_>, table: Option<u32>) {
        for (key, everywhere) in [("gateway4", "0.0.0.0/0"), ("gateway6", "::/0")] {
            let Some(gateway) = fields.text(key, &mut self.log) else { continue };
            let Some(ip) =
                gateway.value.parse::<IpAddr>().ok().filter(|ip| ip.is_ipv4() == (key == "gateway4"))
            else {
                let message = format!("'{}' is not a gateway of this family", gateway.value);
                self.log.fault(gateway.place, message, "write an IP address");
                continue;
            };
            let (hop, out) = (ip.to_string(), device.name(Some(ip)));
            self.draft.routes.push(
                json!({ "destination": everywhere, "next-hop-address": hop, "next-hop-interface": out }),
            );
        }
        for item in fields.items("routes", &mut self.log) {
            let place = item.place;
            if let Some(route) = item.fields("a route", &mut self.log) {
                let route = self.route(route, place, device, table);
                self.draft.routes.extend(route);
            }
        }
        for item in fields.items("routing-policy", &mut self.log) {
            let place = item.place;
            if let Some(rule) = item.fields("a routing policy", &mut self.log) {
                let rule = self.rule(rule, place, table);
                self.draft.rules.extend(rule);
            }
        }
    }

    fn route(
        &mut self,
        mut fields: Fields,
        place: Place,
        device: &NextHopDevice<'_>,
        table: Option<u32>,
    ) -> Option<Value> {
        let via = fields.text("via", &mut self.log);
        let hop = via.as_ref().and_then(|at| at.value.parse::<IpAddr>().ok());
        let out = device.name(hop).to_owned();
        let log = &mut self.log;
        if let (Some(at), None) = (&via, hop) {
            log.fault(at.place, format!("'{}' is not a next hop", at.value), "write an IP address");
            return None;
        }
        let Some(to) = fields.text("to", log) else {
            log.fault(
                place,
                "the route does not say where 'to'",
                "write e.g. 'to: 198.51.100.0/24' or 'to: default'",
            );
            return None;
        };
        let everywhere = if hop.is_some_and(|hop| hop.is_ipv6()) { "::/0" } else { "0.0.0.0/0" };
        let written = if to.value == "default" { everywhere } else { to.value.as_str() };
        let Some(to) = destination(written) else {
            log.fault(
                to.place,
                format!("'{}' is not a destination", to.value),
                "write NETWORK/PREFIX or default",
            );
            return None;
        };
        let mut route = Section::from_iter([("destination".to_owned(), Value::from(to.to_string()))]);
        put(&mut route, "next-hop-address", hop.map(|hop| hop.to_string()));
        let kind = fields.value("type", log).filter(|kind| kind != "unicast");
        match kind.as_deref() {
            Some(kind @ ("blackhole" | "unreachable" | "prohibit")) => {
                drop(route.insert("route-type".into(), kind.into()))
            }
            Some(other) => log.note(
                place,
                fields.named("type"),
                format!("a route of type '{other}' is not supported by NMState"),
            ),
            None => drop(route.insert("next-hop-interface".into(), out.into())),
        }
        put(&mut route, "metric", fields.number::<i64>("metric", log));
        put(&mut route, "table-id", fields.number::<u32>("table", log).or(table));
        put(&mut route, "source", fields.value("from", log));
        put(&mut route, "mtu", fields.number::<u32>("mtu", log));
        put(&mut route, "initcwnd", fields.number::<u32>("congestion-window", log));
        put(&mut route, "initrwnd", fields.number::<u32>("advertised-receive-window", log));
        put(&mut route, "advmss", fields.number::<u32>("advertised-mss", log));
        // The kernel chooses the same when a route has a next hop, or none.
        if fields
            .clone()
            .text("scope", log)
            .is_some_and(|at| at.value == if hop.is_some() { "global" } else { "link" })
        {
            fields.take("scope");
        }
        fields.leave("not supported by NMState", log);
        Some(Value::Object(route))
    }

    fn rule(&mut self, mut fields: Fields, place: Place, table: Option<u32>) -> Option<Value> {
        let log = &mut self.log;
        let mut rule = Section::new();
        let mut ipv6 = None;
        for (theirs, ours) in [("from", "ip-from"), ("to", "ip-to")] {
            let Some(network) = fields.text(theirs, log) else { continue };
            match destination(&network.value) {
                Some(network) => {
                    ipv6 = Some(network.addr().is_ipv6());
                    rule.insert(ours.to_owned(), network.to_string().into());
                }
                None => log.fault(
                    network.place,
                    format!("'{}' is not a network", network.value),
                    "write NETWORK/PREFIX",
                ),
            }
        }
        let family = if ipv6 == Some(true) { "ipv6" } else { "ipv4" };
        if ipv6.is_none() {
            log.note(place, fields.path.clone(), "the rule has no address: IPv4 assumed");
        }
        rule.insert("family".into(), family.into());
        put(&mut rule, "priority", fields.number::<i64>("priority", log));
        put(&mut rule, "route-table", fields.number::<u32>("table", log).or(table));
        put(&mut rule, "fwmark", fields.number::<u32>("mark", log));
        fields.leave("not supported by NMState", log);
        Some(Value::Object(rule))
    }
}
