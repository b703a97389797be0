//! kill -9 of an agent during a change: the host is in its previous or in the desired state, and the next agent reports which.

use linesman_tests::fleet::{Fleet, POLICIES};
use serde_json::json;

/// Where it dies, and what becomes of the change.
const DEATHS: [(&str, &str); 6] = [
    ("applying", "Failing"),
    ("applied", "Failing"),
    ("verified", "Failing"),
    ("probed", "Failing"),
    ("committing", "Available"),
    ("committed", "Available"),
];

#[test]
fn a_killed_agent_leaves_no_partial_change_and_reports_the_outcome() {
    let fleet = Fleet::new("agent-killed", 1);
    for (place, ending) in DEATHS {
        let (policy, link) = (format!("dies-{place}"), format!("br-{place}"));
        let before = fleet.network("n1");
        fleet.replace_agent("n1", place);
        let state = json!({ "interfaces": [{ "name": link, "type": "linux-bridge", "state": "up", "mtu": 1400,
            "bridge": { "port": [{ "name": "eth1" }] } }] });
        fleet.policy(&policy, &json!({ "onDelete": "Revert", "desiredState": state }));
        fleet.wait_failpoint("n1", place);
        assert_eq!(fleet.enactment_condition("n1", &policy), "Progressing");
        fleet.kill_agent("n1");
        fleet.pass_failpoint("n1", place);
        fleet.start_agent(fleet.node("n1"));
        fleet.wait_enactment("n1", &policy, ending);
        fleet.assert_settled("n1");
        let (verdict, made) =
            if ending == "Available" { ("committed", true) } else { ("rolled-back", false) };
        assert_eq!(fleet.verdicts("n1", &policy), [verdict], "once, and never again");
        assert_eq!(fleet.has_interface("n1", &link), made, "{place}");
        if !made {
            assert_eq!(fleet.network("n1"), before, "{place}");
        }
        let begun =
            fleet.audit().iter().filter(|e| e.name == format!("n1.{policy}") && e.verb == "update").count();
        assert_eq!(begun, 1, "by the API server's own log");
        // The next agent still has the revert state.
        fleet.cluster.run(&["delete", POLICIES, &policy, "--wait=false"]).unwrap();
        fleet.eventually("the policy is gone", || fleet.get(POLICIES, &policy).is_none());
        assert!(!fleet.has_interface("n1", &link), "{place}");
    }
}
