//! Nodes that are not ready before their release, and nodes that are lost after it.

use linesman_tests::fleet::true_conditions;
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::json;

#[test]
fn nodes_that_are_not_ready_use_no_slot_and_lost_nodes_keep_it_until_the_release_expires() {
    let fleet = SimulatedFleet::new("lost", &["w1", "w2", "w3"]);
    fleet.cluster.agent_ready("w3", false).unwrap();
    fleet.stop_answers_of("w1");
    let operator = fleet.operator_with("first", &["--release-for", "4"], &[]);
    let state = json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": 9000 }] });
    fleet.policy(
        "blue",
        &json!({ "maxUnavailable": 1, "rollout": { "maxFailures": 2 }, "desiredState": state }),
    );
    let policy = fleet.wait_policy("blue", "Degraded");
    assert_eq!(policy["status"]["blockedNodes"][0]["reason"], "did not report in time after its release");
    fleet.wait_enactment("blue", "w2", "Available");
    assert_eq!(fleet.enactments("blue")["w1"]["spec"]["stage"], "Expired", "{}", operator.stderr());
    assert_eq!(fleet.most_in_flight("blue"), 1);
    assert!(!fleet.enactments("blue").contains_key("w3"), "nobody is asked who is away");

    fleet.cluster.agent_ready("w3", true).unwrap();
    fleet.wait_enactment("blue", "w3", "Available");
    assert_eq!(true_conditions(&fleet.wait_policy("blue", "Degraded")["status"]), "Degraded");
}
