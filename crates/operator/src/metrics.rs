//! The operator's metrics. The reference page is generated from [`TABLE`], and a test proves that each one moves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64};

use linesman_fleet::rollout::EnactmentFacts;
use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::cache::Cache;

/// Name, kind, labels, meaning. Those of kubernetes-nmstate keep their names.
pub const TABLE: [(&str, &str, &str, &str); 9] = [
    ("kubernetes_nmstate_policies_status", "gauge", "status", "Policies by the condition that is true"),
    (
        "kubernetes_nmstate_enactments_status",
        "gauge",
        "node, status",
        "Enactments by node and by the condition that is true",
    ),
    (
        "kubernetes_nmstate_features_applied",
        "gauge",
        "name",
        "1 while any enactment uses this NMState feature",
    ),
    ("linesman_operator_leader", "gauge", "", "1 while this operator is the leader"),
    (
        "linesman_operator_writes_total",
        "counter",
        "kind",
        "Writes to the API server by kind; the Lease is not counted",
    ),
    (
        "linesman_operator_refused_writes_total",
        "counter",
        "",
        "Writes that the API server refused because the object had changed in between",
    ),
    (
        "linesman_rollout_in_flight",
        "gauge",
        "policy",
        "Nodes being changed, or about to be; at most the policy's maxUnavailable",
    ),
    (
        "linesman_rollout_duration_seconds",
        "histogram",
        "",
        "Time from the start of a rollout until every node is configured",
    ),
    ("linesman_operator_build_info", "gauge", "version", "Always 1"),
];

type Number = Gauge<i64, AtomicI64>;
type Count = Counter<u64, AtomicU64>;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByStatus {
    status: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, EncodeLabelSet)]
struct ByNode {
    node: String,
    status: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByName {
    name: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByPolicy {
    policy: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByVersion {
    version: &'static str,
}

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    policies: Family<ByStatus, Number>,
    enactments: Family<ByNode, Number>,
    features: Family<ByName, Number>,
    leader: Number,
    writes: Family<ByKind, Count>,
    refused: Count,
    in_flight: Family<ByPolicy, Number>,
    duration: Histogram,
}

impl Metrics {
    pub fn new(version: &'static str) -> Self {
        let build: Family<ByVersion, Number> = Family::default();
        build.get_or_create(&ByVersion { version }).set(1);
        let mut metrics = Self {
            registry: Registry::default(),
            policies: Family::default(),
            enactments: Family::default(),
            features: Family::default(),
            leader: Number::default(),
            writes: Family::default(),
            refused: Count::default(),
            in_flight: Family::default(),
            duration: Histogram::new([1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0]),
        };
        for (name, _, _, help) in TABLE {
            // The encoder writes the ending that counters have by itself.
            let (short, help) = (name.strip_suffix("_total").unwrap_or(name), help.to_string());
            let registry = &mut metrics.registry;
            match name {
                "kubernetes_nmstate_policies_status" => {
                    registry.register(short, help, metrics.policies.clone())
                }
                "kubernetes_nmstate_enactments_status" => {
                    registry.register(short, help, metrics.enactments.clone())
                }
                "kubernetes_nmstate_features_applied" => {
                    registry.register(short, help, metrics.features.clone())
                }
                "linesman_operator_leader" => registry.register(short, help, metrics.leader.clone()),
                "linesman_operator_writes_total" => registry.register(short, help, metrics.writes.clone()),
                "linesman_operator_refused_writes_total" => {
                    registry.register(short, help, metrics.refused.clone())
                }
                "linesman_rollout_in_flight" => registry.register(short, help, metrics.in_flight.clone()),
                "linesman_rollout_duration_seconds" => {
                    registry.register(short, help, metrics.duration.clone())
                }
                _ => registry.register(short, help, build.clone()),
            }
        }
        metrics
    }

    pub fn wrote(&self, kind: &'static str) {
        self.writes.get_or_create(&ByKind { kind }).inc();
    }

    pub fn refused(&self) {
        self.refused.inc();
    }

    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    #[allow(clippy::cast_precision_loss)]
    pub fn finished(&self, seconds: u64) {
        self.duration.observe(seconds as f64);
    }

    /// The rollout of a policy; none: the policy is gone.
    pub fn in_flight(&self, policy: &str, nodes: Option<u64>) {
        let label = ByPolicy { policy: policy.into() };
        match nodes {
            Some(nodes) => {
                self.in_flight.get_or_create(&label).set(i64::try_from(nodes).unwrap_or(i64::MAX));
            }
            None => {
                self.in_flight.remove(&label);
            }
        }
    }

    /// The current values, as OpenMetrics.
    pub fn text(&self, cache: &Cache) -> String {
        self.policies.clear();
        for object in cache.policy_objects.values() {
            for condition in object.status.conditions.iter().filter(|condition| condition.is_true()) {
                self.policies.get_or_create(&ByStatus { status: condition.kind.clone() }).inc();
            }
        }
        self.enactments.clear();
        for (label, count) in by_node(cache.enactments.values()) {
            self.enactments.get_or_create(&label).set(count);
        }
        self.features.clear();
        for feature in cache.enactments.values().flat_map(|e| &e.status.features) {
            self.features.get_or_create(&ByName { name: feature.clone() }).set(1);
        }
        let mut text = String::new();
        if let Err(error) = encode(&mut text, &self.registry) {
            tracing::error!(error = &error as &dyn std::error::Error, "cannot encode the metrics");
        }
        text
    }
}

fn by_node<'a>(enactments: impl Iterator<Item = &'a EnactmentFacts>) -> BTreeMap<ByNode, i64> {
    let mut counts = BTreeMap::new();
    for enactment in enactments {
        for condition in enactment.status.conditions.iter().filter(|condition| condition.is_true()) {
            let label = ByNode { node: enactment.node.clone(), status: condition.kind.clone() };
            *counts.entry(label).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use linesman_api::condition::{Condition, Truth};
    use linesman_api::enactment::EnactmentStatus;

    use super::*;
    use crate::cache::PolicyObject;

    #[test]
    fn every_metric_of_the_table_is_there_and_moves() {
        let (metrics, mut cache) = (Metrics::new("1.2.3"), Cache::default());
        let before = metrics.text(&cache);
        metrics.wrote("create");
        metrics.refused();
        metrics.leads(true);
        metrics.finished(7);
        metrics.in_flight("blue", Some(2));
        let conditions = vec![Condition::new("Available", Truth::True, "", "")];
        let status = EnactmentStatus {
            conditions: conditions.clone(),
            features: vec!["ovs".into()],
            ..Default::default()
        };
        cache
            .enactments
            .insert("w1.blue".into(), EnactmentFacts { node: "w1".into(), status, ..Default::default() });
        let mut object = PolicyObject::default();
        object.status.conditions = conditions;
        cache.policy_objects.insert("blue".into(), object);
        let after = metrics.text(&cache);
        for (name, ..) in TABLE {
            let lines = |text: &str| -> Vec<String> {
                text.lines().filter(|l| l.starts_with(name)).map(str::to_owned).collect()
            };
            assert!(!lines(&after).is_empty(), "{name} is missing:\n{after}");
            if name != "linesman_operator_build_info" {
                assert_ne!(lines(&before), lines(&after), "{name} does not move");
            }
        }
        assert!(
            after.contains(r#"kubernetes_nmstate_enactments_status{node="w1",status="Available"} 1"#),
            "{after}"
        );
        metrics.in_flight("blue", None);
        assert!(!metrics.text(&cache).contains("blue"), "a deleted policy has no metrics");
    }
}
