//! The files of an agent are lost. A rollback is terminal all the same: the enactment says that it was tried.

use linesman_tests::fleet::{Fleet, bridge_of};
use serde_json::json;

const RELEASES: &str = "/var/lib/linesman/accepted-releases.json";
const EVERYTHING: &str = "/var/lib/linesman";

/// Fails on the host: what was applied is no longer there when it is verified.
fn roll_back(fleet: &Fleet, policy: &str, link: &str) {
    fleet.replace_agent("n1", "applied");
    fleet.policy(policy, &json!({ "patience": 5, "desiredState": bridge_of(link, 1400) }));
    fleet.wait_failpoint("n1", "applied");
    fleet.node("n1").run(["ip", "link", "set", link, "mtu", "1300"]).unwrap();
    fleet.pass_failpoint("n1", "applied");
    fleet.wait_enactment("n1", policy, "Failing");
    fleet.wait_policy(policy, "Degraded");
}

#[test]
fn a_rollback_is_terminal_though_the_record_of_the_release_is_lost() {
    let fleet = Fleet::new("lost-records", 1);
    for (policy, link, lost) in [("a", "br-a", RELEASES), ("b", "br-b", EVERYTHING)] {
        roll_back(&fleet, policy, link);
        let (status, network) = (fleet.enactment("n1", policy)["status"].clone(), fleet.network("n1"));
        let activations = fleet.activations("n1");
        fleet.kill_agent("n1");
        fleet.node("n1").run(["rm", "-r", lost]).unwrap();
        let before = fleet.history("n1").len();
        fleet.start_agent(fleet.node("n1"));
        fleet.refresh("n1");
        assert_eq!(fleet.history("n1").len(), before, "nothing was tried again");
        assert_eq!((fleet.network("n1"), fleet.activations("n1")), (network, activations));
        assert_eq!(fleet.enactment("n1", policy)["status"], status);
        let tries = fleet
            .writes_of("n1")
            .iter()
            .filter(|event| event.verb == "update" && event.name == format!("n1.{policy}"))
            .count();
        assert_eq!(tries, 1, "by the API server's own log");

        fleet.policy(policy, &json!({ "desiredState": bridge_of(link, 1350) }));
        fleet.wait_policy(policy, "Available");
        assert_eq!(fleet.mtu("n1", link), "1350");
    }
}

#[test]
fn a_change_that_was_begun_and_forgotten_is_reported() {
    let fleet = Fleet::new("lost-begun", 1);
    fleet.replace_agent("n1", "applied");
    let before = fleet.network("n1");
    fleet.policy("c", &json!({ "desiredState": bridge_of("br-c", 1400) }));
    fleet.wait_failpoint("n1", "applied");
    fleet.kill_agent("n1");
    fleet.node("n1").run(["rm", "-r", RELEASES]).unwrap();
    fleet.pass_failpoint("n1", "applied");
    fleet.start_agent(fleet.node("n1"));
    fleet.wait_enactment("n1", "c", "Failing");
    let message = fleet.message("n1", "c", "Failing");
    assert!(message.contains("rolled back is not known; edit the policy"), "{message}");
    fleet.assert_settled("n1");
    assert_eq!(fleet.network("n1"), before);
    assert_eq!(fleet.verdicts("n1", "c"), ["rolled-back"]);
}

#[test]
fn an_applied_policy_is_adopted_again_under_a_release() {
    let fleet = Fleet::new("lost-applied", 1);
    fleet.policy("d", &json!({ "onDelete": "Revert", "desiredState": bridge_of("br-d", 1400) }));
    fleet.wait_policy("d", "Available");
    let activations = fleet.activations("n1");
    fleet.kill_agent("n1");
    fleet.node("n1").run(["rm", "-r", EVERYTHING]).unwrap();
    fleet.start_agent(fleet.node("n1"));
    fleet.eventually("it was released again", || fleet.enactment("n1", "d")["status"]["attempt"] == 2);
    fleet.wait_policy("d", "Available");
    assert_eq!(fleet.activations("n1"), activations, "what held was left alone");
    fleet.node("n1").run(["ip", "link", "set", "br-d", "mtu", "1300"]).unwrap();
    fleet.eventually("drift is seen again", || fleet.message("n1", "d", "Drifted").contains("1300"));
}
