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

use crate::netlink::{AddressFact, Netlink};
use crate::nm::Nm;
use crate::probe::{self, Cluster, Probe, ProbeResult};
use crate::restore::{Restored, foreign, metrics};
use crate::snapshot::Snapshot;
use crate::watch::Watch;

/// How long it may take; the patience of the change, if that is longer, up to a limit.
const AT_LEAST: Duration = Duration::from_secs(30);
const AT_MOST: Duration = Duration::from_secs(300);
/// How long it may take until routes have their former metrics.
const METRICS: Duration = Duration::from_secs(5);

/// What takes its time to be as before the change.
pub struct Former<'a> {
    /// None: only the kernel says when something happens.
    pub nm: Option<&'a Nm>,
    pub snapshot: &'a Snapshot,
    pub touched: &'a BTreeSet<InterfaceName>,
    pub before: &'a [ProbeResult],
    pub cluster: &'a Cluster,
}

impl Former<'_> {
    /// Waits until every probe that passed before the change passes again, and until addresses that somebody else gives
    /// are there again; what does not come back is added to what remains.
    pub async fn wait(&self, patience: Duration, restored: &mut Restored) -> Vec<ProbeResult> {
        // All that passed before: a rollback may lose nothing.
        let probes: Vec<Probe> = self.before.iter().map(|result| result.probe.clone().strict()).collect();
        if restored.unfinished {
            return probe::run_once(&probes, self.cluster).await;
        }
        let within = patience.clamp(AT_LEAST, AT_MOST);
        let watch = Watch::start(self.nm).await;
        let wake = async || watch.next().await;
        let (after, missing) = tokio::join!(
            probe::wait_until_pass(&probes, self.before, self.cluster, within, wake),
            self.missing_leases(within),
        );
        let failing = probe::assess(self.before, &after);
        let waited = waited(within);
        let failing =
            failing.broken().map(|broken| format!("{broken}; it passed before the change {waited}"));
        restored.remaining.extend(failing);
        restored.remaining.extend(missing);
        if let Some(nm) = self.nm {
            restored.remaining.extend(self.wrong_metrics(nm, &watch).await);
        }
        after
    }

    /// The leases are back: their default routes get the metrics that they had. What does not.
    async fn wrong_metrics(&self, nm: &Nm, watch: &Watch) -> Vec<String> {
        let moved = async || {
            let routes = async { Netlink::open()?.default_routes().await }.await.unwrap_or_default();
            metrics::moved(&self.snapshot.state, self.touched, &routes)
        };
        let wrong = moved().await;
        if wrong.is_empty() {
            return Vec::new();
        }
        metrics::set_right(nm, &wrong, watch, Instant::now() + METRICS).await;
        // A metric is set by applying the device's profile again, which takes what others have there away.
        foreign::restore(self.snapshot).await;
        let deadline = Instant::now() + METRICS;
        loop {
            let wrong = moved().await;
            if wrong.is_empty() || tokio::time::timeout_at(deadline, watch.next()).await.is_err() {
                return wrong.iter().map(ToString::to_string).collect();
            }
        }
    }

    async fn missing_leases(&self, within: Duration) -> Vec<String> {
        let leases = leases(self.snapshot, self.touched);
        if leases.is_empty() {
            return Vec::new();
        }
        let watch = Watch::start(self.nm).await;
        let missing = await_leases(&leases, self.snapshot, &watch, Instant::now() + within).await;
        let waited = waited(within);
        let missing = missing.iter().map(|Lease { interface, family }| {
            format!("{interface} has no {family} address from the network; it had one before {waited}")
        });
        missing.collect()
    }
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
fn leases(snapshot: &Snapshot, touched: &BTreeSet<InterfaceName>) -> Vec<Lease> {
    let families = [("ipv4", Family::V4), ("ipv6", Family::V6)];
    let of = |interface: &Value| {
        let lease = |(key, family): &(&str, Family)| {
            let ip = interface.get(key)?;
            let automatic = flag(ip, "dhcp") == Some(true) || flag(ip, "autoconf") == Some(true);
            let leased = |held: &Value| {
                let permanent = held.get("valid-life-time").is_none();
                address(held).is_some_and(|held| is_given(snapshot, held.addr(), permanent))
            };
            let held = list(ip, &["address"]).iter().any(leased);
            (automatic && held).then(|| Lease { interface: name(interface).to_owned(), family: *family })
        };
        families.iter().filter_map(lease).collect::<Vec<_>>()
    };
    let state = interfaces(&snapshot.state).iter();
    state.filter(|interface| touched.contains(name(interface))).flat_map(of).collect()
}

/// Whether an address comes from the network: a virtual IP and a declared address beside it do not.
fn is_given(snapshot: &Snapshot, ip: IpAddr, permanent: bool) -> bool {
    let is_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    let of_others = || snapshot.foreign.iter().any(|foreign| foreign.ip == ip);
    let declared =
        || snapshot.profiles.iter().flat_map(|profile| profile.addresses()).any(|(own, _)| own == ip);
    !is_local && (!permanent || (!of_others() && !declared()))
}

/// Returns those that are not back in time.
async fn await_leases(leases: &[Lease], snapshot: &Snapshot, watch: &Watch, deadline: Instant) -> Vec<Lease> {
    let mut missing = leases.to_vec();
    while !missing.is_empty() {
        // What cannot be asked about is not there.
        let addresses = async { Netlink::open()?.addresses().await }.await.unwrap_or_default();
        missing.retain(|lease| !addresses.iter().any(|held| satisfies(lease, snapshot, held)));
        if missing.is_empty() || tokio::time::timeout_at(deadline, watch.next()).await.is_err() {
            break;
        }
    }
    missing
}

fn satisfies(lease: &Lease, snapshot: &Snapshot, held: &AddressFact) -> bool {
    held.interface == lease.interface
        && held.ip.is_ipv6() == (lease.family == Family::V6)
        && is_given(snapshot, held.ip, held.permanent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::keyfile::ProfileFile;

    #[test]
    fn only_what_the_network_gave_to_what_was_touched_is_waited_for() {
        let static_v4 =
            json!({ "enabled": true, "dhcp": false, "address": [{ "ip": "10.0.0.2", "prefix-length": 24 }] });
        let dhcp =
            json!({ "enabled": true, "dhcp": true, "address": [{ "ip": "10.0.0.3", "prefix-length": 24 }] });
        let none_yet = json!({ "enabled": true, "dhcp": true, "address": [] });
        let local = json!({ "enabled": true, "autoconf": true, "address": [{ "ip": "fe80::1", "prefix-length": 64 }] });
        let by_router = json!({ "enabled": true, "autoconf": true, "address": [{ "ip": "fd00::1", "prefix-length": 64 }] });
        let virtual_ip =
            json!({ "enabled": true, "dhcp": true, "address": [{ "ip": "10.0.0.99", "prefix-length": 32 }] });
        let state = json!({ "interfaces": [
            { "name": "eth0", "ipv4": dhcp, "ipv6": by_router },
            { "name": "eth1", "ipv4": static_v4, "ipv6": local },
            { "name": "eth2", "ipv4": none_yet },
            { "name": "eth3", "ipv4": dhcp },
            { "name": "eth4", "ipv4": virtual_ip },
        ] });
        let foreign = vec![AddressFact::test("eth4", "10.0.0.99")];
        let snapshot = Snapshot { state, foreign, ..Snapshot::default() };
        let touched = ["eth0", "eth1", "eth2", "eth4"].into_iter().map(InterfaceName::from).collect();
        let of = |family| Lease { interface: "eth0".into(), family };
        assert_eq!(leases(&snapshot, &touched), [of(Family::V4), of(Family::V6)]);
    }

    /// A rollback restores both long before a server answers.
    #[test]
    fn neither_a_virtual_ip_nor_a_declared_address_is_a_lease() {
        let content = "[connection]\nuuid=u-1\n[ipv4]\nmethod=auto\naddress1=10.0.0.50/24\n";
        let profile = ProfileFile { path: "/etc/a".into(), mode: 0o600, content: content.into() };
        let snapshot = Snapshot {
            foreign: vec![AddressFact::test("eth0", "10.0.0.99")],
            profiles: vec![profile],
            ..Snapshot::default()
        };
        let lease = Lease { interface: "eth0".into(), family: Family::V4 };
        let held = |ip| AddressFact::test("eth0", ip);
        for ip in ["10.0.0.99", "10.0.0.50", "169.254.3.3", "fd00::1"] {
            assert!(!satisfies(&lease, &snapshot, &held(ip)), "{ip}");
        }
        assert!(satisfies(&lease, &snapshot, &held("10.0.0.3")), "for ever, and nobody else's");
        let limited = AddressFact { permanent: false, ..held("10.0.0.99") };
        assert!(satisfies(&lease, &snapshot, &limited), "the server gave it");
        assert!(!satisfies(&lease, &snapshot, &AddressFact { interface: "eth1".into(), ..limited }));
    }
}
