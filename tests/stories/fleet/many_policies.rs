//! Many policies at once: what is released to a node goes in together.

use linesman_tests::fleet::Fleet;
use serde_json::{Value, json};

const POLICIES: usize = 20;
/// The first ones may come alone, and a slow operator in portions: far fewer than policies all the same.
const MOST_CHANGES: usize = 6;

fn name(number: usize) -> String {
    format!("many-{number:02}")
}

fn policy(number: usize) -> Value {
    let bridge = json!({ "name": format!("br-m{number}"), "type": "linux-bridge", "state": "up",
        "ipv4": { "enabled": false }, "ipv6": { "enabled": false }, "bridge": { "port": [] } });
    json!({ "apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy",
        "metadata": { "name": name(number) }, "spec": { "desiredState": { "interfaces": [bridge] } } })
}

#[test]
fn many_policies_become_few_changes() {
    let fleet = Fleet::new("many", 3);
    let policies: Vec<Value> = (0..POLICIES).map(policy).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": policies });
    fleet.cluster.apply(&list.to_string()).unwrap();
    for number in 0..POLICIES {
        fleet.wait_policy(&name(number), "Available");
    }
    for node in ["n1", "n2", "n3"] {
        for number in 0..POLICIES {
            assert!(fleet.has_interface(node, &format!("br-m{number}")), "{node}, {number}");
        }
        let changes: Vec<Value> =
            fleet.history(node).iter().map(|record| record["policies"].clone()).collect();
        let together: usize = changes.iter().map(|names| names.as_array().map_or(0, Vec::len)).sum();
        assert_eq!(together, POLICIES, "{node}: each once: {changes:?}");
        assert!(changes.len() <= MOST_CHANGES, "{node}: {} changes: {changes:?}", changes.len());
    }
}

#[test]
fn one_bad_policy_among_many_fails_alone() {
    let fleet = Fleet::new("many-bad", 1);
    let mut policies: Vec<Value> = (0..6).map(policy).collect();
    // Nobody answers there.
    policies[3]["spec"]["desiredState"]["dns-resolver"] = json!({ "config": { "server": ["10.77.0.53"] } });
    policies[3]["spec"]["patience"] = json!(5);
    // All of them are released while the agent is away.
    fleet.kill_agent("n1");
    fleet
        .cluster
        .apply(&json!({ "apiVersion": "v1", "kind": "List", "items": policies }).to_string())
        .unwrap();
    fleet.eventually("all are released", || {
        (0..6).all(|number| fleet.enactment("n1", &name(number))["spec"]["stage"] == "Released")
    });
    fleet.start_agent(fleet.node("n1"));
    for number in 0..6 {
        let expected = if number == 3 { "Degraded" } else { "Available" };
        fleet.wait_policy(&name(number), expected);
        assert_eq!(fleet.has_interface("n1", &format!("br-m{number}")), number != 3);
    }
    fleet.assert_settled("n1");
}
