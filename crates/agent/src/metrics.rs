//! What the agent counts. The reference page is generated from [`TABLE`], and a test proves that each one moves.

use std::collections::HashSet;

use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Drift;
use serde_json::Value;

use crate::status::{PolicyPhase, Status};

// Those of kubernetes-nmstate have the names and labels that its dashboards know.
linesman_daemon::metrics! {
    policies: gauge "linesman_policies" ["phase"] "Policies of this host by phase";
    applies: counter "linesman_apply_total" ["outcome"] "Transactions that ended, by outcome";
    duration: histogram(0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0) "linesman_apply_duration_seconds" []
        "Duration of transactions, from the checkpoint to the outcome";
    differences: gauge "linesman_drift_differences" []
        "Properties that differ from applied policies now; policies with drift: Ignore are left out";
    pub corrections: counter "linesman_corrections_total" [] "Corrections of drift";
    observations: counter "linesman_observations_total" ["depth"]
        "Observations of the host, by depth: kernel or full";
    observed: gauge "linesman_observed_timestamp_seconds" [] "When the host was last observed";
    frozen: gauge "linesman_frozen" [] "1 while this host is frozen by `linesman freeze`";
    build: gauge "linesman_build_info" ["version"] "Always 1";
    writes: counter "linesman_api_writes_total" ["object"]
        "In a cluster: status updates written to the API server, by object";
    unreachable: gauge "linesman_api_server_unreachable" []
        "In a cluster: 1 while the API server does not answer";
    interfaces: gauge "kubernetes_nmstate_network_interfaces" ["type", "node"]
        "In a cluster: interfaces by type";
    routes: gauge "kubernetes_nmstate_routes" ["node", "ip_stack", "type"] "In a cluster: running routes";
}

impl Metrics {
    pub fn new(version: &str) -> Self {
        let metrics = Self::register();
        metrics.build.with([version]).set(1);
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
        self.applies.with([word]).inc();
        if outcome.milliseconds > 0 {
            #[allow(clippy::cast_precision_loss)]
            self.duration.observe(outcome.milliseconds as f64 / 1000.0);
        }
    }

    pub fn looked(&self, depth: &'static str) {
        self.observations.with([depth]).inc();
    }

    pub fn status(&self, status: &Status, observed: u64) {
        for phase in PolicyPhase::ALL {
            let count = status.policies.iter().filter(|p| p.phase == phase).count();
            self.policies.with([phase.as_str()]).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let heeded = status.policies.iter().filter(|p| p.drift != Drift::Ignore);
        let differences: usize = heeded.map(|p| p.differences.len()).sum();
        self.differences.set(i64::try_from(differences).unwrap_or(i64::MAX));
        self.frozen.set(i64::from(status.frozen.is_some()));
        self.observed.set(i64::try_from(observed).unwrap_or(i64::MAX));
    }

    pub fn wrote(&self, object: &'static str) {
        self.writes.with([object]).inc();
    }

    pub fn api_server(&self, unreachable: bool) {
        self.unreachable.set(unreachable.into());
    }

    /// What the node has, as its NodeNetworkState has it.
    pub fn inventory(&self, node: &str, state: &Value) {
        self.interfaces.clear();
        self.routes.clear();
        for interface in list(&state["interfaces"]) {
            let r#type = interface["type"].as_str().unwrap_or("unknown");
            self.interfaces.with([r#type, node]).inc();
        }
        let configured: HashSet<&str> = list(&state["routes"]["config"]).filter_map(destination).collect();
        for route in list(&state["routes"]["running"]).filter_map(destination) {
            let ip_stack = if route.contains(':') { "ipv6" } else { "ipv4" };
            let r#type = if configured.contains(route) { "static" } else { "dynamic" };
            self.routes.with([node, ip_stack, r#type]).inc();
        }
    }

    pub fn text(&self) -> String {
        self.encode()
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
        for &(name, ..) in TABLE {
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
