//! Drift that is corrected in a fleet: under a release, within the limits of the rollout.

use linesman_tests::fleet::{Fleet, bridge_of};
use serde_json::{Value, json};

const NODES: [&str; 3] = ["n1", "n2", "n3"];

fn version(limit: Value) -> Value {
    json!({ "maxUnavailable": limit, "drift": "Correct", "desiredState": bridge_of("br-drift", 1400) })
}

/// All of them at the same time; each correction stops in the middle.
fn drift_and_correct(fleet: &Fleet, attempt: u64) {
    for node in NODES {
        fleet.node(node).run(["ip", "link", "set", "br-drift", "mtu", "1300"]).unwrap();
    }
    let corrected = |node: &str| {
        let enactment = fleet.enactment(node, "drift");
        enactment["status"]["attempt"] == attempt && fleet.enactment_condition(node, "drift") == "Available"
    };
    for number in 0..NODES.len() {
        let in_mid_change =
            |node: &str| fleet.node(node).exists("/run/linesman/failpoint/applied").unwrap_or(false);
        let mut current = None;
        fleet.eventually("one is being corrected", || {
            current = NODES.into_iter().find(|node| in_mid_change(node));
            current.is_some()
        });
        let waiting = NODES.into_iter().filter(|node| current != Some(*node) && !corrected(node));
        let waiting: Vec<&str> = waiting.collect();
        assert_eq!(waiting.len(), NODES.len() - 1 - number, "the others wait");
        assert!(waiting.iter().all(|node| fleet.mtu(node, "br-drift") == "1300" && !in_mid_change(node)));
        let node = current.unwrap_or_default();
        fleet.finish_change(node);
        fleet.eventually(&format!("{node} is corrected"), || corrected(node));
        assert_eq!(fleet.mtu(node, "br-drift"), "1400");
    }
    fleet.wait_policy("drift", "Available");
}

#[test]
fn nodes_that_drift_at_the_same_time_are_corrected_one_after_the_other() {
    let fleet = Fleet::new("corrected", 3);
    fleet.policy("drift", &version(json!(1)));
    fleet.wait_policy("drift", "Available");
    NODES.iter().for_each(|node| fleet.replace_agent(node, "applied"));
    NODES.iter().for_each(|node| fleet.wait_agent_status(node, "1 policy in sync"));
    drift_and_correct(&fleet, 2);

    // All at once, were they not the control plane.
    for node in NODES {
        fleet.cluster.label(node, "node-role.kubernetes.io/control-plane", Some("")).unwrap();
    }
    fleet.policy("drift", &version(json!("100%")));
    fleet.wait_policy("drift", "Available");
    drift_and_correct(&fleet, 3);
    assert_eq!(fleet.most_in_flight("drift"), 1);
    for node in NODES {
        assert_eq!(fleet.changes(node, "drift"), ["committed"; 3], "{node}");
    }
}

#[test]
fn a_node_that_is_cut_off_from_the_api_server_corrects_drift_by_itself() {
    let fleet = Fleet::new("corrected-alone", 1);
    fleet.policy("drift", &version(json!(1)));
    fleet.wait_policy("drift", "Available");
    fleet.cluster.stop_api_server().unwrap();
    let began = std::time::Instant::now();
    fleet.node("n1").run(["ip", "link", "set", "br-drift", "mtu", "1300"]).unwrap();
    let corrected =
        || fleet.mtu("n1", "br-drift") == "1400" && fleet.changes("n1", "drift") == ["committed"; 2];
    fleet.eventually("it is corrected", corrected);
    assert!(began.elapsed().as_secs() >= 30, "it did not wait for an answer");
    fleet.cluster.start_api_server().unwrap();
    fleet.refresh("n1");
    fleet.wait_policy("drift", "Available");
    assert_eq!(fleet.enactment("n1", "drift")["spec"]["attempt"], 1);
    assert_eq!(fleet.changes("n1", "drift").len(), 2);
}

/// Longer than a node waits for an API server that is silent.
const ALONE: std::time::Duration = std::time::Duration::from_secs(33);

/// Where the API server is.
const HUB: &str = "10.9.0.1";

/// Whoever paused a rollout, or revoked a token, means it; and an API server that restarts is back in a moment.
#[test]
fn a_refusal_or_a_short_outage_of_the_api_server_lets_no_node_correct_drift_by_itself() {
    let fleet = Fleet::new("corrected-refused", 2);
    let mut spec = version(json!(1));
    fleet.policy("drift", &spec);
    fleet.wait_policy("drift", "Available");
    spec["rollout"] = json!({ "paused": true });
    fleet.policy("drift", &spec);
    fleet.wait_seen("drift");
    let nodes = ["n1", "n2"];
    for node in nodes {
        fleet.node(node).run(["ip", "link", "set", "br-drift", "mtu", "1300"]).unwrap();
        fleet.eventually("it asks for a release", || {
            fleet.enactment(node, "drift")["status"]["requestsRelease"] == "Drifted"
        });
    }
    // They have asked for long when the API server falls silent for a moment. Then it answers, and refuses.
    std::thread::sleep(ALONE);
    let binding = ["clusterrolebinding", "nmstate-handler"];
    let mut kept = fleet.get(binding[0], binding[1]).expect("agents have their rights");
    kept["metadata"] = json!({ "name": binding[1] });
    fleet.cluster.run(&["delete", binding[0], binding[1]]).unwrap();
    for node in nodes {
        fleet
            .node(node)
            .sh(&format!("ip route add unreachable {HUB} && ss -K dst {HUB} dport = 6443"))
            .unwrap();
        fleet.wait_agent_status(node, "the API server does not answer");
        fleet.node(node).sh(&format!("ip route del unreachable {HUB}")).unwrap();
        fleet.wait_agent_status(node, "the API server refuses");
    }
    std::thread::sleep(ALONE);
    for node in nodes {
        assert_eq!(fleet.mtu(node, "br-drift"), "1300", "{}", fleet.agent_log(node));
        assert_eq!(fleet.changes(node, "drift"), ["committed"], "{node}");
    }
    fleet.cluster.apply(&kept.to_string()).unwrap();
    spec["rollout"] = json!({});
    fleet.policy("drift", &spec);
    for node in nodes {
        fleet.eventually("it is corrected", || fleet.changes(node, "drift") == ["committed"; 2]);
    }
    assert_eq!(fleet.most_in_flight("drift"), 1);
}
