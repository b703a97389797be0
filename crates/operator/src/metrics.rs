//! The operator's metrics. The reference page is generated from [`TABLE`], and a test proves that each one moves.

use std::collections::BTreeMap;

use linesman_fleet::rollout::EnactmentFacts;

use crate::cache::Cache;

// Those of kubernetes-nmstate keep their names.
linesman_daemon::metrics! {
    policies: gauge "kubernetes_nmstate_policies_status" ["status"] "Policies by the condition that is true";
    enactments: gauge "kubernetes_nmstate_enactments_status" ["node", "status"]
        "Enactments by node and by the condition that is true";
    features: gauge "kubernetes_nmstate_features_applied" ["name"]
        "1 while any enactment uses this NMState feature";
    leader: gauge "linesman_operator_leader" [] "1 while this operator is the leader";
    writes: counter "linesman_operator_writes_total" ["kind"]
        "Writes to the API server by kind; the Lease is not counted";
    refused: counter "linesman_operator_refused_writes_total" []
        "Writes that the API server refused because the object had changed in between";
    in_flight: gauge "linesman_rollout_in_flight" ["policy"]
        "Nodes being changed, or about to be; at most the policy's maxUnavailable";
    duration: histogram(1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0)
        "linesman_rollout_duration_seconds" [] "Time from the start of a rollout until every node is configured";
    build: gauge "linesman_operator_build_info" ["version"] "Always 1";
}

impl Metrics {
    pub fn new(version: &str) -> Self {
        let metrics = Self::register();
        metrics.build.with([version]).set(1);
        metrics
    }

    pub fn wrote(&self, kind: &'static str) {
        self.writes.with([kind]).inc();
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
        match nodes {
            Some(nodes) => {
                self.in_flight.with([policy]).set(i64::try_from(nodes).unwrap_or(i64::MAX));
            }
            None => self.in_flight.remove([policy]),
        }
    }

    /// The current values, as OpenMetrics.
    pub fn text(&self, cache: &Cache) -> String {
        self.policies.clear();
        for object in cache.policy_objects.values() {
            for condition in object.status.conditions.iter().filter(|condition| condition.is_true()) {
                self.policies.with([&condition.kind]).inc();
            }
        }
        self.enactments.clear();
        for ((node, status), count) in by_node(cache.enactments.values()) {
            self.enactments.with([node, status]).set(count);
        }
        self.features.clear();
        for feature in cache.enactments.values().flat_map(|e| &e.status.features) {
            self.features.with([feature]).set(1);
        }
        self.encode()
    }
}

fn by_node<'a>(enactments: impl Iterator<Item = &'a EnactmentFacts>) -> BTreeMap<(&'a str, &'a str), i64> {
    let mut counts = BTreeMap::new();
    for enactment in enactments {
        for condition in enactment.status.conditions.iter().filter(|condition| condition.is_true()) {
            *counts.entry((enactment.node.as_str(), condition.kind.as_str())).or_default() += 1;
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
        for &(name, ..) in TABLE {
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
