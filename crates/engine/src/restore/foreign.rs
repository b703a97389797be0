//! What others set on the touched interfaces: addresses, routes, and the condition of links that Open vSwitch makes anew.

use std::collections::BTreeSet;
use std::time::Duration;

use linesman_core::state::{interfaces, is_absent, list, name};
use serde_json::Value;

use crate::netlink::{self, AddressFact, Netlink, RouteFact};
use crate::others::Others;
use crate::snapshot::Snapshot;

/// An address needs its link, and a route needs an address that is no longer tentative.
const ROUNDS: usize = 8;
const PAUSE: Duration = Duration::from_millis(300);

/// Puts them back and looks whether they are there; returns what is not.
pub async fn restore(snapshot: &Snapshot) -> Vec<String> {
    if snapshot.foreign.is_empty() && snapshot.routes.is_empty() && snapshot.links.is_empty() {
        return Vec::new();
    }
    let netlink = match Netlink::open() {
        Ok(netlink) => netlink,
        Err(e) => return vec![e.to_string()],
    };
    let mut left = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        match attempt(&netlink, snapshot).await {
            Ok(missing) if missing.is_empty() => return missing,
            Ok(missing) => left = missing,
            Err(e) => left = vec![e.to_string()],
        }
    }
    left
}

/// The same for what came since the snapshot.
pub async fn restore_what_came(came: &Others) -> Vec<String> {
    let Others { addresses, routes, .. } = came.clone();
    restore(&Snapshot { foreign: addresses, routes, ..Snapshot::default() }).await
}

async fn attempt(netlink: &Netlink, snapshot: &Snapshot) -> netlink::Result<Vec<String>> {
    let mut missing = Vec::new();
    let links = netlink.links().await?;
    for link in &snapshot.links {
        let now = links.iter().find(|l| l.name == link.name);
        if now.is_some_and(|now| (now.up, &now.mac, now.mtu) == (link.up, &link.mac, link.mtu)) {
            continue;
        }
        if let Err(e) = netlink.restore_link(link).await {
            missing.push(format!("interface {}: {e}", link.name));
        }
    }
    let addresses = netlink.addresses().await?;
    for address in &snapshot.foreign {
        let key = |a: &AddressFact| (a.ip, a.prefix, a.interface.clone());
        if addresses.iter().any(|a| key(a) == key(address)) {
            continue;
        }
        if let Err(e) = netlink.restore_address(address).await {
            missing.push(format!("address {}/{} on {}: {e}", address.ip, address.prefix, address.interface));
        }
    }
    missing.extend(restore_routes(netlink, &snapshot.routes).await?);
    Ok(missing)
}

/// Adds the missing ones; one may need another as the way to its gateway.
pub async fn restore_routes(netlink: &Netlink, routes: &[RouteFact]) -> netlink::Result<Vec<String>> {
    let through: BTreeSet<String> = routes.iter().flat_map(|route| route.interfaces.clone()).collect();
    let (now, _) = netlink.routes(&through).await?;
    let mut due: Vec<&RouteFact> = routes.iter().filter(|r| !now.iter().any(|n| n.is_same(r))).collect();
    loop {
        let mut failed = Vec::new();
        let mut messages = Vec::new();
        for route in &due {
            if let Err(e) = netlink.restore_route(route).await {
                failed.push(*route);
                messages.push(format!(
                    "route to {} through {}: {e}",
                    route.destination,
                    route.interfaces.join(", ")
                ));
            }
        }
        if failed.is_empty() || failed.len() == due.len() {
            return Ok(messages);
        }
        due = failed;
    }
}

/// Alternative names are set in the kernel, outside NetworkManager: those that the document added go, those that it
/// removed return.
pub async fn restore_alternative_names(before: &Value, desired: &Value, now: &Value) {
    for (interface, add, remove) in alternative_names(before, desired, now) {
        let Ok(netlink) = Netlink::open() else { return };
        if let Err(e) = netlink.set_alternative_names(interface, &add, &remove).await {
            tracing::warn!(interface, error = %e, "cannot restore alternative names");
        }
    }
}

type Names<'a> = Vec<&'a str>;

fn alternative_names<'a>(
    before: &'a Value,
    desired: &'a Value,
    now: &'a Value,
) -> Vec<(&'a str, Names<'a>, Names<'a>)> {
    let of = |state: &'a Value, called: &str| -> Option<Names<'a>> {
        let interface =
            interfaces(state).iter().find(|i| name(i) == called && !list(i, &["alt-names"]).is_empty());
        let interface = interface.or_else(|| interfaces(state).iter().find(|i| name(i) == called))?;
        Some(list(interface, &["alt-names"]).iter().map(name).collect())
    };
    let mut all = Vec::new();
    for interface in interfaces(desired) {
        let called = name(interface);
        let (Some(had), Some(has)) = (of(before, called), of(now, called)) else { continue };
        let entries = list(interface, &["alt-names"]);
        // An interface that is declared absent loses all of its names.
        let removed =
            |n: &&&str| is_absent(interface) || entries.iter().any(|e| is_absent(e) && name(e) == **n);
        let add: Vec<&str> = had.iter().filter(removed).filter(|n| !has.contains(n)).copied().collect();
        let added = entries.iter().filter(|e| !is_absent(e)).map(name);
        let remove: Vec<&str> = added.filter(|n| has.contains(n) && !had.contains(n)).collect();
        if !add.is_empty() || !remove.is_empty() {
            all.push((called, add, remove));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_alternative_names_of_the_document_are_undone() {
        let state = |names: &[&str]| {
            let names: Vec<Value> = names.iter().map(|n| json!({ "name": n })).collect();
            json!({ "interfaces": [{ "name": "eth1", "alt-names": names }] })
        };
        let desired = json!({ "interfaces": [{ "name": "eth1",
            "alt-names": [{ "name": "new" }, { "name": "old", "state": "absent" }] }] });
        let (before, now) = (state(&["old", "kept"]), state(&["kept", "new", "theirs"]));
        assert_eq!(alternative_names(&before, &desired, &now), [("eth1", vec!["old"], vec!["new"])]);
        assert_eq!(alternative_names(&before, &desired, &before), []);
    }
}
