//! A rollout that is paused, goes on, is aborted and undone.

use linesman_tests::fleet::{Fleet, bridge_of};
use serde_json::{Value, json};

fn version(mtu: u64, rollout: Value) -> Value {
    json!({ "maxUnavailable": 1, "rollout": rollout, "desiredState": bridge_of("br-paused", mtu) })
}

#[test]
fn a_rollout_is_paused_resumed_aborted_and_undone() {
    let fleet = Fleet::new("paused", 3);
    fleet.policy("paused", &version(1450, json!({})));
    fleet.wait_policy("paused", "Available");
    fleet.stop_in_mid_change("n2");
    pause(&fleet);
    resume(&fleet);
    abort(&fleet);
    undo(&fleet);
    assert_eq!(fleet.most_in_flight("paused"), 1);
}

fn pause(fleet: &Fleet) {
    fleet.policy("paused", &version(1400, json!({})));
    fleet.wait_in_mid_change("n2");
    fleet.policy("paused", &version(1400, json!({ "paused": true })));
    fleet.wait_seen("paused");
    assert_eq!(fleet.enacted("n2", "paused"), "Progressing", "what is in flight goes on");
    fleet.let_on("n2");
    fleet.eventually("two nodes have it, one waits", || {
        let nodes = &fleet.status("paused")["nodes"];
        nodes["available"] == 2 && nodes["pending"] == 1
    });
    let (reason, message) = fleet.words("paused");
    assert_eq!(
        (fleet.stands("paused").as_str(), reason.as_str()),
        ("Progressing", "RolloutPaused"),
        "{message}"
    );
    assert!(message.contains("the rollout is paused"), "{message}");
    fleet.wait_enacted("n3", "paused", "Pending");
    assert_eq!((fleet.mtu("n1", "br-paused"), fleet.mtu("n2", "br-paused")), ("1400".into(), "1400".into()));
    assert_eq!(fleet.mtu("n3", "br-paused"), "1450");
}

fn resume(fleet: &Fleet) {
    fleet.policy("paused", &version(1400, json!({})));
    fleet.wait_policy("paused", "Available");
    assert_eq!(fleet.mtu("n3", "br-paused"), "1400");
    let changes = |node| fleet.changes(node, "paused").len();
    assert_eq!([changes("n1"), changes("n2"), changes("n3")], [2; 3], "what held was left alone");
}

fn abort(fleet: &Fleet) {
    fleet.policy("paused", &version(1300, json!({})));
    fleet.wait_in_mid_change("n2");
    fleet.policy("paused", &version(1300, json!({ "abort": true })));
    fleet.wait_policy("paused", "Degraded");
    fleet.wait_enacted("n3", "paused", "Aborted");
    assert_eq!(fleet.enacted("n2", "paused"), "Progressing", "what is in flight goes on");
    fleet.let_on("n2");
    fleet.wait_enacted("n2", "paused", "Available");
    fleet.eventually("two nodes have it", || fleet.status("paused")["nodes"]["available"] == 2);
    assert_eq!(fleet.stands("paused"), "Degraded");
    assert!(fleet.words("paused").1.contains("the rollout was aborted"), "{:?}", fleet.words("paused"));
    assert_eq!(fleet.mtu("n3", "br-paused"), "1400");
}

fn undo(fleet: &Fleet) {
    fleet.policy("paused", &version(1300, json!({ "undo": true })));
    fleet.wait_in_mid_change("n2");
    fleet.let_on("n2");
    fleet.eventually("both went back", || {
        let back =
            |node| fleet.mtu(node, "br-paused") == "1400" && fleet.enacted(node, "paused") == "Available";
        back("n1") && back("n2")
    });
    fleet.eventually("the policy tells", || fleet.status("paused")["nodes"]["progressing"] == 0);
    assert_eq!(fleet.mtu("n3", "br-paused"), "1400");
    assert_eq!(fleet.changes("n3", "paused").len(), 2, "it never took the version that was undone");
    assert!(fleet.words("paused").1.contains("undone"), "{:?}", fleet.words("paused"));
}
