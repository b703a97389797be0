//! A policy that is deleted with `onDelete: Revert` is gone only after its nodes have reverted.

use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::json;

#[test]
fn a_policy_is_deleted_after_its_nodes_have_reverted() {
    let fleet = SimulatedFleet::new("revert", &["w1", "w2"]);
    let operator = fleet.operator("first", &[]);
    let state = json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": 9000 }] });
    fleet.policy("blue", &json!({ "onDelete": "Revert", "maxUnavailable": 1, "desiredState": state }));
    let policy = fleet.wait_policy("blue", "Available");
    assert_eq!(policy["metadata"]["finalizers"], json!(["nmstate.io/revert"]));
    fleet.stop_answers_of("w2");
    fleet.cluster.run(&["delete", "nncp", "blue", "--wait=false"]).unwrap();
    let enactment_spec =
        |node: &str| fleet.enactments("blue").get(node).map(|it| it["spec"].clone()).unwrap_or_default();
    fleet.wait("w2 reverts", || {
        enactment_spec("w2")["revert"] == true && enactment_spec("w2")["stage"] == "Released"
    });
    assert!(
        fleet.cluster.get("nncp", "blue").unwrap().is_some(),
        "w2 has not gone back: {}",
        operator.stderr()
    );
    fleet.resume_answers_of("w2");
    fleet.wait("the policy is gone", || fleet.cluster.get("nncp", "blue").unwrap().is_none());
    fleet.wait_gone("blue");
    assert_eq!(fleet.most_in_flight("blue"), 1);
}
