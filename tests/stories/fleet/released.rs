//! A host is changed only under a release: an attempt that could not begin is not repeated after the release ended.

use linesman_lab::Running;
use linesman_tests::fleet::{Fleet, bridge_of, true_conditions};
use serde_json::{Value, json};

fn version(mtu: u64, rollout: Value) -> Value {
    json!({ "maxUnavailable": 1, "rollout": rollout, "desiredState": bridge_of("br-rel", mtu) })
}

/// Somebody else changes this host, until the handle is dropped.
fn occupy(fleet: &Fleet, node: &str) -> Running {
    let lock = "/run/linesman/transaction.lock";
    let words = ["flock", "--close", lock, "sh", "-c", "touch /run/busy; exec sleep infinity"];
    let running = fleet.node(node).spawn(words).expect("flock starts");
    fleet.eventually(&format!("{node} is busy"), || fleet.node(node).exists("/run/busy").unwrap_or(false));
    running
}

/// An agent begins by saying so, and only while its node is released and is the only one.
fn assert_begun_under_releases(fleet: &Fleet, policy: &str) {
    let mut changing = std::collections::BTreeSet::new();
    for event in fleet.audit() {
        let object = &event.response;
        if event.resource != "nodenetworkconfigurationenactments" || !event.writes() {
            continue;
        }
        let Some(node) = event.name.strip_suffix(&format!(".{policy}")) else { continue };
        let answered = object["status"]["attempt"] == object["spec"]["attempt"];
        let begins = answered && true_conditions(&object["status"]) == "Progressing";
        if begins && event.node == node {
            assert_eq!(object["spec"]["stage"], "Released", "{node} begins without a release: {object:#}");
        }
        if begins {
            changing.insert(node.to_owned())
        } else {
            changing.remove(node)
        };
        assert!(changing.len() <= 1, "changing at the same time: {changing:?}");
    }
}

#[test]
fn a_node_that_retries_changes_nothing_after_its_release_expired() {
    let fleet = Fleet::without_operator("rel-expired", 3);
    fleet.start_operator("one", &["--release-for", "8"]);
    let busy = occupy(&fleet, "n1");
    fleet.stop_in_mid_change("n2");
    fleet.policy("rel", &version(1400, json!({ "maxFailures": 2 })));
    fleet.eventually("n1 retries", || fleet.enactment_condition("n1", "rel") == "Failing,Progressing");
    fleet.wait_in_mid_change("n2");
    assert_eq!(fleet.enactment("n1", "rel")["spec"]["stage"], "Expired");
    drop(busy);

    fleet.wait_enactment("n1", "rel", "Failing");
    let failing = fleet.message("n1", "rel", "Failing");
    assert!(failing.contains("the release expired, edit the policy to try again"), "{failing}");
    assert!(failing.contains("is changing this host"), "as it failed last: {failing}");
    assert!(fleet.changes("n1", "rel").is_empty() && !fleet.has_interface("n1", "br-rel"));
    fleet.eventually("the policy says why, too", || fleet.blocked_reason("rel", "n1") == failing);
    fleet.wait_agent_status("n1", "waits for a new release");
    fleet.finish_change("n2");
    fleet.wait_enactment("n3", "rel", "Available");
    assert!(fleet.changes("n1", "rel").is_empty(), "however long the others take");
    assert_begun_under_releases(&fleet, "rel");

    fleet.policy("rel", &version(1300, json!({ "maxFailures": 2 })));
    fleet.wait_in_mid_change("n2");
    fleet.finish_change("n2");
    fleet.wait_policy("rel", "Available");
    assert_eq!(fleet.changes("n1", "rel"), ["committed"], "under a new release");
    assert_begun_under_releases(&fleet, "rel");
}

#[test]
fn a_node_that_retries_changes_nothing_after_an_abort() {
    let fleet = Fleet::new("rel-aborted", 2);
    let busy = occupy(&fleet, "n1");
    fleet.policy("rel", &version(1400, json!({})));
    fleet.eventually("n1 retries", || fleet.enactment_condition("n1", "rel") == "Failing,Progressing");
    fleet.policy("rel", &version(1400, json!({ "abort": true })));
    fleet.wait_enactment("n1", "rel", "Aborted");
    drop(busy);
    fleet.wait_agent_status("n1", "waits for a new release");
    // An agent that is started anew asks, too.
    fleet.kill_agent("n1");
    fleet.start_agent(fleet.node("n1"));
    fleet.refresh("n1");
    assert!(fleet.changes("n1", "rel").is_empty() && !fleet.has_interface("n1", "br-rel"));
    assert_eq!(fleet.enactment_condition("n1", "rel"), "Aborted");

    fleet.policy("rel", &version(1400, json!({})));
    fleet.wait_policy("rel", "Available");
    assert_begun_under_releases(&fleet, "rel");
}
