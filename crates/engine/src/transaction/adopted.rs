//! Addresses and routes of others that nmstate wrote into a profile.
//!
//! nmstate writes a profile whole, from what is declared and from what the kernel has: a document with one route puts the
//! virtual addresses and the routes of other daemons on that interface into its profile, and at the next boot they are there
//! although their owner is elsewhere. They are left out again; in the kernel they stay.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;
use linesman_core::state::{addresses, interfaces, is_absent, list, name, network, text};
use serde_json::Value;

use crate::keyfile::ProfileFile;
use crate::nm::Nm;
use crate::snapshot::Snapshot;
use crate::{Result, atomic_file, observe};

/// Called once nmstate is done.
pub async fn leave_out(nm: &Nm, snapshot: &Snapshot, desired: &Value) -> Result<()> {
    if snapshot.foreign.is_empty() && snapshot.routes.is_empty() {
        return Ok(());
    }
    let altered = without_adopted(&observe::profiles()?, snapshot, desired);
    for profile in &altered {
        atomic_file::write(&profile.path, profile.content.as_bytes(), profile.mode)
            .map_err(|e| crate::Error::call("writing a profile", e))?;
    }
    let paths: Vec<&str> = altered.iter().filter_map(|p| p.path.to_str()).collect();
    if paths.is_empty() { Ok(()) } else { nm.load_profiles(&paths).await }
}

/// The profiles that change. Pure.
fn without_adopted(profiles: &[ProfileFile], snapshot: &Snapshot, desired: &Value) -> Vec<ProfileFile> {
    let altered = |profile: &ProfileFile| {
        let others = Others::on(profile.interface()?, snapshot, desired);
        let content = drop_lines(profile, &others)?;
        Some(ProfileFile { content, ..profile.clone() })
    };
    profiles.iter().filter_map(altered).collect()
}

/// What others have on one interface, and nobody declares.
struct Others {
    addresses: BTreeSet<IpAddr>,
    routes: BTreeSet<IpNet>,
}

impl Others {
    fn on(interface: &str, snapshot: &Snapshot, desired: &Value) -> Self {
        let declared: BTreeSet<IpAddr> = interfaces(desired)
            .iter()
            .filter(|declared| name(declared) == interface)
            .flat_map(|declared| addresses(declared).map(|address| address.addr()))
            .collect();
        let routed: BTreeSet<IpNet> = list(desired, &["routes", "config"])
            .iter()
            .filter(|route| !is_absent(route) && text(route, "next-hop-interface") == Some(interface))
            .filter_map(|route| network(text(route, "destination")?))
            .collect();
        let theirs = snapshot.foreign.iter().filter(|address| address.interface == interface);
        let through = snapshot.routes.iter().filter(|route| route.interfaces.iter().any(|i| i == interface));
        Self {
            addresses: theirs.map(|address| address.ip).filter(|ip| !declared.contains(ip)).collect(),
            routes: through
                .filter_map(|route| network(&route.destination))
                .filter(|to| !routed.contains(to))
                .collect(),
        }
    }

    fn has(&self, key: &str, value: &str) -> bool {
        let first = value.split([',', ' ', ';']).next().unwrap_or_default();
        match numbered(key) {
            Some("address") => first
                .split('/')
                .next()
                .and_then(|ip| ip.parse().ok())
                .is_some_and(|ip| self.addresses.contains(&ip)),
            Some("route") => network(first).is_some_and(|to| self.routes.contains(&to)),
            _ => false,
        }
    }
}

/// `address1`, `route12`: what is numbered.
fn numbered(key: &str) -> Option<&str> {
    let word = key.trim_end_matches(|c: char| c.is_ascii_digit());
    (word.len() < key.len()).then_some(word)
}

/// None if the profile stays as it is. A profile whose method is manual needs one address at least: it keeps all.
fn drop_lines(profile: &ProfileFile, others: &Others) -> Option<String> {
    let mut kept = String::with_capacity(profile.content.len());
    let mut dropped = false;
    for section in sections(&profile.content) {
        let lines: Vec<(&str, Option<(&str, &str)>)> =
            section.lines().map(|line| (line, line.trim().split_once('='))).collect();
        let gone: BTreeSet<&str> = lines
            .iter()
            .filter_map(|(_, pair)| *pair)
            .filter(|(k, v)| others.has(k, v))
            .map(|(k, _)| k)
            .collect();
        let pairs = || lines.iter().filter_map(|(_, pair)| *pair);
        let manual = pairs().any(|pair| pair == ("method", "manual"));
        let has_own = pairs().any(|(key, _)| numbered(key) == Some("address") && !gone.contains(key));
        let goes = |key: &str| {
            let option_of = key.strip_suffix("_options").unwrap_or(key);
            gone.contains(option_of) && (has_own || !manual)
        };
        for (line, pair) in lines {
            if pair.is_some_and(|(key, _)| goes(key)) {
                dropped = true;
            } else {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    dropped.then_some(kept)
}

/// Each with its heading.
fn sections(content: &str) -> Vec<&str> {
    let starts = content.match_indices("\n[").map(|(at, _)| at + 1);
    let mut bounds: Vec<usize> = std::iter::once(0).chain(starts).collect();
    bounds.push(content.len());
    bounds.windows(2).map(|pair| &content[pair[0]..pair[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{AddressFact, RouteFact};
    use serde_json::json;

    fn snapshot() -> Snapshot {
        let route = |destination: &str| RouteFact {
            destination: destination.into(),
            table: 254,
            metric: 0,
            protocol: 3,
            interfaces: vec!["eth0".into()],
            message: String::new(),
        };
        Snapshot {
            foreign: vec![AddressFact::test("eth0", "10.9.0.99"), AddressFact::test("eth0", "fd09::99")],
            routes: vec![route("198.18.0.0/24"), route("198.19.0.0/24")],
            ..Snapshot::default()
        }
    }

    fn profile(ipv4: &str, ipv6: &str) -> ProfileFile {
        let content = format!("[connection]\ninterface-name=eth0\n\n[ipv4]\n{ipv4}\n[ipv6]\n{ipv6}");
        ProfileFile { path: "/etc/eth0".into(), mode: 0o600, content }
    }

    fn left(profile: ProfileFile, desired: &Value) -> Option<String> {
        without_adopted(&[profile], &snapshot(), desired).pop().map(|altered| altered.content)
    }

    #[test]
    fn what_others_have_in_the_kernel_is_not_stored() {
        let written = profile(
            "address1=10.9.0.2/24\naddress2=10.9.0.99/32\nmethod=manual\nroute1=198.18.0.0/24,10.9.0.1\n\
             route1_options=table=77\nroute2=192.0.2.0/24,10.9.0.1\nroute2_options=table=254\n",
            "address1=fd09::99/128\nmethod=auto\n",
        );
        let expected = profile(
            "address1=10.9.0.2/24\nmethod=manual\nroute2=192.0.2.0/24,10.9.0.1\nroute2_options=table=254\n",
            "method=auto\n",
        );
        assert_eq!(left(written, &json!({})), Some(expected.content));
    }

    #[test]
    fn what_is_declared_or_alone_stays() {
        let desired = json!({
            "interfaces": [{ "name": "eth0", "ipv4": { "address": [{ "ip": "10.9.0.99", "prefix-length": 32 }] } }],
            "routes": { "config": [{ "destination": "198.18.0.0/24", "next-hop-interface": "eth0" }] }
        });
        let written = profile(
            "address1=10.9.0.2/24\naddress2=10.9.0.99/32\nmethod=manual\nroute1=198.18.0.0/24,10.9.0.1\n",
            "method=disabled\n",
        );
        assert_eq!(left(written, &desired), None, "both are declared");
        let alone = profile("address1=10.9.0.99/32\nmethod=manual\n", "method=disabled\n");
        assert_eq!(left(alone, &json!({})), None, "NetworkManager refuses a manual profile without address");
        let elsewhere =
            profile("address1=10.9.0.2/24\naddress2=10.9.0.50/32\nmethod=manual\n", "method=disabled\n");
        assert_eq!(left(elsewhere, &json!({})), None);
    }
}
