//! Nodes that become not ready soon after they were configured.

use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::{Value, json};

fn spec(nic: &str, rollout: Value) -> Value {
    let state = json!({ "interfaces": [{ "name": nic, "type": "ethernet", "mtu": 9000 }] });
    json!({ "maxUnavailable": 1, "rollout": rollout, "desiredState": state })
}

#[test]
fn a_node_that_becomes_not_ready_while_it_soaks_stops_the_rollout() {
    let fleet = SimulatedFleet::new("soak", &["w1", "w2", "w3"]);
    let first = fleet.operator("first", &[]);
    fleet.stop_answers_of("w2");
    fleet.policy("blue", &spec("eth1", json!({ "soak": 600 })));
    fleet.wait("w1 soaks, and w2 does not wait for that", || {
        let status = fleet.cluster.get("nncp", "blue").unwrap().unwrap_or_default()["status"].clone();
        let released = fleet.enactments("blue").get("w2").is_some_and(|it| it["spec"]["stage"] == "Released");
        status["soakingNodes"] == json!(["w1"]) && released
    });
    // Another operator knows it, too.
    first.kill().unwrap();
    first.wait().ok();
    fleet.free_lease();
    let second = fleet.operator("second", &[]);
    fleet.cluster.set_ready("w1", false).unwrap();
    let policy = fleet.wait_policy("blue", "Degraded");
    let why = json!([{ "node": "w1", "reason": "became not ready within 600 s after it was configured" }]);
    assert_eq!(policy["status"]["blockedNodes"], why, "{}", second.stderr());
    // One that was released and had not begun gives its release back.
    fleet.wait_enactment("blue", "w2", "Aborted");
    fleet.wait_enactment("blue", "w3", "Aborted");
    fleet.resume_answers_of("w2");

    // That it returns is no excuse; an edit is a new beginning.
    fleet.cluster.set_ready("w1", true).unwrap();
    let edited = spec("eth1", json!({ "soak": 0 }));
    fleet.wait("w1 is back", || {
        let status = fleet.cluster.get("nncp", "blue").unwrap().unwrap_or_default()["status"].clone();
        status["nodes"]["failing"] == 1 && status["nodes"]["aborted"] == 2
    });
    fleet.policy("blue", &edited);
    let policy = fleet.wait_policy("blue", "Available");
    assert!(policy["status"]["soakingNodes"].is_null(), "{policy:#}");
    fleet.cluster.set_ready("w2", false).unwrap();
    fleet.policy("red", &spec("eth2", json!({ "waitForReady": true })));
    fleet.wait("red is on the others", || {
        let status = fleet.cluster.get("nncp", "red").unwrap().unwrap_or_default()["status"].clone();
        status["nodes"]["available"] == 2 && status["nodes"]["notReady"] == 1
    });
    fleet.wait_policy("blue", "Available");
}
