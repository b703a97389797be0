//! Static routes.

use std::collections::HashMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use super::view::{Presence, State, family, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::path::{Path, PathStep};
use crate::state::prefix;

const MAIN_TABLE: i128 = 254;

struct Route<'a> {
    path: Path,
    value: &'a Value,
}

impl<'a> Route<'a> {
    fn word(&self, key: &str) -> Option<&'a str> {
        text(self.value.get(key)).filter(|word| !word.is_empty())
    }

    /// Nothing when it is missing, malformed, or waits for a capture.
    fn destination(&self) -> Option<IpNet> {
        self.word("destination").and_then(prefix)
    }

    fn is_unicast(&self) -> bool {
        self.value.get("route-type").is_none_or(Value::is_null)
    }

    fn is_missing(&self, key: &str) -> bool {
        self.value.get(key).is_none_or(|value| value.is_null() || value.as_str() == Some(""))
    }
}

/// Routes to be added; those to be removed may use wildcards.
fn wanted<'a>(state: &State<'a>) -> Vec<Route<'a>> {
    let entries = state.entries("routes", "config").into_iter().filter(|(_, value)| value.is_object());
    let added = entries.filter(|(_, value)| !matches!(text(value.get("state")), Some("absent" | "ignore")));
    added.map(|(path, value)| Route { path, value }).collect()
}

pub(super) fn destinations(state: &State<'_>) -> Vec<Diagnostic> {
    wanted(state).iter().filter_map(bad_destination).collect()
}

fn bad_destination(route: &Route<'_>) -> Option<Diagnostic> {
    if route.is_missing("destination") {
        let diagnostic = Diagnostic::new(codes::NO_DESTINATION, "this route has no destination");
        let hint = "add 'destination:'; 0.0.0.0/0 or ::/0 is the default route";
        return Some(diagnostic.at(route.path.clone()).hint(hint));
    }
    let written = route.word("destination")?;
    let path = route.path.key("destination");
    let Some(network) = prefix(written) else {
        let hint = match written {
            "default" => "write 0.0.0.0/0 for IPv4, ::/0 for IPv6",
            _ => "write a network like 192.0.2.0/24 or 2001:db8::/64",
        };
        let message = format!("'{written}' is not a network");
        return Some(Diagnostic::new(codes::BAD_DESTINATION, message).at(path).hint(hint));
    };
    let trimmed = network.trunc();
    if trimmed != network {
        let message = format!("the destination {written} has bits set beyond its prefix");
        return Some(Diagnostic::new(codes::HOST_BITS, message).at(path).hint(format!("write {trimmed}")));
    }
    let is_this_network =
        matches!(network.addr(), IpAddr::V4(v4) if v4.octets()[0] == 0) && network.prefix_len() >= 8;
    if is_this_network && route.is_unicast() {
        let message = format!("{written} cannot be routed to");
        let diagnostic = Diagnostic::new(codes::BAD_DESTINATION, message).at(path);
        return Some(diagnostic.hint("the default route is 0.0.0.0/0"));
    }
    None
}

pub(super) fn next_hops(state: &State<'_>) -> Vec<Diagnostic> {
    wanted(state).iter().filter_map(|route| bad_next_hop(route).or_else(|| no_interface(route))).collect()
}

fn bad_next_hop(route: &Route<'_>) -> Option<Diagnostic> {
    let written = route.word("next-hop-address")?;
    let path = route.path.key("next-hop-address");
    let Ok(address) = written.parse::<IpAddr>() else {
        let message = format!("the next hop '{written}' is not an IP address");
        let diagnostic = Diagnostic::new(codes::BAD_NEXT_HOP, message).at(path);
        return Some(match prefix(written) {
            Some(network) => diagnostic.hint(format!("write {}, without a prefix", network.addr())),
            None => diagnostic,
        });
    };
    let destination = route.destination()?;
    if family(address) == family(destination.addr()) {
        return None;
    }
    let message = format!(
        "the next hop {written} is {}, but the destination {destination} is {}",
        family(address),
        family(destination.addr())
    );
    let diagnostic = Diagnostic::new(codes::NEXT_HOP_FAMILY, message).at(path);
    Some(diagnostic.hint("use a next hop of the same family"))
}

fn no_interface(route: &Route<'_>) -> Option<Diagnostic> {
    if route.is_unicast() && route.is_missing("next-hop-interface") {
        let diagnostic = Diagnostic::new(codes::NO_WAY_OUT, "this route has no next hop interface");
        return Some(diagnostic.at(route.path.clone()).hint("add 'next-hop-interface:'"));
    }
    let via =
        route.word("next-hop-interface").filter(|name| *name != "lo").or(route.word("next-hop-address"))?;
    if route.is_unicast() {
        return None;
    }
    let kind = route.word("route-type").unwrap_or_default();
    let message = format!("a {kind} route cannot have the next hop interface '{via}'");
    let diagnostic = Diagnostic::new(codes::NO_WAY_OUT, message).at(route.path.clone());
    Some(diagnostic.hint("remove the next hop, or 'route-type'"))
}

/// Routes via an interface that the same document takes away.
pub(super) fn ways_out(state: &State<'_>) -> Vec<Diagnostic> {
    wanted(state).iter().filter_map(|route| closed(state, route)).collect()
}

fn closed(state: &State<'_>, route: &Route<'_>) -> Option<Diagnostic> {
    let name = route.word("next-hop-interface")?;
    let interface = state.kernel(name)?;
    let (key, version) = match route.destination().map(|network| network.addr().is_ipv4()) {
        Some(true) => ("ipv4", "IPv4"),
        Some(false) => ("ipv6", "IPv6"),
        None => ("", ""),
    };
    let reason = match interface.presence {
        Presence::Absent => "is removed by this document".to_owned(),
        Presence::Down => "is set down by this document".to_owned(),
        _ if interface.ip_enabled(key) == Some(false) => format!("has {version} disabled in this document"),
        _ => return None,
    };
    let diagnostic =
        Diagnostic::new(codes::WAY_OUT_CLOSED, format!("the route goes via '{name}', which {reason}"));
    let hint = "use another next hop interface, or change the entry of this one";
    Some(diagnostic.at(route.path.key("next-hop-interface")).hint(hint))
}

/// What decides which of two routes is taken.
#[derive(PartialEq, Eq, Hash)]
struct RouteKey<'a> {
    destination: IpNet,
    table: (i128, Option<&'a str>),
    metric: Metric<'a>,
}

/// Without a metric NetworkManager gives each device one of its own.
#[derive(PartialEq, Eq, Hash)]
enum Metric<'a> {
    Given(i128),
    OfDevice(Option<&'a str>),
}

pub(super) fn overlaps(state: &State<'_>) -> Vec<Diagnostic> {
    let routes = wanted(state);
    let mut routes_by_key: HashMap<RouteKey<'_>, &Route<'_>> = HashMap::new();
    let mut found = Vec::new();
    for route in routes.iter().filter(|route| !waits_for_capture(route.value)) {
        let Some(key) = key(route) else { continue };
        let first = *routes_by_key.entry(key).or_insert(route);
        if next_hop(first) != next_hop(route) && !share_traffic(first, route) {
            found.push(overlap(first, route));
        }
    }
    found
}

fn waits_for_capture(route: &Value) -> bool {
    route.as_object().is_some_and(|map| map.values().any(|v| v.is_string() && text(Some(v)).is_none()))
}

fn key<'a>(route: &Route<'a>) -> Option<RouteKey<'a>> {
    let destination = route.destination()?.trunc();
    let table = number(route.value.get("table-id")).filter(|table| *table != 0).unwrap_or(MAIN_TABLE);
    let metric = match number(route.value.get("metric")).filter(|metric| *metric >= 0) {
        Some(metric) => Metric::Given(metric),
        None => Metric::OfDevice(route.word("next-hop-interface")),
    };
    Some(RouteKey { destination, table: (table, route.word("vrf-name")), metric })
}

fn next_hop<'a>(route: &Route<'a>) -> (Option<&'a str>, Option<IpAddr>, Option<&'a str>) {
    let address = route.word("next-hop-address").and_then(|address| address.parse().ok());
    (route.word("next-hop-interface"), address, route.word("route-type"))
}

/// Several next hops on purpose: weights say so in IPv4; in IPv6, where NMState has no weights, the kernel itself
/// joins routes with gateways into one.
fn share_traffic(first: &Route<'_>, second: &Route<'_>) -> bool {
    let both = |test: fn(&Route<'_>) -> bool| test(first) && test(second);
    both(|route| !route.is_missing("weight"))
        || both(|route| {
            let is_v6 = route.destination().is_some_and(|network| network.addr().is_ipv6());
            is_v6 && !route.is_missing("next-hop-address")
        })
}

fn overlap(first: &Route<'_>, second: &Route<'_>) -> Diagnostic {
    let number = match first.path.last() {
        Some(PathStep::Index(index)) => index + 1,
        _ => 1,
    };
    let destination = second.word("destination").unwrap_or_default();
    let message = format!(
        "this route to {destination} overlaps entry {number} of the list: same table and metric, another next hop"
    );
    let hint = "give them different metrics, or weights to balance the traffic";
    Diagnostic::new(codes::ROUTES_OVERLAP, message).at(second.path.key("destination")).hint(hint)
}
