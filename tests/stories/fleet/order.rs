//! Policies that depend on each other, in the wrong order; and policies that conflict.

use linesman_tests::fleet::{Fleet, bridge, bridge_of};
use serde_json::{Value, json};

/// Something on top of a bridge that another policy makes.
fn on_top() -> Value {
    json!({ "interfaces": [{ "name": "top0", "type": "mac-vlan", "state": "up",
        "mac-vlan": { "base-iface": "br-base", "mode": "bridge", "promiscuous": true } }] })
}

#[test]
fn a_policy_waits_for_the_policy_that_it_depends_on() {
    let fleet = Fleet::new("order", 2);
    fleet.policy("base", &json!({ "rollout": { "paused": true }, "desiredState": bridge("br-base") }));
    fleet.wait_seen("base");
    fleet.policy("a-top", &json!({ "desiredState": on_top() }));
    let why = "depends on the policy base, which is not applied yet on this node";
    for node in ["n1", "n2"] {
        fleet.eventually(&format!("{node} says what it waits for"), || {
            fleet.enactment_condition(node, "a-top") == "Pending"
                && fleet.message(node, "a-top", "Pending") == why
        });
        assert_eq!(fleet.blocked_reason("a-top", node), why);
    }
    assert_eq!(fleet.policy_condition("a-top"), "Progressing");
    fleet.policy("base", &json!({ "desiredState": bridge("br-base") }));
    fleet.wait_policy("base", "Available");
    fleet.wait_policy("a-top", "Available");
    for node in ["n1", "n2"] {
        assert!(fleet.has_interface(node, "top0"), "{node}");
        assert_eq!(fleet.changes(node, "a-top").iter().filter(|v| *v == "rolled-back").count(), 0);
    }
}

#[test]
fn a_policy_waits_until_its_base_interface_exists() {
    let fleet = Fleet::new("order-alone", 1);
    fleet.policy("a-top", &json!({ "desiredState": on_top() }));
    fleet.eventually("it says what is missing", || {
        fleet.message("n1", "a-top", "Failing").contains("br-base")
            || fleet.message("n1", "a-top", "Progressing").contains("br-base")
    });
    fleet.policy("base", &json!({ "desiredState": bridge("br-base") }));
    fleet.wait_policy("base", "Available");
    fleet.wait_policy("a-top", "Available");
    assert!(fleet.has_interface("n1", "top0"));

    let mapping = json!([{ "localnet": "physnet", "bridge": "br-late" }]);
    fleet.policy("a-mapping", &json!({ "desiredState": { "ovn": { "bridge-mappings": mapping } } }));
    fleet.wait_enactment("n1", "a-mapping", "Failing");
    assert!(fleet.message("n1", "a-mapping", "Failing").contains("LM1019"));
    let late = json!({ "name": "br-late", "type": "ovs-bridge", "state": "up", "bridge": { "options": { "datapath": "netdev" } } });
    fleet.policy("late", &json!({ "desiredState": { "interfaces": [late] } }));
    fleet.wait_policy("a-mapping", "Available");
    let keys = fleet.node("n1").ovs_vsctl(&["get", "Open_vSwitch", ".", "external_ids"]).unwrap();
    assert!(keys.contains("physnet:br-late"), "{keys}");
}

#[test]
fn conflicting_policies_change_no_node_and_are_both_named() {
    let fleet = Fleet::new("contradict", 2);
    let version =
        |mtu, paused| json!({ "rollout": { "paused": paused }, "desiredState": bridge_of("br-both", mtu) });
    fleet.policy("blue", &version(1400, true));
    fleet.policy("red", &version(1300, true));
    fleet.policy("blue", &version(1400, false));
    fleet.policy("red", &version(1300, false));
    for (policy, rival) in [("blue", "red"), ("red", "blue")] {
        fleet.wait_policy(policy, "Degraded");
        let (reason, message) = fleet.reason_and_message(policy);
        assert_eq!(reason, "PoliciesConflict", "{message}");
        assert!(message.contains(&format!("conflicts with the policy {rival}")), "{message}");
        assert!(message.contains("interfaces[br-both].mtu"), "{message}");
    }
    for node in ["n1", "n2"] {
        assert!(!fleet.has_interface(node, "br-both"), "{node}");
        assert!(fleet.changes(node, "blue").is_empty() && fleet.changes(node, "red").is_empty(), "{node}");
    }
    fleet.policy("red", &version(1400, false));
    fleet.wait_policy("blue", "Available");
    fleet.wait_policy("red", "Available");
}

#[test]
fn a_conflict_ends_when_the_other_policy_is_deleted() {
    let fleet = Fleet::new("contradict-gone", 1);
    let version = |mtu| json!({ "desiredState": bridge_of("br-both", mtu) });
    fleet.stop_in_mid_change("n1");
    fleet.policy("old", &version(1400));
    fleet.wait_in_mid_change("n1");
    // The node finishes what it has begun, so it has the old one for a while.
    fleet.delete("old");
    fleet.policy("new", &version(1300));
    let why = "waits until the policy old is removed from this node: it conflicts with this one";
    fleet.eventually("it says what it waits for", || fleet.message("n1", "new", "Pending") == why);
    assert_eq!(fleet.blocked_reason("new", "n1"), why);
    fleet.finish_change("n1");
    fleet.wait_in_mid_change("n1");
    fleet.finish_change("n1");
    fleet.wait_policy("new", "Available");
    assert_eq!(fleet.mtu("n1", "br-both"), "1300");
    fleet.replace_agent("n1", "");

    // As people do it: the one, and right after it the other.
    for (gone, made, mtu) in [("new", "next", 1350), ("next", "last", 1250)] {
        fleet.delete(gone);
        fleet.policy(made, &version(mtu));
        fleet.wait_policy(made, "Available");
        assert_eq!(fleet.mtu("n1", "br-both"), mtu.to_string());
    }
}

#[test]
fn a_policy_that_its_node_refused_follows_when_the_conflict_has_ended() {
    let fleet = Fleet::new("contradict-capture", 1);
    fleet.policy("plain", &json!({ "desiredState": bridge_of("br-both", 1400) }));
    fleet.wait_policy("plain", "Available");
    // What captures find is known on the node only, so the operator cannot see the conflict.
    let capture = json!({ "any": "interfaces.name == \"eth1\"" });
    fleet.policy("captures", &json!({ "capture": capture, "desiredState": bridge_of("br-both", 1300) }));
    fleet.wait_enactment("n1", "captures", "Failing");
    let message = fleet.message("n1", "captures", "Failing");
    assert!(message.contains("conflict") && message.contains("plain"), "{message}");
    fleet.eventually("the policy has that reason, too", || {
        fleet.reason_and_message("captures").0 == "PoliciesConflict"
    });
    assert_eq!(fleet.mtu("n1", "br-both"), "1400");
    fleet.delete("plain");
    fleet.wait_policy("captures", "Available");
    assert_eq!(fleet.mtu("n1", "br-both"), "1300");
}

#[test]
fn a_released_policy_says_what_its_node_is_busy_with() {
    let fleet = Fleet::new("queued", 1);
    fleet.stop_in_mid_change("n1");
    fleet.policy("slow", &json!({ "desiredState": bridge("br-slow") }));
    fleet.wait_in_mid_change("n1");
    fleet.policy("next", &json!({ "desiredState": bridge("br-next") }));
    let why = "is released, and waits until the policy slow is applied on this node";
    fleet.eventually("it says so", || fleet.message("n1", "next", "Pending") == why);
    assert_eq!(fleet.enactment_condition("n1", "next"), "Pending");
    fleet.finish_change("n1");
    fleet.wait_in_mid_change("n1");
    fleet.finish_change("n1");
    fleet.wait_policy("next", "Available");
}
