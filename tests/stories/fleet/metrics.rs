//! Metrics of agent and operator change when they should; and a failure gives one event.

use linesman_tests::fleet::{Fleet, bridge};
use serde_json::{Value, json};

const OPERATOR: u16 = 9474;
const AGENT: u16 = 9473;

#[derive(Debug)]
struct Page(String);

impl Page {
    /// The sum of all samples whose name and labels contain these.
    fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        let meant = lines.filter(|line| {
            let known = line.split(['{', ' ']).next().unwrap_or_default();
            known == name && labels.iter().all(|label| line.contains(label))
        });
        meant.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }
}

fn listen(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// Without a program that not every node has.
fn ask(port: u16) -> [String; 3] {
    let text = "GET /metrics HTTP/1.1\\r\\nHost: lab\\r\\nConnection: close\\r\\n\\r\\n";
    ["bash".into(), "-c".into(), format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf '{text}' >&3; cat <&3")]
}

fn of_operator(fleet: &Fleet) -> Page {
    Page(fleet.lab.hub().command_of_the_machine(ask(OPERATOR)).run().unwrap_or_default())
}

fn of_agent(fleet: &Fleet, node: &str) -> Page {
    Page(fleet.node(node).run(ask(AGENT)).unwrap_or_default())
}

fn warnings(fleet: &Fleet, policy: &str) -> Vec<Value> {
    let text = fleet.cluster.run(&["get", "events.v1.events.k8s.io", "-A", "-o", "json"]).unwrap();
    let events: Value = serde_json::from_str(&text).unwrap();
    let all = events["items"].as_array().cloned().unwrap_or_default();
    let about = |e: &Value| e["regarding"]["name"] == policy && e["reason"] == "ReconcileFailed";
    all.into_iter().filter(about).collect()
}

/// The uplink with another address: the gateway does not answer afterwards, so the change is rolled back.
fn cut_off() -> Value {
    json!({ "maxUnavailable": 1, "patience": 2, "desiredState": { "interfaces": [{ "name": "eth0", "type": "ethernet",
        "state": "up", "ipv4": { "enabled": true, "dhcp": false,
                                 "address": [{ "ip": "203.0.113.7", "prefix-length": 24 }] } }] } })
}

#[test]
fn metrics_change_and_a_failure_gives_one_event() {
    let fleet = Fleet::without_agents("fleet-metrics", 2);
    fleet.start_operator("one", &["--listen", &listen(OPERATOR)]);
    for node in &fleet.nodes {
        fleet.start_agent_with_options(node, &["--listen", &listen(AGENT)]);
    }
    fleet
        .eventually("the operator leads", || of_operator(&fleet).sum("linesman_operator_leader", &[]) == 1.0);
    fleet.eventually("n1 reported", || {
        of_agent(&fleet, "n1").sum("linesman_api_writes_total", &["node-state"]) >= 1.0
    });
    assert_eq!(of_agent(&fleet, "n1").sum("linesman_apply_total", &[]), 0.0);
    assert_eq!(of_operator(&fleet).sum("linesman_rollout_duration_seconds_count", &[]), 0.0);

    fleet.policy("good", &json!({ "desiredState": bridge("br-good") }));
    fleet.wait_policy("good", "Available");
    fleet.eventually("a rollout is counted", || {
        of_operator(&fleet).sum("linesman_rollout_duration_seconds_count", &[]) == 1.0
    });
    let operator = of_operator(&fleet);
    assert_eq!(operator.sum("linesman_operator_writes_total", &["create"]), 2.0, "{operator:?}");
    assert!(operator.sum("linesman_operator_writes_total", &["spec"]) >= 2.0, "{operator:?}");
    assert_eq!(operator.sum("linesman_rollout_in_flight", &[]), 0.0, "{operator:?}");
    assert_eq!(operator.sum("kubernetes_nmstate_policies_status", &["Available"]), 1.0, "{operator:?}");
    for node in ["n1", "n2"] {
        let agent = of_agent(&fleet, node);
        assert_eq!(agent.sum("linesman_apply_total", &["committed"]), 1.0, "{agent:?}");
        assert_eq!(agent.sum("linesman_apply_duration_seconds_count", &[]), 1.0, "{agent:?}");
        assert!(agent.sum("linesman_api_writes_total", &["enactment"]) >= 2.0, "{agent:?}");
        assert!(agent.sum("linesman_observations_total", &[]) >= 1.0, "{agent:?}");
        fleet.eventually("the bridge is counted", || {
            of_agent(&fleet, node).sum("kubernetes_nmstate_network_interfaces", &["linux-bridge"]) >= 1.0
        });
    }

    fleet.policy("bad", &cut_off());
    fleet.wait_policy("bad", "Degraded");
    let failed = |node: &str| of_agent(&fleet, node).sum("linesman_apply_total", &["rolled"]);
    assert_eq!(failed("n1") + failed("n2"), 1.0, "one failed, the other was not begun");
    let message = fleet.message("n1", "bad", "Failing") + &fleet.message("n2", "bad", "Failing");
    assert!(message.starts_with("[LM2003] probe: ") && message.contains("rolled back"), "{message}");
    fleet.eventually("a warning", || warnings(&fleet, "bad").len() == 1);
    let warning = &warnings(&fleet, "bad")[0];
    assert_eq!(
        (&warning["type"], &warning["regarding"]["kind"]),
        (&json!("Warning"), &json!("NodeNetworkConfigurationPolicy"))
    );
    assert!(warning["note"].as_str().unwrap_or_default().contains("[LM2003]"), "{warning:#}");

    // Another operator finds everything unchanged, and records no event.
    fleet.kill_operator("one");
    fleet.start_operator("two", &["--listen", &listen(OPERATOR)]);
    fleet.eventually("the other one leads", || {
        of_operator(&fleet).sum("linesman_operator_leader", &[]) == 1.0
    });
    fleet.policy("later", &json!({ "desiredState": bridge("br-later") }));
    fleet.wait_policy("later", "Available");
    assert_eq!(fleet.policy_condition("bad"), "Degraded");
    assert_eq!(warnings(&fleet, "bad").len(), 1, "one event, and not again");

    fleet.cluster.stop_api_server().unwrap();
    fleet.eventually("silence is noticed", || {
        of_agent(&fleet, "n1").sum("linesman_api_server_unreachable", &[]) == 1.0
    });
    fleet.cluster.start_api_server().unwrap();
    fleet.eventually("and its end", || {
        of_agent(&fleet, "n1").sum("linesman_api_server_unreachable", &[]) == 0.0
    });
}
