//! A change of DNS that no probe can pass: no server would be left, or no route would lead to any of them.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use super::codes::DNS_UNREACHABLE;
use super::{Change, Subject};
use crate::reach::is_in_main_table;
use crate::state::{
    address, at, flag, interfaces, is_absent, is_same_interface, is_up, list, name, network, strings, text,
};

/// A warning if the new servers cannot be reached. Where DHCP, router advertisements, policy routing or a scope decide
/// about that, nothing is known and nothing is said.
pub(super) fn unreachable(desired: &Value, observed: &Value, changes: &[Change]) -> Option<String> {
    if !changes.iter().any(|change| change.subject == Subject::Dns) {
        return None;
    }
    let config = at(desired, &["dns-resolver", "config"])?;
    let written = match config.get("server") {
        Some(written) => strings(written),
        // An empty configuration removes all of it; one without servers leaves those that there are.
        None if config.as_object().is_some_and(|config| config.is_empty()) => Vec::new(),
        None => return None,
    };
    let servers: Vec<IpAddr> = written.iter().map(|server| server.parse().ok()).collect::<Option<_>>()?;
    let host = After { desired, observed };
    if servers.iter().any(|server| host.may_reach(*server))
        || (servers.is_empty() && host.may_be_given_servers())
    {
        return None;
    }
    let message = match written.as_slice() {
        [] => "the host would have no DNS server".to_owned(),
        [one] => format!("no route would lead to the DNS server {one}"),
        several => format!("no route would lead to any of the DNS servers {}", several.join(", ")),
    };
    Some(format!(
        "{message}: a dns probe cannot pass after this change, which would roll it back [{DNS_UNREACHABLE}]"
    ))
}

/// The host as it would be.
struct After<'a> {
    desired: &'a Value,
    observed: &'a Value,
}

impl<'a> After<'a> {
    fn may_reach(&self, server: IpAddr) -> bool {
        let local = match server {
            IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local(),
        };
        local || self.is_unknown(server) || self.networks().any(|network| network.contains(&server))
    }

    /// Somebody else gives addresses and routes of this family, or routes depend on rules.
    fn is_unknown(&self, server: IpAddr) -> bool {
        let (family, automatic): (&str, &[&str]) =
            if server.is_ipv4() { ("ipv4", &["dhcp"]) } else { ("ipv6", &["dhcp", "autoconf"]) };
        let is_automatic = |interface: &Value| {
            self.family(interface, family)
                .is_some_and(|ip| automatic.iter().any(|key| flag(ip, key) == Some(true)))
        };
        let has_rules = |state: &Value| !list(state, &["route-rules", "config"]).is_empty();
        self.interfaces().any(is_automatic) || has_rules(self.desired) || has_rules(self.observed)
    }

    /// DHCP or router advertisements may bring DNS servers.
    fn may_be_given_servers(&self) -> bool {
        let gives = |interface: &'a Value, family: &str| {
            self.family(interface, family).is_some_and(|ip| {
                let automatic = ["dhcp", "autoconf"].iter().any(|key| flag(ip, key) == Some(true));
                automatic && flag(ip, "auto-dns") != Some(false)
            })
        };
        self.interfaces().any(|interface| gives(interface, "ipv4") || gives(interface, "ipv6"))
    }

    /// Each interface that will be up, in the desired words if there are any.
    fn interfaces(&self) -> impl Iterator<Item = &'a Value> {
        let declared = interfaces(self.desired);
        let is_declared =
            |known: &Value| declared.iter().any(|interface| is_same_interface(interface, known));
        let kept = interfaces(self.observed).iter().filter(move |known| !is_declared(known));
        declared.iter().chain(kept).filter(|interface| !is_absent(interface) && !is_down(interface))
    }

    /// Its `ipv4` or `ipv6`, as declared or else as it is.
    fn family(&self, interface: &'a Value, family: &str) -> Option<&'a Value> {
        let known = || interfaces(self.observed).iter().find(|known| is_same_interface(known, interface));
        interface.get(family).or_else(|| known()?.get(family)).filter(|ip| flag(ip, "enabled") != Some(false))
    }

    fn networks(&self) -> impl Iterator<Item = IpNet> + '_ {
        let connected = self.interfaces().flat_map(|interface| {
            ["ipv4", "ipv6"]
                .into_iter()
                .filter_map(|family| self.family(interface, family))
                .flat_map(|ip| list(ip, &["address"]))
                .filter_map(|entry| address(entry).map(|held| held.trunc()))
                .collect::<Vec<_>>()
        });
        let declared = list(self.desired, &["routes", "config"]).iter().filter(|route| !is_absent(route));
        let kept = list(self.observed, &["routes", "running"]).iter().filter(|route| self.stays(route));
        let routed = declared.chain(kept).filter(|route| is_in_main_table(route));
        connected.chain(routed.filter_map(|route| network(text(route, "destination")?)))
    }

    /// A route that has a gateway, that nothing removes, and whose interface stays. One without is an address's own.
    fn stays(&self, route: &Value) -> bool {
        let keys = ["destination", "next-hop-interface", "next-hop-address"];
        let is_named = |absent: &Value| {
            keys.iter().all(|key| text(absent, key).is_none_or(|value| Some(value) == text(route, key)))
        };
        let removed = list(self.desired, &["routes", "config"]).iter().filter(|entry| is_absent(entry));
        let hop = text(route, "next-hop-interface").unwrap_or_default();
        text(route, "next-hop-address").is_some_and(|hop| !hop.is_empty())
            && !removed.into_iter().any(is_named)
            && self.interfaces().any(|interface| name(interface) == hop)
    }
}

fn is_down(interface: &Value) -> bool {
    interface.get("state").is_some() && !is_up(interface)
}
