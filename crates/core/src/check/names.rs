//! How names are found, and the name of the host itself.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};

use serde_json::Value;

use super::view::{State, items, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::path::Path;

/// The kernel's __NEW_UTS_LEN.
const HOSTNAME_BYTES: usize = 64;
const LABEL_BYTES: usize = 63;

pub(super) fn dns_servers(state: &State<'_>) -> Vec<Diagnostic> {
    let path = Path::root().key("dns-resolver").key("config").key("server");
    let servers = state.value.pointer("/dns-resolver/config/server");
    items(servers, &path).filter_map(|(path, server)| bad_server(path, server)).collect()
}

/// NetworkManager keeps one of two, which is not what was declared.
pub(super) fn dns_twice(state: &State<'_>) -> Vec<Diagnostic> {
    let lists = [("server", "DNS server"), ("search", "search domain")];
    lists.iter().flat_map(|(key, called)| given_twice(state, key, called)).collect()
}

fn given_twice(state: &State<'_>, key: &str, called: &str) -> Vec<Diagnostic> {
    let path = Path::root().key("dns-resolver").key("config").key(key);
    let mut seen = HashSet::new();
    let written = items(path.find(state.value), &path).filter_map(|(at, item)| Some((at, text(Some(item))?)));
    let twice = written.filter(|(_, name)| !seen.insert(same_server(name)));
    twice
        .map(|(path, name)| {
            let diagnostic =
                Diagnostic::new(codes::DNS_TWICE, format!("the {called} '{name}' is listed twice"));
            diagnostic.at(path).hint("keep one of the two")
        })
        .collect()
}

/// IPv6 addresses are spelt in many ways.
fn same_server(written: &str) -> String {
    written.parse::<IpAddr>().map_or_else(|_| written.to_lowercase(), |address| address.to_string())
}

fn bad_server(path: Path, server: &Value) -> Option<Diagnostic> {
    let written = text(Some(server)).filter(|written| !is_server(written))?;
    let diagnostic =
        Diagnostic::new(codes::BAD_DNS_SERVER, format!("the DNS server '{written}' is not an IP address"));
    Some(diagnostic.at(path).hint("specify servers by IP address; search domains belong under 'search'"))
}

/// A link-local server carries its interface: `fe80::1%eth0`.
fn is_server(written: &str) -> bool {
    match written.split_once('%') {
        Some((address, zone)) => address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty(),
        None => written.parse::<IpAddr>().is_ok(),
    }
}

pub(super) fn hostname(state: &State<'_>) -> Vec<Diagnostic> {
    let written = text(state.value.pointer("/hostname/config")).filter(|name| !name.is_empty());
    let fault = written.and_then(|name| Some((name, hostname_fault(name)?)));
    let fault = fault.map(|(name, reason)| {
        let diagnostic =
            Diagnostic::new(codes::BAD_HOSTNAME, format!("'{name}' is not a host name: {reason}"));
        let hint = "use letters, digits and '-', with dots between the parts";
        diagnostic.at(Path::root().key("hostname").key("config")).hint(hint)
    });
    fault.into_iter().collect()
}

fn hostname_fault(name: &str) -> Option<String> {
    if name.len() > HOSTNAME_BYTES {
        return Some(format!("it has {} bytes; Linux allows {HOSTNAME_BYTES}", name.len()));
    }
    name.split('.').find_map(|label| {
        if label.is_empty() {
            return Some("one of its parts is empty".to_owned());
        }
        if label.len() > LABEL_BYTES {
            return Some(format!("the part '{label}' has more than {LABEL_BYTES} bytes"));
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Some(format!("the part '{label}' starts or ends with '-'"));
        }
        let odd = label.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))?;
        Some(format!("it contains {odd:?}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_are_recognised() {
        let long = "a".repeat(65);
        for good in ["node-1", "node1.example.org", "a_b", "1"] {
            assert_eq!(hostname_fault(good), None, "{good}");
        }
        for bad in ["-a", "a-", "a..b", ".a", "a b", "nöde", long.as_str()] {
            assert!(hostname_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn server_addresses_are_recognised() {
        assert!(["192.0.2.53", "2001:db8::53", "fe80::1%eth0"].iter().all(|server| is_server(server)));
        assert!(
            !["dns.example.org", "192.0.2.53%eth0", "fe80::1%", "192.0.2.53:53"].iter().any(|s| is_server(s))
        );
    }
}
