//! What the agent counts. The reference page is generated from [`TABLE`], and a test proves that each one moves.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, AtomicU64};

use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Drift;
use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::Value;

use crate::status::{PolicyPhase, Status};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByPhase {
    phase: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByOutcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByDepth {
    depth: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByVersion {
    version: &'static str,
}

/// Name, kind, labels, meaning.
pub const TABLE: [(&str, &str, &str, &str); 13] = [
    ("linesman_policies", "gauge", "phase", "Policies of this host by phase"),
    ("linesman_apply_total", "counter", "outcome", "Transactions that ended, by outcome"),
    (
        "linesman_apply_duration_seconds",
        "histogram",
        "",
        "Duration of transactions, from the checkpoint to the outcome",
    ),
    (
        "linesman_drift_differences",
        "gauge",
        "",
        "Properties that differ from applied policies now; policies with drift: Ignore are left out",
    ),
    ("linesman_corrections_total", "counter", "", "Corrections of drift"),
    ("linesman_observations_total", "counter", "depth", "Observations of the host, by depth: kernel or full"),
    ("linesman_observed_timestamp_seconds", "gauge", "", "When the host was last observed"),
    ("linesman_frozen", "gauge", "", "1 while this host is frozen by `linesman freeze`"),
    ("linesman_build_info", "gauge", "version", "Always 1"),
    (
        "linesman_api_writes_total",
        "counter",
        "object",
        "In a cluster: status updates written to the API server, by object",
    ),
    ("linesman_api_server_unreachable", "gauge", "", "In a cluster: 1 while the API server does not answer"),
    ("kubernetes_nmstate_network_interfaces", "gauge", "type, node", "In a cluster: interfaces by type"),
    ("kubernetes_nmstate_routes", "gauge", "node, ip_stack, type", "In a cluster: running routes"),
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByObject {
    object: &'static str,
}

/// As kubernetes-nmstate's dashboards know them.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByType {
    r#type: String,
    node: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByRoute {
    node: String,
    ip_stack: &'static str,
    r#type: &'static str,
}

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    writes: Family<ByObject, Counter<u64, AtomicU64>>,
    unreachable: Gauge<i64, AtomicI64>,
    interfaces: Family<ByType, Gauge<i64, AtomicI64>>,
    routes: Family<ByRoute, Gauge<i64, AtomicI64>>,
    policies: Family<ByPhase, Gauge<i64, AtomicI64>>,
    applies: Family<ByOutcome, Counter<u64, AtomicU64>>,
    duration: Histogram,
    differences: Gauge<i64, AtomicI64>,
    pub corrections: Counter<u64, AtomicU64>,
    observations: Family<ByDepth, Counter<u64, AtomicU64>>,
    observed: Gauge<i64, AtomicI64>,
    frozen: Gauge<i64, AtomicI64>,
}

impl Metrics {
    pub fn new(version: &'static str) -> Self {
        let build: Family<ByVersion, Gauge<i64, AtomicI64>> = Family::default();
        build.get_or_create(&ByVersion { version }).set(1);
        let mut metrics = Self {
            registry: Registry::default(),
            writes: Family::default(),
            unreachable: Gauge::default(),
            interfaces: Family::default(),
            routes: Family::default(),
            policies: Family::default(),
            applies: Family::default(),
            duration: Histogram::new([0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0]),
            differences: Gauge::default(),
            corrections: Counter::default(),
            observations: Family::default(),
            observed: Gauge::default(),
            frozen: Gauge::default(),
        };
        for (name, _, _, help) in TABLE {
            // The encoder writes the ending that counters have by itself.
            let (short, help) = (name.strip_suffix("_total").unwrap_or(name), help.to_string());
            let registry = &mut metrics.registry;
            match name {
                "linesman_policies" => registry.register(short, help, metrics.policies.clone()),
                "linesman_apply_total" => registry.register(short, help, metrics.applies.clone()),
                "linesman_apply_duration_seconds" => registry.register(short, help, metrics.duration.clone()),
                "linesman_drift_differences" => registry.register(short, help, metrics.differences.clone()),
                "linesman_corrections_total" => registry.register(short, help, metrics.corrections.clone()),
                "linesman_observations_total" => registry.register(short, help, metrics.observations.clone()),
                "linesman_observed_timestamp_seconds" => {
                    registry.register(short, help, metrics.observed.clone());
                }
                "linesman_api_writes_total" => registry.register(short, help, metrics.writes.clone()),
                "linesman_api_server_unreachable" => {
                    registry.register(short, help, metrics.unreachable.clone())
                }
                "kubernetes_nmstate_network_interfaces" => {
                    registry.register(short, help, metrics.interfaces.clone());
                }
                "kubernetes_nmstate_routes" => registry.register(short, help, metrics.routes.clone()),
                "linesman_frozen" => registry.register(short, help, metrics.frozen.clone()),
                _ => registry.register(short, help, build.clone()),
            }
        }
        metrics
    }

    pub fn outcome(&self, outcome: &Outcome) {
        let word = match outcome.verdict {
            Verdict::Unchanged => "unchanged",
            Verdict::Committed | Verdict::Pending => "committed",
            Verdict::RolledBack => "rolled-back",
            Verdict::Incomplete => "incomplete",
            // Without a step it did not begin: the document does not fit, or the host is not ready.
            Verdict::Abandoned if outcome.step.is_none() => "refused",
            Verdict::Abandoned => "abandoned",
        };
        self.applies.get_or_create(&ByOutcome { outcome: word }).inc();
        if outcome.milliseconds > 0 {
            #[allow(clippy::cast_precision_loss)]
            self.duration.observe(outcome.milliseconds as f64 / 1000.0);
        }
    }

    pub fn looked(&self, depth: &'static str) {
        self.observations.get_or_create(&ByDepth { depth }).inc();
    }

    pub fn status(&self, status: &Status, observed: u64) {
        for phase in PolicyPhase::ALL {
            let count = status.policies.iter().filter(|p| p.phase == phase).count();
            let label = ByPhase { phase: phase.as_str() };
            self.policies.get_or_create(&label).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let heeded = status.policies.iter().filter(|p| p.drift != Drift::Ignore);
        let differences: usize = heeded.map(|p| p.differences.len()).sum();
        self.differences.set(i64::try_from(differences).unwrap_or(i64::MAX));
        self.frozen.set(i64::from(status.frozen.is_some()));
        self.observed.set(i64::try_from(observed).unwrap_or(i64::MAX));
    }

    pub fn wrote(&self, object: &'static str) {
        self.writes.get_or_create(&ByObject { object }).inc();
    }

    pub fn api_server(&self, unreachable: bool) {
        self.unreachable.set(unreachable.into());
    }

    /// What the node has, as its NodeNetworkState has it.
    pub fn inventory(&self, node: &str, state: &Value) {
        self.interfaces.clear();
        self.routes.clear();
        for interface in list(&state["interfaces"]) {
            let r#type = interface["type"].as_str().unwrap_or("unknown").to_string();
            self.interfaces.get_or_create(&ByType { r#type, node: node.into() }).inc();
        }
        let configured: HashSet<&str> = list(&state["routes"]["config"]).filter_map(destination).collect();
        for route in list(&state["routes"]["running"]).filter_map(destination) {
            let ip_stack = if route.contains(':') { "ipv6" } else { "ipv4" };
            let r#type = if configured.contains(route) { "static" } else { "dynamic" };
            self.routes.get_or_create(&ByRoute { node: node.into(), ip_stack, r#type }).inc();
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Err(e) = encode(&mut text, &self.registry) {
            tracing::error!("metrics: {e}");
        }
        text
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn destination(route: &Value) -> Option<&str> {
    route["destination"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_that_is_ignored_is_not_counted() {
        let with = |drift: Drift| {
            let difference = linesman_core::compare::Difference {
                path: linesman_core::path::Path::root(),
                want: 1.into(),
                got: 2.into(),
            };
            crate::status::PolicyStatus {
                name: "a".into(),
                file: None,
                phase: PolicyPhase::Drifted,
                reason: None,
                since: None,
                differences: vec![difference],
                drift,
                former_applied: false,
            }
        };
        let metrics = Metrics::new("1.2.3");
        let counted = |policies| {
            metrics.status(&Status { policies, ..Status::default() }, 77);
            metrics.differences.get()
        };
        assert_eq!(counted(vec![with(Drift::Ignore)]), 0);
        assert_eq!(counted(vec![with(Drift::Report), with(Drift::Ignore), with(Drift::Correct)]), 2);
    }

    #[test]
    fn every_metric_of_the_table_is_there_and_moves() {
        let metrics = Metrics::new("1.2.3");
        let before = metrics.text();
        metrics.outcome(&Outcome { milliseconds: 300, ..Outcome::committed() });
        metrics.corrections.inc();
        metrics.looked("full");
        let status = Status {
            frozen: Some(crate::freeze::Freeze { since: "".into(), by: "".into(), reason: None }),
            policies: vec![crate::status::PolicyStatus {
                name: "a".into(),
                file: None,
                phase: PolicyPhase::Drifted,
                reason: None,
                since: None,
                differences: vec![linesman_core::compare::Difference {
                    path: linesman_core::path::Path::root(),
                    want: 1.into(),
                    got: 2.into(),
                }],
                drift: linesman_core::policy::Drift::Report,
                former_applied: false,
            }],
            ..Status::default()
        };
        metrics.status(&status, 77);
        metrics.wrote("enactment");
        metrics.api_server(true);
        let routes = serde_json::json!([{ "destination": "0.0.0.0/0" }, { "destination": "::/0" }]);
        let state = serde_json::json!({ "interfaces": [{ "name": "eth0", "type": "ethernet" }],
            "routes": { "running": routes, "config": [{ "destination": "::/0" }] } });
        metrics.inventory("n1", &state);
        let after = metrics.text();
        assert!(
            after.contains("kubernetes_nmstate_routes{node=\"n1\",ip_stack=\"ipv6\",type=\"static\"} 1"),
            "{after}"
        );
        for (name, ..) in TABLE {
            let lines = |text: &str| -> Vec<String> {
                text.lines().filter(|l| l.starts_with(name)).map(str::to_owned).collect()
            };
            assert!(!lines(&after).is_empty(), "{name} is missing:\n{after}");
            if name != "linesman_build_info" {
                assert_ne!(lines(&before), lines(&after), "{name} does not move");
            }
        }
    }
}
