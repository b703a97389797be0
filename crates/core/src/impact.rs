//! How much a change disturbs the host.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bond_option;
use crate::compare::View;
use crate::interface_kind::InterfaceKind;
use crate::path::PathStep;
use crate::plan::{Change, ChangeKind, Detail, Subject};
use crate::reach::{self, OwnPath};
use crate::state::{self, interfaces, is_up, list, name, network, text};

/// How deep a change cuts, from not at all to the path by which the host is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// Nothing changes.
    #[default]
    None,
    /// Only new things appear; whatever carries traffic stays as it is.
    Additive,
    /// Something that exists changes.
    Disruptive,
    /// It touches the path by which this host is reached.
    OwnPath,
}

/// What a change does to the host, and why that was concluded.
#[derive(Debug)]
pub(crate) struct ImpactAssessment {
    pub(crate) impact: Impact,
    pub(crate) reason: Option<String>,
}

impl ImpactAssessment {
    fn new(impact: Impact, reason: impl Into<Option<String>>) -> Self {
        Self { impact, reason: reason.into() }
    }
}

/// Assesses the worst of all changes.
pub(crate) struct ImpactAssessor<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) own_path: &'a OwnPath,
    pub(crate) protect: Option<IpAddr>,
}

impl ImpactAssessor<'_> {
    pub(crate) fn assess<'t>(
        &self,
        changes: &[Change],
        touched: impl Iterator<Item = &'t str>,
    ) -> ImpactAssessment {
        if changes.is_empty() {
            return ImpactAssessment::new(Impact::None, None);
        }
        if let Some(reason) = self.first_on_path(touched) {
            return ImpactAssessment::new(Impact::OwnPath, reason);
        }
        let mut worst = ImpactAssessment::new(Impact::None, None);
        for assessment in changes.iter().map(|change| self.of(change)) {
            if assessment.impact > worst.impact {
                worst = assessment;
            }
        }
        worst
    }

    /// The uppermost touched interface of the path matters most.
    fn first_on_path<'t>(&self, touched: impl Iterator<Item = &'t str>) -> Option<String> {
        let mut reasons: Vec<String> = touched.filter_map(|device| self.own_path.explain(device)).collect();
        reasons.sort_by_key(|reason| reason.contains(" lies below "));
        reasons.into_iter().next()
    }

    fn of(&self, change: &Change) -> ImpactAssessment {
        match &change.subject {
            Subject::Interface { name, .. } => self.of_interface(change, name),
            Subject::Route { .. } => self.of_route(change),
            Subject::RouteRule { .. } => self.of_rule(change),
            Subject::OvsDb if change.details.iter().all(|detail| detail.got.is_null()) => {
                ImpactAssessment::new(Impact::Additive, None)
            }
            Subject::OvsDb => ImpactAssessment::new(
                Impact::Disruptive,
                "keys in the Open vSwitch database change".to_owned(),
            ),
            Subject::Dns => ImpactAssessment::new(Impact::Disruptive, "name resolution changes".to_owned()),
            Subject::Hostname => {
                ImpactAssessment::new(Impact::Disruptive, "the host's name changes".to_owned())
            }
        }
    }

    fn of_interface(&self, change: &Change, device: &str) -> ImpactAssessment {
        let disruptive = |what: &str| ImpactAssessment::new(Impact::Disruptive, format!("{device} {what}"));
        match change.kind {
            ChangeKind::Add => match self.joins_own_network(change) {
                Some(reason) => ImpactAssessment::new(Impact::Disruptive, reason),
                None => ImpactAssessment::new(Impact::Additive, None),
            },
            ChangeKind::Remove => disruptive("is removed"),
            ChangeKind::Persist => disruptive("gets its profile rewritten"),
            ChangeKind::Modify if self.interrupts_bond(change, device) => {
                disruptive("loses its ports and is down for a moment")
            }
            ChangeKind::Modify if change.details.iter().any(is_other_mtu) => disruptive("gets another MTU"),
            ChangeKind::Modify if change.details.iter().any(is_other_count) => {
                disruptive("gets another number of virtual functions: those it has are created anew")
            }
            ChangeKind::Modify if self.is_idle(device) || change.details.iter().all(is_new_address) => {
                ImpactAssessment::new(Impact::Additive, None)
            }
            ChangeKind::Modify => disruptive("changes"),
        }
    }

    fn interrupts_bond(&self, change: &Change, device: &str) -> bool {
        let has_ports = |bond: &Value| state::ports(bond).is_some_and(|ports| !ports.is_empty());
        self.view.now(device, InterfaceKind::Bond).is_some_and(has_ports)
            && change.details.iter().any(|detail| bond_option::interrupts(&detail.path))
    }

    /// A second interface in the network by which the host is reached may draw its traffic.
    fn joins_own_network(&self, change: &Change) -> Option<String> {
        let networks = |interface: &Value| -> Vec<IpNet> {
            state::addresses(interface).map(|address| address.trunc()).collect()
        };
        let Subject::Interface { name: device, .. } = &change.subject else {
            return None;
        };
        let new = networks(self.view.declares(device)?);
        self.own_path.devices().filter_map(|own| self.view.now(own, InterfaceKind::Unknown)).find_map(|own| {
            let shared = networks(own).into_iter().find(|network| new.contains(network))?;
            Some(format!("{device} joins {shared}, the network of {}", name(own)))
        })
    }

    /// Nothing runs over it: down, or without addresses, controller, routes and interfaces on top.
    fn is_idle(&self, device: &str) -> bool {
        let observed = self.view.observed;
        let Some(interface) =
            self.view.now(device, InterfaceKind::Unknown).filter(|interface| is_up(interface))
        else {
            return true;
        };
        let is_link_local = |ip: IpAddr| matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
        let has_address = state::addresses(interface).any(|address| !is_link_local(address.addr()));
        let has_controller = text(interface, "controller").is_some_and(|controller| !controller.is_empty());
        let has_ports = state::ports(interface).is_some_and(|ports| !ports.is_empty());
        let carries = interfaces(observed)
            .iter()
            .any(|upper| state::base(upper).is_some_and(|(_, base)| base == device));
        let routes = list(observed, &["routes", "running"]);
        let is_hop = routes.iter().any(|route| text(route, "next-hop-interface") == Some(device));
        !(has_address || has_controller || has_ports || carries || is_hop)
    }

    fn of_route(&self, change: &Change) -> ImpactAssessment {
        let routes = change
            .details
            .iter()
            .flat_map(|detail| [&detail.want, &detail.got])
            .filter(|route| route.is_object());
        for route in routes.clone() {
            if let Some(reason) = self.diverts(route) {
                return ImpactAssessment::new(Impact::OwnPath, reason);
            }
        }
        match change.kind {
            ChangeKind::Add => ImpactAssessment::new(Impact::Additive, None),
            _ => ImpactAssessment::new(Impact::Disruptive, "an existing route changes".to_owned()),
        }
    }

    /// A default route beside or instead of the one in use, or a better way to the address to protect.
    fn diverts(&self, route: &Value) -> Option<String> {
        let destination = text(route, "destination").filter(|_| reach::is_in_main_table(route))?;
        let same_family = |other: &&Value| text(other, "destination") == Some(destination);
        let in_use = list(self.view.observed, &["routes", "running"]).iter().any(|route| same_family(&route));
        if reach::is_default(route) && in_use {
            return Some(format!("the default route {destination} by which this host is reached changes"));
        }
        let protect =
            self.protect.filter(|ip| network(destination).is_some_and(|network| network.contains(ip)))?;
        Some(format!("the route {destination} leads to {protect}, the address to protect"))
    }

    fn of_rule(&self, change: &Change) -> ImpactAssessment {
        let rules = change
            .details
            .iter()
            .flat_map(|detail| [&detail.want, &detail.got])
            .filter(|rule| rule.is_object());
        for rule in rules {
            if self.matches_own_traffic(rule) {
                return ImpactAssessment::new(
                    Impact::OwnPath,
                    "a route rule matches the traffic by which this host is reached".to_owned(),
                );
            }
        }
        ImpactAssessment::new(Impact::Disruptive, "policy routing changes".to_owned())
    }

    fn matches_own_traffic(&self, rule: &Value) -> bool {
        let forwarded_only = text(rule, "iif").is_some_and(|device| device != "lo");
        let selector = |key| text(rule, key).filter(|written| !written.is_empty()).map(network);
        let own = || {
            let devices =
                self.own_path.devices().filter_map(|own| self.view.now(own, InterfaceKind::Unknown));
            devices.flat_map(state::addresses).map(|address| address.addr())
        };
        let from = match selector("ip-from") {
            None => own().next().is_some(),
            Some(network) => network.is_some_and(|network| own().any(|ip| network.contains(&ip))),
        };
        let to = match selector("ip-to") {
            None => true,
            Some(network) => {
                self.protect.is_some_and(|ip| network.is_some_and(|network| network.contains(&ip)))
            }
        };
        let family = match text(rule, "family") {
            Some("ipv6") => own().any(|ip| ip.is_ipv6()),
            Some("ipv4") => own().any(|ip| ip.is_ipv4()),
            _ => true,
        };
        !forwarded_only && from && to && family
    }
}

fn is_new_address(detail: &Detail) -> bool {
    detail.got.is_null() && detail.want.get("ip").is_some()
}

/// Neighbours, tunnels and whatever counts on the old size notice it, even where nothing seems to run over the
/// interface; some drivers take the link down for it.
fn is_other_count(detail: &Detail) -> bool {
    matches!(detail.path.last(), Some(PathStep::Key(key)) if key == "total-vfs")
        && detail.got.as_u64().is_some_and(|count| count > 0)
}

fn is_other_mtu(detail: &Detail) -> bool {
    matches!(detail.path.last(), Some(PathStep::Key(key)) if key == "mtu") && !detail.got.is_null()
}
