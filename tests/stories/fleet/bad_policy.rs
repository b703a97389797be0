//! Policies that fail: the rollout stops, the nodes are rolled back, and other policies are not affected.

use linesman_lab::cluster::Event;
use linesman_tests::fleet::{Fleet, POLICIES, bridge};
use serde_json::{Value, json};

/// There is no such NIC.
fn wrong_port() -> Value {
    json!({ "interfaces": [{ "name": "br-bad", "type": "linux-bridge", "state": "up",
        "bridge": { "port": [{ "name": "eth9" }] } }] })
}

fn odd() -> Value {
    json!({ "interfaces": [{ "name": "br-odd", "type": "linux-bridge", "state": "up", "mtu": 1400 }] })
}

#[test]
fn a_failing_policy_is_stopped_and_rolled_back() {
    let fleet = Fleet::new("bad-policy", 5);
    fleet.policy("good", &json!({ "desiredState": bridge("br-good") }));
    let waited = fleet.cluster.kubectl(&["wait", "--for=condition=Available", "nncp/good", "--timeout=180s"]);
    assert!(waited.unwrap().success(), "{}", fleet.diagnostics());
    let before: Vec<String> = fleet.nodes.iter().map(|node| fleet.network(node.name())).collect();

    fleet.policy("wrong-port", &at_a_time(1, &wrong_port()));
    degraded(&fleet, "wrong-port", &before, &["n1"], 0);

    fleet.nodes.iter().for_each(|node| fleet.replace_agent(node.name(), "applied"));
    fleet.policy("odd", &at_a_time(2, &odd()));
    // Both are in flight before either fails: what was begun comes to its end.
    let flying = ["n1", "n2"];
    flying.iter().for_each(|node| fleet.wait_failpoint(node, "applied"));
    for node in flying {
        fleet.node(node).run(["ip", "link", "set", "br-odd", "mtu", "1300"]).unwrap();
        fleet.pass_failpoint(node, "applied");
    }
    degraded(&fleet, "odd", &before, &flying, 1);
}

fn at_a_time(nodes: usize, state: &Value) -> Value {
    json!({ "maxUnavailable": nodes, "rollout": { "maxFailures": 1 }, "patience": 5, "desiredState": state })
}

/// These nodes failed, the rest did not begin, and each is as it was.
fn degraded(fleet: &Fleet, policy: &str, before: &[String], failing: &[&str], changes: usize) {
    let waited = ["wait", "--for=condition=Degraded", &format!("nncp/{policy}"), "--timeout=180s"];
    assert!(fleet.cluster.kubectl(&waited).unwrap().success(), "{}", fleet.diagnostics());
    fleet.eventually("all nodes have an end", || {
        let counts = &fleet.get(POLICIES, policy).unwrap()["status"]["nodes"];
        counts["failing"] == failing.len() && counts["aborted"] == before.len() - failing.len()
    });
    for (node, before) in fleet.nodes.iter().map(|node| node.name()).zip(before) {
        let failed = failing.contains(&node);
        let (word, changes) = if failed { ("Failing", changes) } else { ("Aborted", 0) };
        fleet.wait_enactment(node, policy, word);
        assert_eq!(&fleet.network(node), before, "{node} is as before");
        assert_eq!(fleet.verdicts(node, policy), vec!["rolled-back"; changes], "{node}");
        assert_eq!(fleet.enactment_condition(node, "good"), "Available");
        fleet.assert_settled(node);
        let begun = fleet.audit().iter().filter(|event| begins(event, node, policy)).count();
        assert_eq!(begun, usize::from(failed), "by the API server's own log");
        if failed {
            let message = fleet.message(node, policy, "Failing");
            assert!(!message.contains('\n') && message.contains("interfaces[br-"), "{message}");
        }
    }
    assert_eq!(fleet.most_in_flight(policy), failing.len());
    assert_eq!(fleet.policy_condition("good"), "Available");
}

/// An agent says that it begins.
fn begins(event: &Event, node: &str, policy: &str) -> bool {
    let status = event.verb == "update" && event.subresource == "status";
    status && event.node == node && event.name == format!("{node}.{policy}")
}

#[test]
fn a_failure_is_final_also_when_the_node_leaves_and_comes_back() {
    let fleet = Fleet::new("flapping-label", 2);
    for node in ["n1", "n2"] {
        fleet.cluster.label(node, "site", Some("a")).unwrap();
    }
    let before: Vec<String> = fleet.nodes.iter().map(|node| fleet.network(node.name())).collect();
    let cut_off = json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up",
        "ipv4": { "enabled": true, "dhcp": false, "address": [{ "ip": "198.51.100.9", "prefix-length": 24 }] } }] });
    let spec = json!({ "nodeSelector": { "site": "a" }, "maxUnavailable": 1, "patience": 3, "desiredState": cut_off });
    fleet.policy("cut", &spec);
    fleet.wait_enactment("n1", "cut", "Failing");
    let tried = fleet.verdicts("n1", "cut");
    let says = |words: &str| {
        fleet.eventually(words, || {
            fleet.get(POLICIES, "cut").unwrap()["status"]["blockedNodes"].to_string().contains(words)
        });
    };

    // That the failed node leaves does not continue the rollout, and that it returns does not repeat it.
    fleet.cluster.label("n1", "site", None).unwrap();
    says("failed, and is no longer selected");
    fleet.wait_enactment("n2", "cut", "Aborted");
    fleet.cluster.label("n1", "site", Some("a")).unwrap();
    says("failed before its enactment was deleted");
    assert_eq!(fleet.verdicts("n1", "cut"), tried, "it was tried again");
    assert!(fleet.verdicts("n2", "cut").is_empty(), "the next node was tried");
    for (node, before) in fleet.nodes.iter().map(|node| node.name()).zip(before) {
        assert_eq!(fleet.network(node), before, "{node}");
    }
}
