//! What moves from the uplink to the interface of the bridge: addresses, routes, rules, DNS.

use ipnet::IpNet;
use linesman_core::facts::{Facts, ProfileFact};
use linesman_core::state::{address, at, flag, list, network, text};
use serde_json::{Map, Value, json};

use super::{Bridge, stack};

#[derive(Debug, Default)]
pub(super) struct Layer3 {
    pub ipv4: Map<String, Value>,
    pub ipv6: Map<String, Value>,
    wait_ip: Option<Value>,
    routes: Vec<Value>,
    rules: Vec<Value>,
    dns: Option<Value>,
    pub notes: Vec<String>,
}

impl Layer3 {
    /// `imported` is the host as a person would have written it.
    pub fn of(imported: &Value, facts: &Facts, uplink: &str, bridge: Bridge) -> Self {
        let described = stack::device(imported, uplink);
        let of_family = |family: &str| section(described, family, bridge);
        let moved = Self {
            ipv4: of_family("ipv4"),
            ipv6: of_family("ipv6"),
            wait_ip: described.and_then(|uplink| uplink.get("wait-ip")).cloned(),
            ..Self::default()
        };
        if !moved.has_ip() {
            return moved;
        }
        let profiles = Profiles::of(facts, uplink);
        let mut notes = Vec::new();
        let dns = dns(imported, &profiles, bridge, &mut notes);
        let routes = routes(imported, uplink, bridge);
        notes.extend(low_metric(imported, described, uplink, bridge));
        Self { routes, rules: rules(imported, &profiles, uplink, bridge), dns, notes, ..moved }
    }

    fn has_ip(&self) -> bool {
        [&self.ipv4, &self.ipv6].iter().any(|family| family.get("enabled") == Some(&Value::Bool(true)))
    }

    pub fn of_interface(&self, entry: &mut Map<String, Value>) {
        entry.extend(self.wait_ip.clone().map(|wait| ("wait-ip".to_owned(), wait)));
        entry.insert("ipv4".into(), Value::Object(self.ipv4.clone()));
        entry.insert("ipv6".into(), Value::Object(self.ipv6.clone()));
    }

    pub fn of_host(self, state: &mut Map<String, Value>) {
        for (key, entries) in [("routes", self.routes), ("route-rules", self.rules)] {
            if !entries.is_empty() {
                state.insert(key.into(), json!({ "config": entries }));
            }
        }
        state.extend(self.dns.map(|dns| ("dns-resolver".to_owned(), json!({ "config": dns }))));
    }
}

fn is_automatic(family: &Map<String, Value>) -> bool {
    ["dhcp", "autoconf"].iter().any(|key| family.get(*key) == Some(&Value::Bool(true)))
}

fn section(uplink: Option<&Value>, family: &str, bridge: Bridge) -> Map<String, Value> {
    let written = uplink.and_then(|uplink| uplink.get(family));
    let Some(on) = written.filter(|family| flag(family, "enabled") == Some(true)).and_then(Value::as_object)
    else {
        return Map::from_iter([("enabled".to_owned(), Value::Bool(false))]);
    };
    let mut section = on.clone();
    // A profile may have the one that the kernel made; br-ex makes its own.
    if let Some(addresses) = section.get_mut("address").and_then(Value::as_array_mut) {
        addresses.retain(|entry| !address(entry).is_some_and(is_link_local));
    }
    if is_automatic(&section) {
        let chosen = section.get("auto-route-metric").and_then(Value::as_i64);
        let metric = chosen.map_or(bridge.metric(), |chosen| bridge.metric_instead_of(chosen));
        section.insert("auto-route-metric".into(), metric.into());
    }
    section
}

fn is_link_local(address: IpNet) -> bool {
    matches!(address, IpNet::V6(address) if address.addr().is_unicast_link_local())
}

fn is_through(route: &Value, interface: &str) -> bool {
    text(route, "next-hop-interface") == Some(interface)
}

/// The kernel does not show a metric of 0.
fn metric(route: &Value) -> i64 {
    route.get("metric").and_then(Value::as_i64).unwrap_or(0)
}

/// Default routes get the metric of the bridge; of several, the order stays.
fn routes(imported: &Value, uplink: &str, bridge: Bridge) -> Vec<Value> {
    let through = || list(imported, &["routes", "config"]).iter().filter(|route| is_through(route, uplink));
    let lowest = |family: &str| {
        through().filter(|route| default_of(route) == Some(family)).map(metric).min().unwrap_or(0)
    };
    let moved = through().map(|route| {
        let mut route = route.clone();
        route["next-hop-interface"] = bridge.name().into();
        if let Some(family) = default_of(&route) {
            let lowest = lowest(family);
            route["metric"] = (bridge.metric_instead_of(lowest) + metric(&route) - lowest).into();
        }
        route
    });
    moved.collect()
}

/// Somebody chose a metric for the default route that is below the one of the bridge.
fn low_metric(imported: &Value, described: Option<&Value>, uplink: &str, bridge: Bridge) -> Option<String> {
    let given =
        ["ipv4", "ipv6"].into_iter().filter_map(|family| described?.get(family)?.get("auto-route-metric"));
    let routes = list(imported, &["routes", "config"]).iter().filter(|route| is_through(route, uplink));
    let written = routes.filter(|route| default_of(route).is_some()).map(metric);
    let chosen =
        given.filter_map(Value::as_i64).chain(written).min().filter(|chosen| *chosen < bridge.metric())?;
    Some(match bridge {
        Bridge::BrEx => format!(
            "the default route keeps its metric {chosen}, which is below the usual {}",
            bridge.metric()
        ),
        Bridge::BrEx1 => format!(
            "the default route gets metric {} instead of {chosen}, so that it never is preferred to that of br-ex",
            bridge.metric()
        ),
    })
}

/// The family of a default route in the main table, whose number is not written.
fn default_of(route: &Value) -> Option<&'static str> {
    let destination = text(route, "destination").and_then(network)?;
    let is_default = destination.prefix_len() == 0 && route.get("table-id").is_none();
    is_default.then_some(if destination.addr().is_ipv4() { "ipv4" } else { "ipv6" })
}

/// What is known of the profiles on the host, those of the uplink apart.
struct Profiles<'a> {
    uplink: Vec<&'a ProfileFact>,
    others: Vec<&'a ProfileFact>,
}

impl<'a> Profiles<'a> {
    fn of(facts: &'a Facts, uplink: &str) -> Self {
        let active = facts.profiles.iter().filter(|profile| profile.active_on.is_some());
        let (uplink, others) = active.partition(|profile| profile.active_on.as_deref() == Some(uplink));
        Self { uplink, others }
    }

    fn others_with_dns(&self) -> Vec<&'a str> {
        let with_dns = self.others.iter().filter(|profile| profile.has_dns);
        with_dns.filter_map(|profile| profile.active_on.as_deref()).collect()
    }
}

/// NMState knows one list of servers for the host. What only other profiles have stays there if the document does not
/// mention it.
fn dns(imported: &Value, profiles: &Profiles<'_>, bridge: Bridge, notes: &mut Vec<String>) -> Option<Value> {
    let config = at(imported, &["dns-resolver", "config"]).filter(|config| *config != &json!({}))?;
    let others = profiles.others_with_dns().join(", ");
    if others.is_empty() {
        return Some(config.clone());
    }
    if !profiles.uplink.iter().any(|profile| profile.has_dns) {
        notes.push(format!("the DNS configuration is that of {others} and stays there"));
        return None;
    }
    notes.push(format!(
        "the DNS configuration of {others} is in the document too: NMState has one for the whole host, {bridge} gets it"
    ));
    Some(config.clone())
}

/// NetworkManager keeps a rule in the profile of an interface: those of the uplink move. Where the profiles are not
/// known, all may be in the uplink's but those about tables that only other interfaces fill.
fn rules(imported: &Value, profiles: &Profiles<'_>, uplink: &str, bridge: Bridge) -> Vec<Value> {
    let table = |route: &Value| route.get("table-id").and_then(Value::as_u64);
    let routes = list(imported, &["routes", "config"]);
    let is_of_others = |rule: &Value| {
        if !profiles.uplink.is_empty() {
            return !profiles.uplink.iter().any(|profile| profile.has_rule(rule));
        }
        let wanted = rule.get("route-table").and_then(Value::as_u64);
        let mut fill = routes.iter().filter(|route| wanted.is_some() && table(route) == wanted).peekable();
        fill.peek().is_some() && fill.all(|route| !is_through(route, uplink))
    };
    let of_others = |rule: &Value| text(rule, "iif").is_none_or(|iif| iif != uplink) && is_of_others(rule);
    let rules = list(imported, &["route-rules", "config"]).iter().filter(|rule| !of_others(rule));
    rules.flat_map(|rule| moved_rule(rule, uplink, bridge)).collect()
}

/// A rule about frames that come in through the uplink: they come in through the bridge now.
fn moved_rule(rule: &Value, uplink: &str, bridge: Bridge) -> Vec<Value> {
    if text(rule, "iif") != Some(uplink) {
        return vec![rule.clone()];
    }
    let (mut old, mut new) = (rule.clone(), rule.clone());
    old["state"] = "absent".into();
    new["iif"] = bridge.name().into();
    vec![old, new]
}
