//! The OpenFlow port numbers of a bridge's uplinks.
//!
//! Flows of OVN-Kubernetes match on the number of the uplink and are not written again when it changes. Open vSwitch gives a
//! port a new number whenever its row is made anew, which NetworkManager does at each activation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::codes::RENUMBERED;
use crate::compare::View;
use crate::facts::{Facts, UplinkFact};
use crate::interface_kind::InterfaceKind;
use crate::interface_name::InterfaceName;
use crate::state::{self, interfaces, is_up, kind, name};

/// An uplink of a bridge that the change touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uplink {
    pub bridge: InterfaceName,
    pub interface: InterfaceName,
    /// The OpenFlow port number that it keeps, or takes over from its predecessor; None: it is new, and keeps the one that it
    /// gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ofport: Option<u16>,
}

/// The uplinks of all touched bridges, and what is to be said about numbers that change.
pub(super) fn find(
    view: &View<'_>,
    facts: &Facts,
    touched: &BTreeSet<InterfaceName>,
) -> (Vec<Uplink>, Vec<String>) {
    let (mut uplinks, mut warnings) = (Vec::new(), Vec::new());
    for bridge in &bridges(view) {
        let Some(ports) = ports(view, bridge) else { continue };
        if !touched.contains(bridge) && !ports.iter().any(|port| touched.contains(*port)) {
            continue;
        }
        let bridge = Bridge { name: bridge, ports, facts };
        warnings.extend(bridge.warnings());
        uplinks.extend(bridge.uplinks());
    }
    (uplinks, warnings)
}

fn bridges(view: &View<'_>) -> BTreeSet<InterfaceName> {
    let all = interfaces(view.desired).iter().chain(interfaces(view.observed));
    all.filter(|i| kind(i) == InterfaceKind::OvsBridge).map(|i| InterfaceName::from(name(i))).collect()
}

/// The devices that are ports of the bridge after the change; None: there is no such bridge then.
fn ports<'v>(view: &'v View<'_>, bridge: &str) -> Option<Vec<&'v str>> {
    let declared = view.declared_as(bridge).find(|want| kind(want) == InterfaceKind::OvsBridge);
    let now = view.now(bridge, InterfaceKind::OvsBridge).filter(|now| kind(now) == InterfaceKind::OvsBridge);
    if declared.or(now).is_none_or(|bridge| !is_up(bridge)) {
        return None;
    }
    let ports = declared.and_then(state::ports).or_else(|| now.and_then(state::ports)).unwrap_or_default();
    let ports = ports.into_iter().map(|port| view.device(port));
    Some(ports.filter(|port| *port != bridge && is_device(view, port)).collect())
}

/// An internal port or a patch port leads nowhere outside; one of DPDK does.
fn is_device(view: &View<'_>, port: &str) -> bool {
    let of_port = |state| interfaces(state).iter().filter(|i| name(i) == port);
    let leads_inside = |i: &Value| kind(i) == InterfaceKind::OvsInterface && i["dpdk"].is_null();
    !of_port(view.desired).chain(of_port(view.observed)).any(leads_inside)
}

struct Bridge<'a> {
    name: &'a InterfaceName,
    /// After the change.
    ports: Vec<&'a str>,
    facts: &'a Facts,
}

impl<'a> Bridge<'a> {
    fn uplinks(&self) -> impl Iterator<Item = Uplink> {
        let uplink = |port: &&str| Uplink {
            bridge: self.name.clone(),
            interface: InterfaceName::from(*port),
            ofport: self.number(port),
        };
        self.ports.iter().map(uplink)
    }

    fn number(&self, port: &str) -> Option<u16> {
        let own = self.before().find(|uplink| uplink.interface == port);
        own.map(|uplink| uplink.ofport).or_else(|| match (&self.leaving()[..], &self.joining()[..]) {
            ([former], [only]) if *only == port => self.asked_by_profile(port).or(Some(former.ofport)),
            _ => None,
        })
    }

    fn warnings(&self) -> Vec<String> {
        let (leaving, joining) = (self.leaving(), self.joining());
        let bridge = self.name;
        match (&leaving[..], &joining[..]) {
            (_, []) => Vec::new(),
            ([former], [only]) => {
                let asked = self.asked_by_profile(only).filter(|asked| *asked != former.ofport);
                let warning = |asked: u16| {
                    format!(
                        "{only} replaces {} in {bridge}, but its profile requests the OpenFlow port number {asked}: flows \
                         that match on number {} stop working [{RENUMBERED}]",
                        former.interface, former.ofport
                    )
                };
                asked.map(warning).into_iter().collect()
            }
            (leaving, joining) => {
                let joining = joining.join(", ");
                let warning = |former: &&UplinkFact| {
                    format!(
                        "{} leaves {bridge}, and which of its new uplinks ({joining}) takes over the OpenFlow port number {} \
                         is not known: flows that match on it stop working [{RENUMBERED}]",
                        former.interface, former.ofport
                    )
                };
                leaving.iter().map(warning).collect()
            }
        }
    }

    fn before(&self) -> impl Iterator<Item = &'a UplinkFact> {
        self.facts.uplinks.iter().filter(|uplink| self.name == uplink.bridge.as_str())
    }

    /// Ports of others stay, whatever is declared.
    fn leaving(&self) -> Vec<&'a UplinkFact> {
        let leaves =
            |uplink: &&UplinkFact| uplink.managed && !self.ports.contains(&uplink.interface.as_str());
        self.before().filter(leaves).collect()
    }

    fn joining(&self) -> Vec<&'a str> {
        let is_new = |port: &&&str| !self.before().any(|uplink| uplink.interface == ***port);
        self.ports.iter().filter(is_new).copied().collect()
    }

    /// What somebody wrote there; a number that the NIC has in another bridge is none for this one.
    fn asked_by_profile(&self, port: &str) -> Option<u16> {
        let elsewhere = self.facts.uplinks.iter().any(|uplink| uplink.interface == port);
        let mut of_port = self.facts.profiles.iter().filter(|p| p.interface.as_deref() == Some(port));
        of_port.find_map(|profile| profile.ofport_request).filter(|_| !elsewhere)
    }
}
