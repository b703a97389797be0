//! A policy that is deleted during its rollout.

use linesman_tests::fleet::{ENACTMENTS, Fleet, POLICIES, bridge};
use serde_json::json;

#[test]
fn deleting_a_retained_policy_reverts_nothing_and_leaves_no_objects() {
    let fleet = Fleet::new("deleted-retain", 3);
    fleet.stop_in_mid_change("n2");
    fleet.policy("retain", &json!({ "maxUnavailable": 1, "desiredState": bridge("br-retain") }));
    fleet.wait_in_mid_change("n2");
    fleet.delete("retain");
    fleet.eventually("the policy is gone", || fleet.get(POLICIES, "retain").is_none());
    fleet.eventually("who has not begun is let go", || fleet.enactment("n3", "retain").is_null());
    fleet.finish_change("n2");
    fleet.wait_nothing_left("retain");
    assert!(fleet.has_interface("n1", "br-retain") && fleet.has_interface("n2", "br-retain"));
    assert!(!fleet.has_interface("n3", "br-retain"));
    let once = vec!["committed".to_string()];
    assert_eq!((fleet.changes("n1", "retain"), fleet.changes("n2", "retain")), (once.clone(), once));
    assert_eq!(fleet.most_in_flight("retain"), 1);
}

#[test]
fn every_node_reverts_before_the_policy_is_deleted() {
    let fleet = Fleet::new("deleted-revert", 3);
    fleet.stop_in_mid_change("n2");
    let spec = json!({ "maxUnavailable": 1, "onDelete": "Revert", "desiredState": bridge("br-revert") });
    fleet.policy("revert", &spec);
    fleet.wait_in_mid_change("n2");
    fleet.delete("revert");
    assert!(fleet.get(POLICIES, "revert").is_some(), "its finalizer keeps it");
    fleet.finish_change("n2");
    fleet.eventually("n2 reverts", || fleet.enactment("n2", "revert")["spec"]["revert"] == true);
    fleet.wait_in_mid_change("n2");
    assert!(fleet.get(POLICIES, "revert").is_some(), "n2 has not gone back yet");
    fleet.finish_change("n2");
    fleet.wait_nothing_left("revert");
    for node in ["n1", "n2", "n3"] {
        assert!(!fleet.has_interface(node, "br-revert"), "{node}");
    }
    let changes = |node| fleet.changes(node, "revert").len();
    assert_eq!([changes("n1"), changes("n2"), changes("n3")], [2, 2, 0], "there and back; n3 never began");
    assert_eq!(fleet.most_in_flight("revert"), 1);
}

#[test]
fn an_enactment_deleted_by_hand_reverts_nothing() {
    let fleet = Fleet::new("deleted-by-hand", 1);
    fleet.policy("hand", &json!({ "onDelete": "Revert", "desiredState": bridge("br-hand") }));
    fleet.wait_policy("hand", "Available");
    let before = fleet.enactment("n1", "hand")["metadata"]["uid"].clone();
    fleet.cluster.run(&["delete", ENACTMENTS, "n1.hand"]).unwrap();
    fleet.eventually("another one is made, and holds", || {
        let made = fleet.enactment("n1", "hand")["metadata"]["uid"].clone();
        !made.is_null() && made != before && fleet.enactment_condition("n1", "hand") == "Available"
    });
    assert!(fleet.has_interface("n1", "br-hand"));
    assert_eq!(fleet.changes("n1", "hand"), ["committed"], "nothing was touched");
    fleet.delete("hand");
    fleet.wait_nothing_left("hand");
    assert!(!fleet.has_interface("n1", "br-hand"), "the revert state is still known");
}

/// The node's own path goes to br-ex and back to the NIC, with the default routes that went with its addresses.
#[test]
fn the_uplink_is_reverted_to_its_nic() {
    let fleet = Fleet::new("deleted-uplink", 1);
    let node = fleet.node("n1");
    let routes = || node.run(["ip", "route", "show", "default"]).unwrap();
    let before = routes();
    assert!(before.contains("dev eth0"), "{before}");
    let state = linesman_core::document::tree(&linesman_tests::br_ex(node)).unwrap().to_value();
    fleet.policy("uplink", &json!({ "onDelete": "Revert", "desiredState": state }));
    fleet.wait_policy("uplink", "Available");
    assert!(routes().contains("dev br-ex"), "{}", routes());
    fleet.delete("uplink");
    fleet.wait_nothing_left("uplink");
    assert_eq!(routes(), before);
    assert_eq!(fleet.changes("n1", "uplink"), ["committed", "committed"]);
    node.wait_reachable().expect("reached as before");
}

/// Each builds on the one before; the names sort the other way round.
#[test]
fn policies_that_build_on_each_other_and_are_deleted_together_are_all_reverted() {
    let fleet = Fleet::new("deleted-stack", 1);
    let base = json!({ "name": "br-base", "type": "linux-bridge", "state": "up", "bridge": { "port": [{ "name": "eth1" }] } });
    let middle = json!({ "name": "mv0", "type": "mac-vlan", "state": "up",
        "mac-vlan": { "base-iface": "br-base", "mode": "bridge", "promiscuous": true } });
    let top = json!({ "name": "br-top", "type": "linux-bridge", "state": "up", "bridge": { "port": [{ "name": "mv0" }] },
        "ipv4": { "enabled": true, "dhcp": false, "address": [{ "ip": "10.44.0.1", "prefix-length": 24 }] } });
    let policies = [("z-base", base), ("m-middle", middle), ("a-top", top)];
    for (name, interface) in &policies {
        fleet.policy(name, &json!({ "onDelete": "Revert", "desiredState": { "interfaces": [interface] } }));
    }
    policies.iter().for_each(|(name, _)| fleet.wait_policy(name, "Available"));
    fleet.cluster.run(&["delete", POLICIES, "z-base", "m-middle", "a-top", "--wait=false"]).unwrap();
    policies.iter().for_each(|(name, _)| fleet.wait_nothing_left(name));
    for name in ["br-top", "mv0", "br-base"] {
        assert!(!fleet.has_interface("n1", name), "{name}");
    }
}
