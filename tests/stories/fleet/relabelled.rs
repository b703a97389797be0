//! Nodes are added and removed: by labels, late, not ready, cordoned, without an agent, deleted.

use linesman_tests::binary;
use linesman_tests::fleet::{ENACTMENTS, Fleet, STATES, bridge};
use serde_json::json;

#[test]
fn changed_labels_add_and_remove_nodes() {
    let fleet = Fleet::new("relabelled", 2);
    let chosen = json!({ "role": "storage" });
    fleet.policy("stays", &json!({ "nodeSelector": chosen, "desiredState": bridge("br-stays") }));
    let goes = json!({ "nodeSelector": chosen, "onDelete": "Revert", "desiredState": bridge("br-goes") });
    fleet.policy("goes", &goes);
    fleet.wait_policy("stays", "Ignored");
    fleet.wait_policy("goes", "Ignored");

    fleet.cluster.label("n1", "role", Some("storage")).unwrap();
    fleet.wait_policy("stays", "Available");
    fleet.wait_policy("goes", "Available");
    assert!(fleet.has_interface("n1", "br-stays") && fleet.has_interface("n1", "br-goes"));

    fleet.cluster.label("n1", "role", None).unwrap();
    for policy in ["stays", "goes"] {
        fleet.eventually(&format!("n1 has left {policy}"), || fleet.enactment("n1", policy).is_null());
        fleet.wait_policy(policy, "Ignored");
    }
    assert!(fleet.has_interface("n1", "br-stays"), "retained");
    assert!(!fleet.has_interface("n1", "br-goes"), "reverted");
    assert!(fleet.changes("n2", "stays").is_empty() && fleet.changes("n2", "goes").is_empty());
}

#[test]
fn nodes_that_are_not_ready_are_changed_unless_the_rollout_lets_them_wait() {
    let fleet = Fleet::new("away", 4);
    let cluster = &fleet.cluster;
    cluster.set_ready("n1", false).unwrap();
    cluster.cordon("n2", true).unwrap();
    cluster.agent_ready("n3", false).unwrap();
    fleet.policy("repair", &json!({ "maxUnavailable": 1, "desiredState": bridge("br-repair") }));
    fleet.wait_policy("repair", "Available");
    for node in ["n1", "n2", "n4"] {
        fleet.wait_enactment(node, "repair", "Available");
        assert!(fleet.has_interface(node, "br-repair"), "{node}");
    }
    assert_eq!(fleet.blocked_reason("repair", "n3"), "no agent is running on the node");
    assert_eq!(fleet.status("repair")["nodes"]["notReady"], 1);

    let rollout = json!({ "waitForReady": true });
    fleet.policy(
        "away",
        &json!({ "maxUnavailable": 1, "rollout": rollout, "desiredState": bridge("br-away") }),
    );
    fleet.wait_enactment("n4", "away", "Available");
    fleet.wait_policy("away", "Available");
    assert_eq!(fleet.blocked_reason("away", "n1"), "the node is not ready");
    assert_eq!(fleet.blocked_reason("away", "n2"), "the node is cordoned");
    assert_eq!(fleet.blocked_reason("away", "n3"), "no agent is running on the node");
    assert_eq!(fleet.status("away")["nodes"]["notReady"], 3);
    assert!(
        fleet.reason_and_message("away").1.contains("3 are not ready"),
        "{:?}",
        fleet.reason_and_message("away")
    );

    cluster.set_ready("n1", true).unwrap();
    fleet.wait_enactment("n1", "away", "Available");
    cluster.cordon("n2", false).unwrap();
    fleet.wait_enactment("n2", "away", "Available");
    cluster.agent_ready("n3", true).unwrap();
    fleet.wait_enactment("n3", "away", "Available");
    fleet.eventually("everybody has it", || fleet.status("away")["nodes"]["available"] == 4);
    assert!(fleet.status("away")["blockedNodes"].is_null());
    assert_eq!(fleet.most_in_flight("away"), 1);
}

#[test]
fn a_new_node_is_configured_and_a_deleted_node_leaves_no_objects() {
    let mut fleet = Fleet::new("joins", 1);
    fleet.policy("joins", &json!({ "desiredState": bridge("br-joins") }));
    fleet.wait_policy("joins", "Available");

    let node = fleet.lab.node("n2").nics(3).binary(binary()).start().expect("the node starts");
    node.configure_static().expect("the node is reachable");
    fleet.cluster.join(&node, &[]).expect("the node joins");
    fleet.nodes.push(node);
    fleet.start_agent(fleet.node("n2"));
    fleet.wait_enactment("n2", "joins", "Available");
    assert!(fleet.has_interface("n2", "br-joins"));
    fleet.eventually("two nodes count", || fleet.status("joins")["nodes"]["available"] == 2);
    fleet.eventually("n2 has reported its state", || fleet.get(STATES, "n2").is_some());

    let _collector = fleet.cluster.collect_garbage().unwrap();
    fleet.kill_agent("n2");
    fleet.cluster.delete_node("n2").unwrap();
    fleet.eventually("nothing of n2 is left", || {
        fleet.get(ENACTMENTS, "n2.joins").is_none() && fleet.get(STATES, "n2").is_none()
    });
    fleet.eventually("one node counts", || fleet.status("joins")["nodes"]["matching"] == 1);
    assert_eq!(fleet.policy_condition("joins"), "Available");
}
