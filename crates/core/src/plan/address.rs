//! Addresses that a document no longer lists.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::change::subject;
use super::{Change, ChangeKind, Detail, Plan};
use crate::compare::ip::{is_learnt, is_static};
use crate::compare::{Difference, View};
use crate::facts::Facts;
use crate::path::{Path, PathStep};
use crate::state::{self, interfaces, is_up, kind, name};

/// A declared list of addresses replaces the profile's. Addresses that are no profile's are not ours to take.
pub(super) fn withdraw(view: &View<'_>, facts: &Facts, changes: &mut Vec<Change>) {
    for declared in view.declared.iter().filter(|declared| is_up(&declared.want)) {
        let Some(observed) = view.now(name(&declared.want), kind(&declared.want)) else {
            continue;
        };
        for family in ["ipv4", "ipv6"] {
            let details = withdrawn(&declared.path, &declared.want, observed, family, facts);
            include(changes, &declared.want, details);
        }
    }
}

/// The addresses that a plan takes away, with their interfaces.
fn taken(plan: &Plan) -> impl Iterator<Item = (&str, &str, &Detail)> {
    let details = plan.changes.iter().flat_map(|change| &change.details);
    details.filter(|detail| detail.want.is_null()).filter_map(|detail| match detail.path.steps() {
        [
            PathStep::Key(_),
            PathStep::Item(name),
            PathStep::Key(family),
            PathStep::Key(list),
            PathStep::Item(_),
        ] if list == "address" => Some((name.as_str(), family.as_str(), detail)),
        _ => None,
    })
}

fn held<'a>(state: &'a Value, interface: &str, family: &str) -> impl Iterator<Item = &'a Value> {
    let all = interfaces(state).iter().filter(move |i| name(i) == interface);
    all.flat_map(move |i| state::list(i, &[family, "address"]))
}

/// Addresses that a router gave and that a plan takes away. NetworkManager does not remove what it did not add itself,
/// the kernel's own autoconfiguration for example.
pub fn learnt_and_unwanted(plan: &Plan, observed: &Value) -> Vec<(String, IpNet)> {
    let entry = |(interface, family, detail): (&str, &str, &Detail)| {
        let entry =
            held(observed, interface, family).find(|entry| is_same(entry, detail) && is_learnt(entry))?;
        Some((interface.to_owned(), state::address(entry)?))
    };
    taken(plan).filter(|(_, family, _)| *family == "ipv6").filter_map(entry).collect()
}

/// Addresses of the former profile that a plan takes away and that are there all the same: a probe that they answer says
/// nothing about the change.
pub fn left_behind(plan: &Plan, now: &Value) -> Vec<Difference> {
    let is_there = |(interface, family, detail): &(&str, &str, &Detail)| {
        held(now, interface, family).any(|entry| is_same(entry, detail) && is_static(entry))
    };
    let surplus = |(_, _, Detail { path, want, got }): (&str, &str, &Detail)| Difference {
        path: path.clone(),
        want: want.clone(),
        got: got.clone(),
    };
    taken(plan).filter(is_there).map(surplus).collect()
}

/// Whether a plan takes this address away from its interface.
pub fn takes(plan: &Plan, interface: &str, ip: IpAddr) -> bool {
    taken(plan).any(|(name, _, detail)| {
        name == interface && state::address(&detail.got).is_some_and(|address| address.addr() == ip)
    })
}

fn is_same(entry: &Value, detail: &Detail) -> bool {
    state::address(entry).is_some() && state::address(entry) == state::address(&detail.got)
}

fn withdrawn(path: &Path, want: &Value, observed: &Value, family: &str, facts: &Facts) -> Vec<Detail> {
    let Some(wanted) = state::at(want, &[family, "address"]).and_then(Value::as_array) else {
        return Vec::new();
    };
    let wanted: Vec<_> = wanted.iter().filter_map(state::address).collect();
    let held: Vec<String> = profile_addresses(name(want), facts);
    let present = state::list(observed, &[family, "address"]).iter().filter_map(state::address);
    let gone = present
        .filter(|address| !wanted.contains(address))
        .filter(|address| held.contains(&address.to_string()));
    let detail = |address: IpNet| Detail {
        path: path.key(family).key("address").item(address.addr().to_string()),
        want: Value::Null,
        got: json!({"ip": address.addr().to_string(), "prefix-length": address.prefix_len()}),
    };
    gone.map(detail).collect()
}

fn profile_addresses(device: &str, facts: &Facts) -> Vec<String> {
    let active = facts.profiles.iter().filter(|profile| profile.active_on.as_deref() == Some(device));
    active.flat_map(|profile| profile.addresses.iter().cloned()).collect()
}

fn include(changes: &mut Vec<Change>, want: &Value, details: Vec<Detail>) {
    let subject = subject(want);
    match changes.iter_mut().find(|change| change.subject == subject) {
        Some(change) => {
            let known: Vec<Path> = change.details.iter().map(|detail| detail.path.clone()).collect();
            change.details.extend(details.into_iter().filter(|detail| !known.contains(&detail.path)));
        }
        None if details.is_empty() => {}
        None => changes.push(Change { kind: ChangeKind::Modify, subject, details }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let path = Path::interface("br-ex").key("ipv4").key("address").item("10.0.0.2");
        let got = json!({ "ip": "10.0.0.2", "prefix-length": 24 });
        let details = vec![Detail { path, want: Value::Null, got }];
        let subject = subject(&json!({ "name": "br-ex", "type": "ovs-interface" }));
        Plan { changes: vec![Change { kind: ChangeKind::Modify, subject, details }], ..Plan::default() }
    }

    fn now(name: &str, address: Value) -> Value {
        json!({ "interfaces": [{ "name": name, "ipv4": { "enabled": true, "address": [address] } }] })
    }

    #[test]
    fn an_address_that_the_plan_takes_away_is_not_left_behind() {
        let address = || json!({ "ip": "10.0.0.2", "prefix-length": 24 });
        assert_eq!(left_behind(&plan(), &now("br-ex", address())).len(), 1);
        assert!(left_behind(&plan(), &now("eth1", address())).is_empty(), "it moved");
        let narrower = json!({ "ip": "10.0.0.2", "prefix-length": 16 });
        assert!(left_behind(&plan(), &now("br-ex", narrower)).is_empty());
        let leased = json!({ "ip": "10.0.0.2", "prefix-length": 24, "valid-life-time": "60sec" });
        assert!(left_behind(&plan(), &now("br-ex", leased)).is_empty(), "now a server gives it");
    }

    #[test]
    fn only_the_interface_of_the_plan_loses_its_address() {
        let ip = "10.0.0.2".parse().unwrap();
        assert!(takes(&plan(), "br-ex", ip));
        assert!(!takes(&plan(), "eth1", ip));
        assert!(!takes(&plan(), "br-ex", "10.0.0.3".parse().unwrap()));
    }
}
