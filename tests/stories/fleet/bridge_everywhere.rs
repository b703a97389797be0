//! A bridge on five nodes, one, two and 40 % at a time.

use linesman_tests::fleet::{Fleet, bridge};
use serde_json::json;

#[test]
fn a_bridge_is_rolled_out_to_five_nodes_within_every_limit() {
    let fleet = Fleet::new("bridge-everywhere", 5);
    let limits = [("one", json!(1), 1), ("two", json!(2), 2), ("percent", json!("40%"), 2)];
    for (name, limit, computed) in limits {
        fleet
            .policy(name, &json!({ "maxUnavailable": limit, "desiredState": bridge(&format!("br-{name}")) }));
        fleet.wait_policy(name, "Available");
        for node in &fleet.nodes {
            assert!(fleet.has_interface(node.name(), &format!("br-{name}")), "{} {name}", node.name());
            assert_eq!(fleet.enactment_condition(node.name(), name), "Available");
        }
        let status = &fleet.get(linesman_tests::fleet::POLICIES, name).unwrap()["status"];
        assert_eq!(status["maxUnavailable"], computed, "{status:#}");
        assert_eq!(fleet.most_in_flight(name), computed, "as many as may, and no more");
    }
}
