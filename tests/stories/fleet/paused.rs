//! A rollout that is paused, resumed, aborted and undone.

use linesman_tests::fleet::{Fleet, bridge_of};
use serde_json::{Value, json};

fn version(mtu: u64, rollout: Value) -> Value {
    json!({ "maxUnavailable": 1, "rollout": rollout, "desiredState": bridge_of("br-paused", mtu) })
}

#[test]
fn a_rollout_is_paused_and_resumed() {
    let fleet = Fleet::new("paused", 3);
    fleet.stop_in_mid_change("n2");
    fleet.policy("paused", &version(1400, json!({})));
    fleet.wait_in_mid_change("n2");
    fleet.policy("paused", &version(1400, json!({ "paused": true })));
    fleet.wait_seen("paused");
    assert_eq!(fleet.enactment_condition("n2", "paused"), "Progressing", "what is in flight goes on");
    fleet.finish_change("n2");
    fleet.eventually("two nodes have it, one waits", || {
        let nodes = &fleet.status("paused")["nodes"];
        nodes["available"] == 2 && nodes["pending"] == 1
    });
    let (reason, message) = fleet.reason_and_message("paused");
    assert_eq!(
        (fleet.policy_condition("paused").as_str(), reason.as_str()),
        ("Progressing", "RolloutPaused")
    );
    assert!(message.contains("the rollout is paused"), "{message}");
    fleet.eventually("n3 says why it waits", || {
        fleet.message("n3", "paused", "Pending") == "the rollout is paused"
    });
    assert_eq!(fleet.enactment_condition("n3", "paused"), "Pending");
    assert!(!fleet.has_interface("n3", "br-paused"));

    fleet.policy("paused", &version(1400, json!({ "paused": false })));
    fleet.wait_policy("paused", "Available");
    for node in ["n1", "n2", "n3"] {
        assert_eq!(fleet.mtu(node, "br-paused"), "1400", "{node}");
        assert_eq!(fleet.changes(node, "paused"), ["committed"], "{node}: what held was left alone");
    }
    assert_eq!(fleet.most_in_flight("paused"), 1);
}

#[test]
fn an_aborted_rollout_changes_no_further_node() {
    let fleet = Fleet::new("aborted", 3);
    fleet.stop_in_mid_change("n2");
    fleet.policy("aborted", &version(1400, json!({})));
    fleet.wait_in_mid_change("n2");
    fleet.policy("aborted", &version(1400, json!({ "abort": true })));
    fleet.wait_policy("aborted", "Degraded");
    fleet.wait_enactment("n3", "aborted", "Aborted");
    assert_eq!(fleet.enactment_condition("n2", "aborted"), "Progressing", "what is in flight goes on");
    fleet.finish_change("n2");
    fleet.eventually("two nodes have it", || fleet.status("aborted")["nodes"]["available"] == 2);
    assert_eq!(fleet.policy_condition("aborted"), "Degraded");
    let (_, message) = fleet.reason_and_message("aborted");
    assert!(message.contains("1 not started: the rollout was aborted"), "{message}");
    assert!(fleet.changes("n3", "aborted").is_empty());
}

#[test]
fn undo_returns_changed_nodes_to_the_previous_version() {
    let fleet = Fleet::new("undone", 3);
    fleet.policy("undone", &version(1400, json!({})));
    fleet.wait_policy("undone", "Available");
    fleet.stop_in_mid_change("n2");
    fleet.policy("undone", &version(1300, json!({})));
    fleet.wait_in_mid_change("n2");
    fleet.policy("undone", &version(1300, json!({ "abort": true })));
    fleet.wait_policy("undone", "Degraded");
    fleet.finish_change("n2");
    fleet.eventually("two nodes took it", || fleet.status("undone")["nodes"]["available"] == 2);
    assert_eq!([fleet.mtu("n1", "br-paused"), fleet.mtu("n2", "br-paused")], ["1300", "1300"]);

    fleet.policy("undone", &version(1300, json!({ "undo": true })));
    fleet.wait_in_mid_change("n2");
    fleet.finish_change("n2");
    fleet.wait_policy("undone", "Available");
    let (reason, message) = fleet.reason_and_message("undone");
    assert_eq!(reason, "RolloutUndone", "{message}");
    assert!(
        message.contains("3 of 3 nodes have the previous version: the rollout was undone, and spec is not"),
        "{message}"
    );
    fleet.cluster.add_nodes(&["n4"], &[]).unwrap();
    fleet.eventually("a node that joins is no failure", || {
        fleet.status("undone")["nodes"]["matching"] == 4 && fleet.policy_condition("undone") == "Available"
    });
    for (node, changes) in [("n1", 3), ("n2", 3), ("n3", 1)] {
        assert_eq!(fleet.mtu(node, "br-paused"), "1400", "{node}");
        assert_eq!(fleet.changes(node, "undone").len(), changes, "{node}");
    }
    assert_eq!(fleet.most_in_flight("undone"), 1);
}
