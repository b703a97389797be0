//! Metrics that NetworkManager chose itself.
//!
//! An interface that is activated again is queued behind all others, so that the default route may lead
//! through another NIC than before. Its former metric is put on the device; the profile stays as it was.

use std::collections::BTreeSet;
use std::fmt;

use linesman_core::interface_name::InterfaceName;
use linesman_core::reach::{is_default, is_in_main_table};
use linesman_core::state::{interfaces, list, name};
use serde_json::Value;
use tokio::time::Instant;

use crate::netlink::DefaultRoute;
use crate::nm::Nm;
use crate::watch::Watch;

/// An interface whose routes of one family had this metric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    interface: String,
    family: &'static str,
    metric: i64,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { interface, family, metric } = self;
        write!(f, "the {family} default route through {interface} had the metric {metric} before")
    }
}

/// Metrics that profiles fix come back with them: what differs is NetworkManager's own choice, or was put on the device by
/// an earlier rollback and is in no profile.
pub fn wrong(goal: &Value, now: &Value) -> BTreeSet<Metric> {
    let config = |state: &Value| list(state, &["routes", "config"]).to_vec();
    let now_routes = config(now);
    let holds = |route: &Value| {
        now_routes.iter().any(|n| {
            ["destination", "next-hop-interface", "table-id", "metric"]
                .iter()
                .all(|key| n.get(key) == route.get(key))
        })
    };
    let mut wrong: BTreeSet<Metric> =
        config(goal).iter().filter(|route| !holds(route)).filter_map(of_route).collect();
    let present = of_interfaces(now);
    wrong.extend(of_interfaces(goal).difference(&present).cloned());
    wrong
}

fn of_interfaces(state: &Value) -> BTreeSet<Metric> {
    let mut metrics = BTreeSet::new();
    for interface in interfaces(state) {
        for family in ["ipv4", "ipv6"] {
            let of = |key: &str| interface[family][key].as_i64().filter(|metric| *metric >= 0);
            metrics.extend(
                of("prefix-route-metric").or_else(|| of("auto-route-metric")).map(|metric| Metric {
                    interface: name(interface).to_owned(),
                    family,
                    metric,
                }),
            );
        }
    }
    metrics
}

fn of_route(route: &Value) -> Option<Metric> {
    let family = if route["destination"].as_str()?.contains(':') { "ipv6" } else { "ipv4" };
    Some(Metric {
        interface: route["next-hop-interface"].as_str()?.to_string(),
        family,
        metric: route["metric"].as_i64()?,
    })
}

/// Default routes of leases and routers are not among the former: they come when their server answers. Once they are there,
/// those whose metric is another one than before.
pub fn moved(before: &Value, touched: &BTreeSet<InterfaceName>, now: &[DefaultRoute]) -> BTreeSet<Metric> {
    let former = list(before, &["routes", "running"]).iter();
    let former = former.filter(|route| is_default(route) && is_in_main_table(route)).filter_map(of_route);
    let has_other = |metric: &Metric| {
        let through = now.iter().filter(|route| {
            route.ipv6 == (metric.family == "ipv6")
                && route.next_hops.iter().any(|hop| hop.interface == metric.interface)
        });
        let metrics: Vec<i64> = through.map(|route| i64::from(route.metric)).collect();
        !metrics.is_empty() && !metrics.contains(&metric.metric)
    };
    former.filter(|metric| touched.contains(metric.interface.as_str()) && has_other(metric)).collect()
}

/// A profile can be applied again only to a device that is activated, which may take until a lease is there: then, if that
/// comes in time.
pub async fn set_right(nm: &Nm, metrics: &BTreeSet<Metric>, watch: &Watch, deadline: Instant) {
    let mut left = metrics.clone();
    while !left.is_empty() {
        set_activated(nm, &mut left).await;
        if left.is_empty() || tokio::time::timeout_at(deadline, watch.next()).await.is_err() {
            return;
        }
    }
}

async fn set_activated(nm: &Nm, metrics: &mut BTreeSet<Metric>) {
    let Ok(view) = nm.view().await else { return };
    for metric in std::mem::take(metrics) {
        let Metric { interface, family, metric: number } = &metric;
        match view.devices.iter().find(|d| d.interface == *interface && d.activated()) {
            Some(device) => {
                if let Err(e) = nm.set_route_metric(&device.path, family, *number).await {
                    tracing::warn!(interface, error = %e, "cannot restore the route metric");
                }
            }
            None => {
                metrics.insert(metric);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::NextHop;
    use serde_json::json;

    fn state(metric: u32) -> Value {
        json!({ "interfaces": [], "routes": { "config": [
            { "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "metric": metric, "table-id": 254 },
            { "destination": "::/0", "next-hop-interface": "eth0", "metric": metric, "table-id": 254 },
            { "destination": "192.0.2.0/24", "next-hop-interface": "eth0", "metric": 150, "table-id": 254 }
        ]}})
    }

    #[test]
    fn a_default_route_of_a_lease_has_its_former_metric() {
        let before = json!({ "routes": { "running": [
            { "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "metric": 103, "table-id": 254 },
            { "destination": "0.0.0.0/0", "next-hop-interface": "eth1", "metric": 104, "table-id": 254 }
        ]}});
        let touched = [InterfaceName::from("eth0")].into();
        let now = |interface: &str, metric| DefaultRoute {
            ipv6: false,
            metric,
            next_hops: vec![NextHop { gateway: None, index: 1, interface: interface.into() }],
        };
        let eth0 = Metric { interface: "eth0".into(), family: "ipv4", metric: 103 };
        assert_eq!(moved(&before, &touched, &[now("eth0", 105), now("eth1", 109)]), [eth0].into());
        assert!(moved(&before, &touched, &[now("eth0", 103)]).is_empty());
        assert!(moved(&before, &touched, &[now("eth1", 104)]).is_empty(), "it is not there yet");
    }

    #[test]
    fn only_what_moved_is_set_right() {
        assert!(wrong(&state(100), &state(100)).is_empty());
        let metric = |family| Metric { interface: "eth0".into(), family, metric: 100 };
        assert_eq!(wrong(&state(100), &state(103)), BTreeSet::from([metric("ipv4"), metric("ipv6")]));
    }

    /// A rollback had set it; the next activation of the profile does not.
    #[test]
    fn what_only_the_device_had_is_set_right() {
        let device = |metric: i64| {
            let ipv4 = json!({ "enabled": true, "prefix-route-metric": metric });
            json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "ipv4": ipv4 }] })
        };
        let eth0 = Metric { interface: "eth0".into(), family: "ipv4", metric: 100 };
        assert_eq!(wrong(&device(100), &device(-1)), [eth0].into());
        assert!(wrong(&device(100), &device(100)).is_empty());
        assert!(wrong(&device(-1), &device(-1)).is_empty(), "NetworkManager chooses it");
    }
}
