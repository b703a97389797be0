//! Agents with nothing to do: they write nothing, change nothing, and wait for another handler.

use linesman_lab::cluster::Event;
use linesman_tests::fleet::{Fleet, STATES, bridge};
use serde_json::json;

const LOCK: &str = "/var/k8s_nmstate/handler_lock";

#[test]
fn an_agent_that_starts_on_a_node_in_sync_changes_nothing() {
    let fleet = Fleet::new("settled", 2);
    fleet.policy("calm", &json!({ "desiredState": bridge("br-calm") }));
    fleet.wait_policy("calm", "Available");
    fleet.eventually("the states are reported", || {
        ["n1", "n2"].iter().all(|node| {
            let state = fleet.get(STATES, node).unwrap_or_default();
            state["status"]["currentState"].to_string().contains("br-calm")
        })
    });
    let before = ["n1", "n2"].map(|node| (fleet.network(node), fleet.activations(node), fleet.history(node)));
    let words = [
        "get",
        "nnce",
        "n1.calm",
        "--show-managed-fields",
        "-o",
        "jsonpath={.metadata.managedFields[*].manager}",
    ];
    let mut managers: Vec<String> =
        fleet.cluster.run(&words).unwrap().split(' ').map(str::to_owned).collect();
    managers.sort();
    assert_eq!(managers, ["linesman-agent", "linesman-operator"], "who wrote what has a name");
    fleet.kill_agent("n1");
    let written = fleet.writes_of("n1").len();
    fleet.start_agent(fleet.node("n1"));
    fleet.wait_agent_status("n1", "IN SYNC: 1 policy in sync");
    fleet.refresh("n1");
    let reported: Vec<String> = fleet.writes_of("n1")[written..].iter().map(Event::target).collect();
    assert_eq!(reported, ["nodenetworkstates/status"], "what was asked for, and nothing else");
    assert_eq!(
        ["n1", "n2"].map(|node| (fleet.network(node), fleet.activations(node), fleet.history(node))),
        before
    );

    // Whoever asks while no agent runs is answered by the next one.
    fleet.kill_agent("n1");
    let reported = fleet.state_reports("n1");
    fleet.request_state("n1", "please");
    fleet.start_agent(fleet.node("n1"));
    fleet.eventually("what was asked meanwhile is reported", || fleet.state_reports("n1") > reported);
    // Once the label was removed, the same label is another request.
    fleet.cluster.run(&["label", STATES, "n1", "nmstate.io/force-nns-refresh-"]).unwrap();
    fleet.request_state("n1", "please");
    fleet.eventually("what was asked again is reported", || fleet.state_reports("n1") > reported + 1);
}

#[test]
fn a_frozen_node_reports_it_and_continues_when_unfrozen() {
    let fleet = Fleet::new("frozen", 1);
    assert!(fleet.linesman("n1", &["freeze", "cabling", "in", "rack", "7"]).success());
    fleet.policy("later", &json!({ "desiredState": bridge("br-later") }));
    fleet.eventually("the enactment says that the node is frozen", || {
        let message = fleet.message("n1", "later", "Pending");
        message.contains("(cabling in rack 7)") && message.contains("`linesman unfreeze`")
    });
    assert_eq!(fleet.enactment_condition("n1", "later"), "Pending");
    assert!(!fleet.has_interface("n1", "br-later"));
    fleet.refresh("n1");
    let reported = fleet.writes_of("n1").iter().filter(|event| event.name == "n1.later").count();
    assert_eq!(reported, 1, "once is enough");
    assert!(fleet.linesman("n1", &["unfreeze"]).success());
    fleet.wait_policy("later", "Available");
    assert!(fleet.has_interface("n1", "br-later"));
}

#[test]
fn an_agent_waits_for_another_handler() {
    let fleet = Fleet::without_agents("handler", 1);
    fleet.start_operator("one", &[]);
    let node = fleet.node("n1");
    node.run(["mkdir", "-p", "/var/k8s_nmstate"]).unwrap();
    let other =
        node.spawn(["flock", "--close", LOCK, "sh", "-c", "touch /run/other; exec sleep infinity"]).unwrap();
    fleet.eventually("the other one has the lock", || node.exists("/run/other").unwrap());
    fleet.start_agent(node);
    fleet.wait_agent_status("n1", "another handler");
    assert!(fleet.agent_log("n1").contains(LOCK), "{}", fleet.agent_log("n1"));
    fleet.policy("later", &json!({ "desiredState": bridge("br-later") }));
    fleet.eventually("it is released", || {
        let enactment = fleet.get(linesman_tests::fleet::ENACTMENTS, "n1.later").unwrap_or_default();
        enactment["spec"]["stage"] == "Released"
    });
    fleet.wait_agent_status("n1", "another handler");
    assert!(!fleet.has_interface("n1", "br-later"));
    assert_eq!(fleet.writes_of("n1"), [], "nothing is accepted and nothing is reported");
    other.kill().unwrap();
    fleet.wait_policy("later", "Available");
    assert!(fleet.has_interface("n1", "br-later"));
}
