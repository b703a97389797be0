//! Which interface carries the default route.

use serde_json::Value;

use super::DefaultRoute;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{at, interfaces, is_absent, kind, list, name, text};

/// The kernel's main table; 0 and nothing mean the same.
const MAIN: u64 = 254;

pub(super) struct DefaultRoutes<'a>(Vec<(&'a str, DefaultRoute)>);

impl<'a> DefaultRoutes<'a> {
    pub(super) fn of(state: &'a Value) -> Self {
        let running = Self::among(list(state, &["routes", "running"]), state);
        let found =
            if running.is_empty() { Self::among(list(state, &["routes", "config"]), state) } else { running };
        let preferred: Vec<bool> = found.iter().map(|(_, route)| is_preferred(route, &found)).collect();
        let chosen = found.into_iter().zip(preferred);
        Self(chosen.map(|((name, route), preferred)| (name, DefaultRoute { preferred, ..route })).collect())
    }

    fn among(routes: &'a [Value], state: &'a Value) -> Vec<(&'a str, DefaultRoute)> {
        routes
            .iter()
            .filter(|route| !is_absent(route))
            .filter_map(|route| default_route(route, state))
            .collect()
    }

    /// The order of a state's routes is chance; IPv4 first, then what is preferred.
    pub(super) fn through(&self, interface: &str) -> Vec<DefaultRoute> {
        let routes = self.0.iter().filter(|(name, _)| *name == interface).map(|(_, route)| route.clone());
        let mut routes: Vec<DefaultRoute> = routes.collect();
        routes.sort_by(|a, b| (a.family, a.metric, &a.via).cmp(&(b.family, b.metric, &b.via)));
        routes
    }
}

fn default_route<'a>(route: &'a Value, state: &Value) -> Option<(&'a str, DefaultRoute)> {
    let family = match text(route, "destination")? {
        "0.0.0.0/0" => "ipv4",
        "::/0" => "ipv6",
        _ => return None,
    };
    let vrf = match route.get("table-id").and_then(Value::as_u64).unwrap_or(MAIN) {
        0 | MAIN => None,
        table => Some(vrf_of(table, state)?),
    };
    let via = text(route, "next-hop-address").filter(|via| !via.is_empty()).map(str::to_owned);
    let metric = route.get("metric").and_then(Value::as_i64).filter(|metric| *metric >= 0);
    Some((text(route, "next-hop-interface")?, DefaultRoute { family, via, metric, vrf, preferred: false }))
}

fn vrf_of(table: u64, state: &Value) -> Option<String> {
    let mut vrfs = interfaces(state).iter().filter(|interface| kind(interface) == InterfaceKind::Vrf);
    let owns = |vrf: &&Value| at(vrf, &["vrf", "route-table-id"]).and_then(Value::as_u64) == Some(table);
    vrfs.find(owns).map(|vrf| name(vrf).to_owned())
}

fn is_preferred(route: &DefaultRoute, all: &[(&str, DefaultRoute)]) -> bool {
    let others = all.iter().map(|(_, other)| other);
    let others = others.filter(|other| other.family == route.family && other.vrf.is_none());
    route.vrf.is_none() && others.map(|other| other.metric).min() == Some(route.metric)
}
