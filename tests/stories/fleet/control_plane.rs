//! The control plane keeps its majority, whatever policies say.

use linesman_tests::fleet::{Fleet, bridge};
use serde_json::json;

const MEMBERS: [&str; 3] = ["n1", "n2", "n3"];

#[test]
fn two_policies_change_one_control_plane_node_at_a_time() {
    let fleet = Fleet::without_operator("control-plane", 5);
    for node in MEMBERS {
        fleet.cluster.label(node, "node-role.kubernetes.io/control-plane", Some("")).unwrap();
    }
    let all_at_once = |name| json!({ "maxUnavailable": "100%", "desiredState": bridge(name) });
    fleet.policy("blue", &all_at_once("br-blue"));
    fleet.policy("red", &all_at_once("br-red"));
    fleet.start_operator("one", &[]);
    fleet.wait_policy("blue", "Available");
    fleet.wait_policy("red", "Available");
    for node in &fleet.nodes {
        assert!(fleet.has_interface(node.name(), "br-blue") && fleet.has_interface(node.name(), "br-red"));
    }
    assert_eq!(fleet.status("blue")["maxUnavailable"], 5);
    assert_eq!(fleet.most_nodes_in_flight(|node| MEMBERS.contains(&node)), 1);
    assert!(fleet.most_nodes_in_flight(|_| true) > 1, "the others went beside them");
}
