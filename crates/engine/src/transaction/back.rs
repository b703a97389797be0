//! A rollback has ended when the host is connected as before: the former profiles alone bring back neither a lease nor
//! what an uplink takes its time for.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use linesman_core::interface_name::InterfaceName;
use linesman_core::probe::Family;
use linesman_core::state::{address, flag, interfaces, list, name};
use serde_json::Value;
use tokio::time::Instant;

use super::attempt::Context;
use crate::netlink::Netlink;
use crate::nm::Nm;
use crate::probe::{self, Probe, ProbeResult};
use crate::restore::Restored;
use crate::snapshot::Snapshot;
use crate::watch::Watch;

/// How long it may take; the patience of the change, if that is longer, up to a limit.
const AT_LEAST: Duration = Duration::from_secs(30);
const AT_MOST: Duration = Duration::from_secs(300);

/// Waits until every probe that passed before the change passes again, and until addresses that somebody else gives are
/// there again; what does not come back is added to what remains.
pub async fn await_former(
    context: &Context<'_>,
    touched: &BTreeSet<InterfaceName>,
    restored: &mut Restored,
) -> Vec<ProbeResult> {
    let Context { probes, before, settings, loaded, patience, snapshot, .. } = context;
    if restored.unfinished {
        return probe::run_once(probes, &settings.cluster).await;
    }
    let within = (*patience).clamp(AT_LEAST, AT_MOST);
    // All that passed before: a rollback may lose nothing.
    let probes: Vec<Probe> = probes.iter().flat_map(Probe::expand).map(Probe::strict).collect();
    let watch = Watch::start(Some(&loaded.nm)).await;
    let wake = async || watch.next().await;
    let (after, missing) = tokio::join!(
        probe::wait_until_pass(&probes, before, &settings.cluster, within, wake),
        missing_leases(&loaded.nm, &snapshot.state, touched, within),
    );
    let failing = probe::assess(before, &after);
    let waited = waited(within);
    let failing = failing.broken().map(|broken| format!("{broken}; it passed before the change {waited}"));
    restored.remaining.extend(failing);
    restored.remaining.extend(missing);
    after
}

/// After a crash nobody knows what was probed; that the network gave addresses, the snapshot says.
pub async fn await_former_leases(snapshot: &Snapshot, touched: &BTreeSet<InterfaceName>) -> Vec<String> {
    match Nm::connect().await {
        Ok(nm) => missing_leases(&nm, &snapshot.state, touched, AT_LEAST).await,
        Err(e) => vec![e.to_string()],
    }
}

async fn missing_leases(
    nm: &Nm,
    state: &Value,
    touched: &BTreeSet<InterfaceName>,
    within: Duration,
) -> Vec<String> {
    let leases = leases(state, touched);
    if leases.is_empty() {
        return Vec::new();
    }
    let watch = Watch::start(Some(nm)).await;
    let missing = await_leases(&leases, &watch, Instant::now() + within).await;
    let waited = waited(within);
    let missing = missing.iter().map(|Lease { interface, family }| {
        format!("{interface} has no {family} address; it had one from the network before {waited}")
    });
    missing.collect()
}

fn waited(within: Duration) -> String {
    format!("(waited {} s after the rollback)", within.as_secs())
}

/// An interface that had an address from DHCP or router advertisements.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lease {
    interface: String,
    family: Family,
}

/// Those of the former state, as far as the change touched them.
fn leases(state: &Value, touched: &BTreeSet<InterfaceName>) -> Vec<Lease> {
    let families = [("ipv4", Family::V4), ("ipv6", Family::V6)];
    let of = |interface: &Value| {
        let lease = |(key, family): &(&str, Family)| {
            let ip = interface.get(key)?;
            let automatic = flag(ip, "dhcp") == Some(true) || flag(ip, "autoconf") == Some(true);
            let held = list(ip, &["address"]).iter().filter_map(address).any(|held| is_global(held.addr()));
            (automatic && held).then(|| Lease { interface: name(interface).to_owned(), family: *family })
        };
        families.iter().filter_map(lease).collect::<Vec<_>>()
    };
    interfaces(state).iter().filter(|interface| touched.contains(name(interface))).flat_map(of).collect()
}

fn is_global(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !ip.is_link_local(),
        IpAddr::V6(ip) => !ip.is_unicast_link_local(),
    }
}

/// Returns those that are not back in time.
async fn await_leases(leases: &[Lease], watch: &Watch, deadline: Instant) -> Vec<Lease> {
    let mut missing = leases.to_vec();
    while !missing.is_empty() {
        // What cannot be asked about is not held against the rollback.
        let Ok(addresses) = async { Netlink::open()?.addresses().await }.await else { return Vec::new() };
        missing.retain(|lease| {
            let is_it = |ip: IpAddr| is_global(ip) && (lease.family == Family::V6) == ip.is_ipv6();
            !addresses.iter().any(|held| held.interface == lease.interface && is_it(held.ip))
        });
        if missing.is_empty() || tokio::time::timeout_at(deadline, watch.next()).await.is_err() {
            break;
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_network_gave_to_what_was_touched_is_waited_for() {
        let static_v4 =
            json!({ "enabled": true, "dhcp": false, "address": [{ "ip": "10.0.0.2", "prefix-length": 24 }] });
        let dhcp =
            json!({ "enabled": true, "dhcp": true, "address": [{ "ip": "10.0.0.3", "prefix-length": 24 }] });
        let none_yet = json!({ "enabled": true, "dhcp": true, "address": [] });
        let local = json!({ "enabled": true, "autoconf": true, "address": [{ "ip": "fe80::1", "prefix-length": 64 }] });
        let by_router = json!({ "enabled": true, "autoconf": true, "address": [{ "ip": "fd00::1", "prefix-length": 64 }] });
        let state = json!({ "interfaces": [
            { "name": "eth0", "ipv4": dhcp, "ipv6": by_router },
            { "name": "eth1", "ipv4": static_v4, "ipv6": local },
            { "name": "eth2", "ipv4": none_yet },
            { "name": "eth3", "ipv4": dhcp },
        ] });
        let touched = ["eth0", "eth1", "eth2"].into_iter().map(InterfaceName::from).collect();
        let of = |family| Lease { interface: "eth0".into(), family };
        assert_eq!(leases(&state, &touched), [of(Family::V4), of(Family::V6)]);
    }
}
