//! Static addresses of interfaces.

use std::collections::HashMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use super::view::{Interface, State, family, items, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::prefix;

const SECTIONS: [(&str, &str); 2] = [("ipv4", "IPv4"), ("ipv6", "IPv6")];

pub(super) fn addresses(state: &State<'_>) -> Vec<Diagnostic> {
    let sections = state.up().flat_map(|interface| SECTIONS.map(|section| (interface, section)));
    sections
        .flat_map(|(interface, (key, expected))| {
            entries(interface, key)
                .into_iter()
                .filter_map(move |(path, entry)| fault(&path, entry, key, expected))
        })
        .collect()
}

fn entries<'a>(interface: &Interface<'a>, key: &str) -> Vec<(Path, &'a Value)> {
    let path = interface.path.key(key).key("address");
    items(interface.get(key).and_then(|section| section.get("address")), &path).collect()
}

fn fault(path: &Path, entry: &Value, key: &str, expected: &str) -> Option<Diagnostic> {
    if let Some(bare) = entry.as_str() {
        return Some(written_as_text(path, bare)).filter(|_| text(Some(entry)).is_some());
    }
    let written = text(entry.get("ip"))?;
    let address: IpAddr = match written.parse() {
        Ok(address) => address,
        Err(_) => return Some(bad_address(&path.key("ip"), written)),
    };
    if family(address) != expected {
        let other = if key == "ipv4" { "ipv6" } else { "ipv4" };
        let message = format!("'{written}' is an {} address, but is under '{key}'", family(address));
        let diagnostic = Diagnostic::new(codes::WRONG_FAMILY, message).at(path.key("ip"));
        return Some(diagnostic.hint(format!("move it to '{other}'")));
    }
    prefix_fault(path, entry, address)
}

fn prefix_fault(path: &Path, entry: &Value, address: IpAddr) -> Option<Diagnostic> {
    let usual = if address.is_ipv4() { 24 } else { 64 };
    let Some(value) = entry.get("prefix-length").filter(|value| !value.is_null()) else {
        let message = format!("the address {address} has no prefix length");
        let hint = format!("add 'prefix-length: {usual}' (or what your network uses)");
        return Some(Diagnostic::new(codes::NO_PREFIX, message).at(path.clone()).hint(hint));
    };
    let prefix = number(Some(value))?;
    let widest = IpNet::from(address).max_prefix_len();
    if (0..=i128::from(widest)).contains(&prefix) {
        return None;
    }
    let message = format!("a prefix length of {prefix} is out of range");
    let hint = format!("{} allows 0 to {widest}", family(address));
    Some(Diagnostic::new(codes::BAD_PREFIX, message).at(path.key("prefix-length")).hint(hint))
}

fn bad_address(path: &Path, written: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(codes::BAD_ADDRESS, format!("'{written}' is not an IP address"));
    let diagnostic = diagnostic.at(path.clone());
    match prefix(written) {
        Some(network) => diagnostic.hint(split_hint(network)),
        None => diagnostic,
    }
}

fn written_as_text(path: &Path, written: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(codes::BAD_ADDRESS, "an address is a mapping with 'ip' and 'prefix-length'");
    let diagnostic = diagnostic.at(path.clone());
    match prefix(written) {
        Some(network) => diagnostic.hint(split_hint(network)),
        None => diagnostic,
    }
}

fn split_hint(network: IpNet) -> String {
    format!("write 'ip: {}' and 'prefix-length: {}'", network.addr(), network.prefix_len())
}

struct AddressHolder<'s, 'a> {
    interface: &'s Interface<'a>,
    domain: Option<&'a str>,
}

/// One address on two interfaces answers on one of them, by chance; separate VRFs may repeat addresses.
pub(super) fn shared(state: &State<'_>) -> Vec<Diagnostic> {
    let domains = vrf_of_port(state);
    let mut seen: HashMap<IpAddr, Vec<AddressHolder<'_, '_>>> = HashMap::new();
    let mut found = Vec::new();
    for (interface, path, address) in static_addresses(state) {
        let domain = domains.get(interface.name).copied();
        let holders = seen.entry(address).or_default();
        let other =
            holders.iter().find(|held| held.domain == domain && held.interface.path != interface.path);
        if let Some(other) = other {
            let message = format!("the address {address} is also on '{}'", other.interface.name);
            let hint = "give each interface an address of its own";
            found.push(Diagnostic::new(codes::ADDRESS_TWICE, message).at(path.key("ip")).hint(hint));
        }
        holders.push(AddressHolder { interface, domain });
    }
    found
}

fn static_addresses<'s, 'a>(state: &'s State<'a>) -> Vec<(&'s Interface<'a>, Path, IpAddr)> {
    let sections = state.up().flat_map(|interface| SECTIONS.map(|(key, _)| (interface, key)));
    let enabled = sections.filter(|(interface, key)| interface.ip_enabled(key) != Some(false));
    enabled
        .flat_map(|(interface, key)| entries(interface, key).into_iter().map(move |entry| (interface, entry)))
        .filter(|(_, (_, entry))| !is_leased(entry))
        .filter_map(|(interface, (path, entry))| {
            Some((interface, path, text(entry.get("ip"))?.parse().ok()?))
        })
        .filter(|(_, _, address)| !is_link_local(*address))
        .collect()
}

/// Reported by a host, not wanted: NMState ignores addresses that expire.
fn is_leased(entry: &Value) -> bool {
    let life = ["valid-life-time", "valid-left", "valid-lft"].iter().find_map(|key| entry.get(key)?.as_str());
    life.is_some_and(|life| life != "forever")
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

fn vrf_of_port<'a>(state: &State<'a>) -> HashMap<&'a str, &'a str> {
    let ports = state.ports.iter().filter(|port| port.controller_kind == InterfaceKind::Vrf);
    ports.map(|port| (port.name, port.controller)).collect()
}
