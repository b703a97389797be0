//! An undo that comes together with another edit, or is edited while it is under way.

use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::{Value, json};

fn state(mtu: u32) -> Value {
    json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": mtu }] })
}

fn spec(mtu: u32, options: Value) -> Value {
    let mut spec = json!({ "maxUnavailable": 1, "desiredState": state(mtu) });
    spec.as_object_mut().unwrap().extend(options.as_object().cloned().unwrap_or_default());
    spec
}

#[track_caller]
fn assert_undone(fleet: &SimulatedFleet) {
    let policy = fleet.wait_policy("blue", "Available");
    let said = policy["status"]["conditions"].to_string();
    assert!(said.contains("3 of 3 nodes have the previous version"), "{said}");
    for (node, enactment) in fleet.enactments("blue") {
        assert_eq!(enactment["spec"]["desiredState"], state(1400), "{node}");
    }
}

#[test]
fn an_undo_reaches_all_nodes_whatever_else_is_edited() {
    let fleet = SimulatedFleet::new("undo-edited", &["w1", "w2", "w3"]);
    let _operator = fleet.operator("first", &[]);
    for mtu in [1400, 1300] {
        fleet.policy("blue", &spec(mtu, json!({})));
        fleet.wait_policy("blue", "Available");
    }
    // Together with an option.
    fleet.policy("blue", &spec(1300, json!({ "patience": 40, "rollout": { "undo": true } })));
    assert_undone(&fleet);

    fleet.policy("blue", &spec(1300, json!({})));
    fleet.wait_policy("blue", "Available");
    fleet.stop_answers_of("w2");
    fleet.policy("blue", &spec(1300, json!({ "rollout": { "undo": true } })));
    fleet.wait("w2 is released, and has not begun", || {
        let w2 = fleet.enactments("blue").remove("w2").unwrap_or_default();
        w2["spec"]["stage"] == "Released" && w2["spec"]["desiredState"] == state(1400)
    });
    // While it is under way.
    fleet.policy("blue", &spec(1300, json!({ "patience": 50, "rollout": { "undo": true, "soak": 0 } })));
    fleet.resume_answers_of("w2");
    assert_undone(&fleet);
}

#[test]
fn a_node_that_waits_for_a_new_version_says_so() {
    let fleet = SimulatedFleet::new("waits-for-new", &["w1", "w2"]);
    let _operator = fleet.operator("first", &[]);
    fleet.policy("blue", &spec(1400, json!({})));
    fleet.wait_policy("blue", "Available");
    fleet.policy("blue", &spec(1300, json!({ "rollout": { "paused": true } })));
    fleet.wait_enactment("blue", "w2", "Pending");
    fleet.policy("blue", &spec(1300, json!({ "rollout": { "abort": true } })));
    for node in ["w1", "w2"] {
        fleet.wait_enactment("blue", node, "Aborted");
    }
}
