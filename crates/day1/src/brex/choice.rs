//! Which interface becomes the uplink: the one that somebody named, the earlier one, or that of the default route. The
//! choice explains itself.

use std::fmt;

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::interface_name::InterfaceName;
use linesman_core::state::{interfaces, kind, list, name, network, text};
use serde_json::Value;

use super::{BrexError, Bridge, Options, existing};

/// The kernel's table `main`.
const MAIN: u64 = 254;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub interface: String,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    Named,
    /// An earlier run chose it, and it still has a default route.
    Earlier {
        lower: Option<DefaultRoute>,
    },
    DefaultRoute {
        route: DefaultRoute,
        others: Vec<DefaultRoute>,
    },
}

/// In the order of preference: IPv4 before IPv6, then the metric, then the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefaultRoute {
    family: Family,
    metric: u64,
    interface: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    V4,
    V6,
}

pub(super) fn choose(observed: &Value, options: &Options) -> Result<Choice, BrexError> {
    if let Some(named) = &options.interface {
        InterfaceName::check(named).map_err(BrexError::BadName)?;
        return Ok(Choice { interface: named.clone(), reason: Reason::Named });
    }
    let mut routes = default_routes(observed, options).into_iter();
    let Some(first) = routes.next() else { return Err(no_candidate(observed, options.bridge)) };
    let mut others: Vec<DefaultRoute> = Vec::new();
    for route in routes {
        let is_new = |known: &DefaultRoute| known.interface != route.interface;
        if is_new(&first) && others.iter().all(is_new) {
            others.push(route);
        }
    }
    let has_default_route =
        |name: &&String| **name == first.interface || others.iter().any(|other| other.interface == **name);
    Ok(match options.earlier.as_ref().filter(has_default_route) {
        Some(earlier) => {
            let lower = (first.interface != *earlier).then_some(first);
            Choice { interface: earlier.clone(), reason: Reason::Earlier { lower } }
        }
        None => {
            let interface = first.interface.clone();
            Choice { interface, reason: Reason::DefaultRoute { route: first, others } }
        }
    })
}

fn no_candidate(observed: &Value, bridge: Bridge) -> BrexError {
    let routes: Vec<DefaultRoute> =
        list(observed, &["routes", "running"]).iter().filter_map(default_route).collect();
    let has_one = |bridge: Bridge| routes.iter().any(|route| route.interface == bridge.name());
    if has_one(bridge) {
        BrexError::NoUplink { bridge }
    } else if has_one(bridge.other()) {
        BrexError::OtherBridge { bridge, other: bridge.other() }
    } else {
        BrexError::NoDefaultRoute { bridge }
    }
}

/// The best first. Interfaces of the other bridge are not candidates, and the bridge itself is none.
fn default_routes(observed: &Value, options: &Options) -> Vec<DefaultRoute> {
    let other = options.bridge.other();
    let taken = existing::uplinks(observed, other);
    let is_candidate = |route: &DefaultRoute| {
        let name = route.interface.as_str();
        name != options.bridge.name() && name != other.name() && !taken.contains(&name)
    };
    let running = list(observed, &["routes", "running"]).iter().filter_map(default_route);
    let mut routes: Vec<DefaultRoute> = running.filter(is_candidate).collect();
    routes.sort();
    routes
}

fn default_route(route: &Value) -> Option<DefaultRoute> {
    let destination = network(text(route, "destination")?).filter(|network| network.prefix_len() == 0)?;
    let table = route.get("table-id").and_then(Value::as_u64).unwrap_or(MAIN);
    let interface = text(route, "next-hop-interface").filter(|name| !name.is_empty())?;
    (table == MAIN || table == 0).then(|| DefaultRoute {
        family: if destination.addr().is_ipv4() { Family::V4 } else { Family::V6 },
        metric: route.get("metric").and_then(Value::as_u64).unwrap_or(0),
        interface: interface.to_owned(),
    })
}

impl Choice {
    /// There is no such interface.
    pub(super) fn vanished(&self, observed: &Value) -> BrexError {
        let is_candidate = |it: &&Value| {
            kind(it) == InterfaceKind::Bond || kind(it) == InterfaceKind::Vlan || kind(it).is_nic()
        };
        let known = interfaces(observed).iter().filter(is_candidate).map(|it| name(it).to_owned());
        BrexError::NoInterface { interface: self.interface.clone(), known: known.collect() }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.interface;
        match &self.reason {
            Reason::Named => write!(f, "{name} was named on the command line"),
            Reason::Earlier { lower: None } => {
                write!(f, "{name} was chosen before and still has a default route")
            }
            Reason::Earlier { lower: Some(lower) } => {
                write!(
                    f,
                    "{name} was chosen before and still has a default route; it is preferred to that of {lower}"
                )
            }
            Reason::DefaultRoute { route, others } => {
                write!(f, "the default route is that of {route}")?;
                let others: Vec<String> = others.iter().map(ToString::to_string).collect();
                if others.is_empty() { Ok(()) } else { write!(f, "; others: {}", others.join(", ")) }
            }
        }
    }
}

impl fmt::Display for DefaultRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = match self.family {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        };
        write!(f, "{} ({family}, metric {})", self.interface, self.metric)
    }
}
