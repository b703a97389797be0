//! A policy that is edited during its rollout.

use linesman_tests::fleet::{Fleet, bridge_of};
use serde_json::json;

#[test]
fn an_edit_waits_for_the_change_in_progress_and_reaches_every_node() {
    let fleet = Fleet::new("edited", 3);
    fleet.stop_in_mid_change("n2");
    let version = |mtu| json!({ "maxUnavailable": 1, "desiredState": bridge_of("br-edited", mtu) });
    fleet.policy("edited", &version(1400));
    fleet.wait_in_mid_change("n2");
    assert_eq!(fleet.enactment_condition("n1", "edited"), "Available");
    assert_eq!(fleet.status("edited")["observedGeneration"], 1);

    fleet.policy("edited", &version(1300));
    fleet.wait_seen("edited");
    assert_eq!(fleet.policy_condition("edited"), "Progressing");
    let under_way = fleet.enactment("n2", "edited");
    assert_eq!(under_way["spec"]["policy"]["generation"], 1, "what is under way is let end: {under_way:#}");
    assert_eq!(fleet.enactment_condition("n2", "edited"), "Progressing");
    fleet.eventually("n3 gets the new version", || {
        fleet.enactment("n3", "edited")["spec"]["policy"]["generation"] == 2
    });
    assert_eq!(fleet.enactment_condition("n3", "edited"), "Pending");

    fleet.finish_change("n2");
    fleet.eventually("n2 has ended the old version", || {
        fleet.changes("n2", "edited").contains(&"committed".into())
    });
    fleet.wait_in_mid_change("n2");
    assert_eq!(fleet.enactment("n2", "edited")["spec"]["policy"]["generation"], 2);
    fleet.finish_change("n2");
    fleet.wait_policy("edited", "Available");

    for node in ["n1", "n2", "n3"] {
        assert_eq!(fleet.mtu(node, "br-edited"), "1300", "{node}");
        assert_eq!(fleet.enactment(node, "edited")["status"]["policyGeneration"], 2, "{node}");
    }
    let changes = |node| fleet.changes(node, "edited").len();
    assert_eq!([changes("n1"), changes("n2"), changes("n3")], [2, 2, 1], "n3 never saw the first version");
    assert_eq!(fleet.most_in_flight("edited"), 1);
    assert_eq!(fleet.status("edited")["observedGeneration"], 2);
}
