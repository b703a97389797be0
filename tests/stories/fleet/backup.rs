//! etcd is restored from an old backup: no host is changed, and the status is corrected.

use linesman_tests::fleet::{ENACTMENTS, Fleet, POLICIES, STATES};
use linesman_tests::observe;
use serde_json::{Value, json};

const NODES: [&str; 2] = ["n1", "n2"];

/// What a host is and has done.
fn hosts(fleet: &Fleet) -> [(String, Vec<Value>); 2] {
    NODES.map(|node| (fleet.network(node), fleet.history(node)))
}

fn mtu(number: u32) -> Value {
    json!({ "interfaces": [{ "name": "br-kept", "type": "linux-bridge", "state": "up", "mtu": number }] })
}

fn has_mtu(fleet: &Fleet, node: &str, number: u32) -> bool {
    observe::link(fleet.node(node), "br-kept").is_some_and(|link| link["mtu"] == number)
}

fn is_old(fleet: &Fleet, policy: &str) {
    for node in NODES {
        fleet.wait_enactment(node, policy, "Failing");
        let message = fleet.message(node, policy, "Failing");
        assert!(message.contains("older than the last one that the node accepted"), "{message}");
    }
    fleet.wait_policy(policy, "Degraded");
}

#[test]
fn a_backup_from_before_an_edit_reverts_nothing() {
    let fleet = Fleet::new("backup-edit", 2);
    fleet.policy("kept", &json!({ "maxUnavailable": 2, "desiredState": mtu(1400) }));
    fleet.wait_policy("kept", "Available");
    let backup = fleet.cluster.backup().unwrap();
    fleet.policy("kept", &json!({ "maxUnavailable": 2, "desiredState": mtu(1300) }));
    fleet.wait_policy("kept", "Available");
    let reported = |node: &str, text: &str| {
        let state = fleet.get(STATES, node).unwrap_or_default();
        let links = observe::list(&state["status"]["currentState"]["interfaces"]).iter();
        links
            .filter(|link| link["name"] == "br-kept")
            .any(|link| link["mtu"].as_u64().is_some_and(|mtu| mtu.to_string() == text))
    };
    fleet.eventually("the states are reported", || NODES.iter().all(|node| reported(node, "1300")));
    let before = hosts(&fleet);

    fleet.cluster.restore(&backup).unwrap();
    is_old(&fleet, "kept");
    fleet.eventually("the states are reported again", || NODES.iter().all(|node| reported(node, "1300")));
    assert_eq!(hosts(&fleet), before, "nothing happened on any host");

    fleet.policy("kept", &json!({ "maxUnavailable": 2, "desiredState": mtu(1200) }));
    fleet.wait_policy("kept", "Available");
    assert!(NODES.iter().all(|node| has_mtu(&fleet, node, 1200)));
}

#[test]
fn a_backup_from_the_middle_of_a_change_applies_nothing_again() {
    let fleet = Fleet::new("backup-middle", 2);
    // One ends well, the next does not, and in the backup neither is known.
    for (policy, word) in [("well", "Available"), ("ill", "Failing")] {
        let link = format!("br-{policy}");
        let state =
            json!({ "interfaces": [{ "name": link, "type": "linux-bridge", "state": "up", "mtu": 1400 }] });
        fleet.replace_agent("n1", "applied");
        let rollout = json!({ "canary": ["n1"] });
        fleet.policy(policy, &json!({ "rollout": rollout, "patience": 5, "desiredState": state }));
        fleet.wait_failpoint("n1", "applied");
        let backup = fleet.cluster.backup().unwrap();
        if word == "Failing" {
            fleet.node("n1").run(["ip", "link", "set", &link, "mtu", "1300"]).unwrap();
        }
        fleet.pass_failpoint("n1", "applied");
        let whole = if word == "Failing" { "Degraded" } else { word };
        fleet.wait_policy(policy, whole);
        let before = hosts(&fleet);

        fleet.cluster.restore(&backup).unwrap();
        let enactment = fleet.get(ENACTMENTS, &format!("n1.{policy}")).unwrap();
        assert_eq!(enactment["spec"]["stage"], "Released", "{enactment:#}");
        fleet.wait_enactment("n1", policy, word);
        fleet.wait_policy(policy, whole);
        assert_eq!(hosts(&fleet), before, "nothing happened on any host");
    }
    let state = json!({ "interfaces": [{ "name": "br-ill", "type": "linux-bridge", "state": "up" }] });
    fleet.replace_agent("n1", "");
    fleet.policy("ill", &json!({ "desiredState": state }));
    fleet.wait_policy("ill", "Available");
    assert!(NODES.iter().all(|node| fleet.has_interface(node, "br-ill")));
}

#[test]
fn a_backup_from_before_a_deletion_restores_nothing() {
    let fleet = Fleet::new("backup-deleted", 2);
    let spec = json!({ "maxUnavailable": 2, "onDelete": "Revert", "desiredState": mtu(1400) });
    fleet.policy("gone", &spec);
    fleet.wait_policy("gone", "Available");
    let backup = fleet.cluster.backup().unwrap();
    fleet.cluster.run(&["delete", POLICIES, "gone", "--timeout=180s"]).unwrap();
    assert!(NODES.iter().all(|node| !fleet.has_interface(node, "br-kept")), "they were reverted");
    let before = hosts(&fleet);

    fleet.cluster.restore(&backup).unwrap();
    assert!(fleet.get(POLICIES, "gone").is_some(), "it is back");
    is_old(&fleet, "gone");
    assert_eq!(hosts(&fleet), before, "nothing happened on any host");

    let spec = json!({ "maxUnavailable": 2, "onDelete": "Revert", "desiredState": mtu(1300) });
    fleet.policy("gone", &spec);
    fleet.wait_policy("gone", "Available");
    assert!(NODES.iter().all(|node| has_mtu(&fleet, node, 1300)));
}
