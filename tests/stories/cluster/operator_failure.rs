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
