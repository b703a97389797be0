//! Addresses that a document no longer lists.

use ipnet::IpNet;
use serde_json::{Value, json};

use super::change::subject;
use super::{Change, ChangeKind, Detail, Plan};
use crate::compare::View;
use crate::compare::ip::is_learnt;
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

/// Addresses that a router gave and that a plan takes away. NetworkManager does not remove what it did not add itself,
/// the kernel's own autoconfiguration for example.
pub fn learnt_and_unwanted(plan: &Plan, observed: &Value) -> Vec<(String, IpNet)> {
    let details =
        plan.changes.iter().flat_map(|change| &change.details).filter(|detail| detail.want.is_null());
    let address = |detail: &Detail| match detail.path.steps() {
        [
            PathStep::Key(_),
            PathStep::Item(name),
            PathStep::Key(family),
            PathStep::Key(list),
            PathStep::Item(ip),
        ] if family == "ipv6" && list == "address" => {
            let all = interfaces(observed).iter().filter(|i| state::name(i) == name);
            let mut entries = all.flat_map(|i| state::list(i, &["ipv6", "address"]));
            let entry = entries.find(|entry| state::text(entry, "ip") == Some(ip) && is_learnt(entry))?;
            Some((name.clone(), state::address(entry)?))
        }
        _ => None,
    };
    details.filter_map(address).collect()
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
