//! A node fails, and the other nodes are not changed.

use linesman_tests::fleet::true_conditions;
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::json;

#[test]
fn a_failure_stops_the_rollout_and_a_new_version_continues_it() {
    let fleet = SimulatedFleet::new("failure", &["w1", "w2", "w3"]);
    let operator = fleet.operator("first", &[]);
    fleet.fail_changes_on("w1");
    let state = |mtu: u32| json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": mtu }] });
    fleet.policy("blue", &json!({ "maxUnavailable": 1, "desiredState": state(9000) }));
    let policy = fleet.wait_policy("blue", "Degraded");
    assert_eq!(policy["status"]["blockedNodes"][0]["node"], "w1", "{}", operator.stderr());
    fleet.wait_enactment("blue", "w3", "Aborted");
    fleet.wait_enactment("blue", "w2", "Aborted");
    assert_eq!(true_conditions(&fleet.enactments("blue")["w1"]["status"]), "Failing");
    assert_eq!(fleet.events("blue", "ReconcileFailed"), 1);
    assert_eq!(fleet.most_in_flight("blue"), 1);

    fleet.pass_changes_on("w1");
    fleet.policy("blue", &json!({ "maxUnavailable": 1, "desiredState": state(8000) }));
    fleet.wait_policy("blue", "Available");
    assert_eq!(fleet.most_in_flight("blue"), 1);
}

#[test]
fn a_failed_node_keeps_its_slot_and_more_than_all_nodes_are_all_nodes() {
    let fleet = SimulatedFleet::new("kept-slot", &["w1", "w2", "w3"]);
    let operator = fleet.operator("first", &[]);
    ["w1", "w2", "w3"].iter().for_each(|node| fleet.fail_changes_on(node));
    fleet.stop_answers_of("w2");
    let spec = |limit: serde_json::Value| {
        let state = json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": 9000 }] });
        json!({ "maxUnavailable": limit, "desiredState": state })
    };
    fleet.policy("blue", &spec(json!(2)));
    fleet.wait_enactment("blue", "w1", "Failing");
    let policy = fleet.wait_policy("blue", "Degraded");
    assert_eq!(policy["status"]["nodes"]["pending"], 1, "{}", operator.stderr());
    assert_eq!(fleet.enactments("blue")["w3"]["spec"]["stage"], "Bound");
    fleet.resume_answers_of("w2");
    fleet.wait_enactment("blue", "w3", "Aborted");
    let failed = fleet.wait_policy("blue", "Degraded");
    assert_eq!(failed["status"]["nodes"]["failing"], 2, "{failed:#}");
    let touched = |event: &&linesman_lab::cluster::Event| {
        event.name == "w3.blue" && event.response["spec"]["stage"] == "Released"
    };
    assert_eq!(fleet.cluster.audit().unwrap().iter().filter(touched).count(), 0, "w3 was never released");

    ["w1", "w2", "w3"].iter().for_each(|node| fleet.pass_changes_on(node));
    for (written, note) in [(json!("3"), ""), (json!("300%"), "maxUnavailable is 300%, which counts as 3")] {
        fleet.policy("blue", &spec(written));
        let status = fleet.wait_policy("blue", "Available")["status"].clone();
        assert_eq!(status["maxUnavailable"], 3);
        let message = status["conditions"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains(note) && note.is_empty() != message.contains("counts as"), "{message}");
    }
}
