//! One policy, or one node with an unusual name, does not stop the others; and what is wrong is in its status and an event.

use linesman_api::names;
use linesman_tests::api::{Api, accepted, policy, refused};
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::{Value, json};

fn bridge(name: &str) -> Value {
    json!({ "interfaces": [{ "name": name, "type": "linux-bridge", "state": "up" }] })
}

fn bridges(count: usize) -> Value {
    let one = |n| json!({ "name": format!("bridge{n}"), "type": "linux-bridge", "state": "up", "description": "x".repeat(100) });
    json!({ "interfaces": (0..count).map(one).collect::<Vec<_>>() })
}

/// So many mappings in each other.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}

#[test]
fn documents_are_limited_in_depth_number_and_size() {
    let api = Api::shared();
    let words = ["create", "--dry-run=server", "-f", "-"];
    let attempt = |spec: Value| {
        api.cluster.kubectl_with(&api.cluster.admin(), &words, &policy("bounded", &spec).to_string()).unwrap()
    };
    let host = |state: Value| json!({ "hosts": [{ "match": { "node": "w1" }, "desiredState": state }] });
    let long =
        |characters| json!({ "interfaces": [{ "name": "eth1", "description": "x".repeat(characters) }] });
    let few = json!({ "interfaces": (0..2000).map(|n| json!({ "name": format!("eth{n}"), "mtu": 1500 })).collect::<Vec<_>>() });
    let lists = (0..30).fold(json!([]), |inner, _| json!([inner]));

    accepted(&attempt(json!({ "desiredState": nested(24) })));
    refused(&attempt(json!({ "desiredState": nested(25) })), "must be nested at most 24 levels deep");
    refused(&attempt(json!({ "desiredState": nested(140) })), "must be nested at most 24 levels deep");
    refused(&attempt(json!({ "desiredState": { "a": lists } })), "must be nested at most 24 levels deep");
    refused(&attempt(host(nested(25))), "must be nested at most 24 levels deep");
    accepted(&attempt(json!({ "desiredState": few })));
    refused(&attempt(json!({ "desiredState": bridges(5000) })), "must have at most 2000 interfaces");
    refused(&attempt(host(bridges(2001))), "must have at most 2000 interfaces");
    refused(&attempt(json!({ "desiredState": long(400_001) })), "must have at most 400000 bytes");
    refused(&attempt(host(long(400_001))), "must have at most 400000 bytes");
    let wide = json!({ "interfaces": [{ "name": "eth1", "description": "\u{4e2d}".repeat(140_000) }] });
    refused(&attempt(json!({ "desiredState": wide })), "must have at most 400000 bytes");
    let mut both = host(long(350_000));
    both["desiredState"] = long(350_000);
    refused(&attempt(both), "together must have at most 600000 bytes");
    let hosts = |count| -> Value {
        let address = |n: usize| {
            json!({ "name": "eth1", "type": "ethernet", "state": "up", "ipv4": { "enabled": true, "dhcp": false,
            "address": [{ "ip": format!("10.0.{}.{}", n / 256, n % 256), "prefix-length": 16 }] } })
        };
        (0..count).map(|n| json!({ "match": { "node": format!("w{n}") }, "desiredState": { "interfaces": [address(n)] } })).collect()
    };
    accepted(&attempt(json!({ "hosts": hosts(2500) })));
}

/// As before there were limits.
fn without_limits(fleet: &SimulatedFleet, name: &str, spec: &Value) {
    let binding = "validatingadmissionpolicybinding/linesman-documents-are-bounded";
    fleet.cluster.run(&["delete", binding, "--ignore-not-found"]).unwrap();
    let text = policy(name, spec).to_string();
    let words = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    let accepts = || fleet.cluster.kubectl_with(&fleet.cluster.admin(), &words, &text).unwrap().success();
    fleet.wait(&format!("{name} is accepted"), accepts);
}

#[track_caller]
fn wait_degraded(fleet: &SimulatedFleet, name: &str, reason: &str) -> String {
    let policy = fleet.wait_policy(name, "Degraded");
    let conditions = policy["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let degraded = conditions.iter().find(|it| it["type"] == "Degraded").unwrap().clone();
    assert_eq!(degraded["reason"], reason, "{degraded:#}");
    fleet.wait("an event says so", || {
        fleet.events(name, if reason == "PolicyUnreadable" { "Unreadable" } else { reason }) > 0
    });
    degraded["message"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_policy_that_cannot_be_read_or_stored_is_degraded_and_the_others_go_on() {
    let fleet = SimulatedFleet::new("bad-policies", &["w1", "w2"]);
    let _operator = fleet.operator("first", &[]);
    fleet.policy("kept", &json!({ "desiredState": bridge("br0") }));
    fleet.wait_policy("kept", "Available");
    without_limits(&fleet, "deep", &json!({ "desiredState": nested(140) }));
    without_limits(&fleet, "kept", &json!({ "desiredState": nested(140) }));
    let message = wait_degraded(&fleet, "deep", "PolicyUnreadable");
    assert!(message.contains("nested deeper than 64 levels"), "{message}");
    wait_degraded(&fleet, "kept", "PolicyUnreadable");
    assert_eq!(fleet.enactments("kept").len(), 2, "the enactments of a policy that cannot be read stay");

    // 900 kB; an edit stores them twice, which is more than etcd takes.
    let large = |mtu: u32| json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": mtu, "description": "x".repeat(900_000) }] });
    without_limits(&fleet, "large", &json!({ "desiredState": large(1500) }));
    fleet.wait_policy("large", "Available");
    without_limits(&fleet, "large", &json!({ "desiredState": large(9000) }));
    let message = wait_degraded(&fleet, "large", "WriteRefused");
    assert!(message.contains("the API server refuses its enactment"), "{message}");

    fleet.policy("blue", &json!({ "desiredState": bridge("br1") }));
    fleet.wait_policy("blue", "Available");
    // Corrected, it goes on.
    fleet.policy("kept", &json!({ "desiredState": bridge("br0") }));
    fleet.wait_policy("kept", "Available");
    fleet.cluster.run(&["delete", "nncp", "deep", "large", "--timeout=60s"]).unwrap();
    fleet.wait_gone("large");
}

#[test]
fn a_node_with_a_long_name_is_configured_and_one_whose_name_is_too_long_stops_nobody() {
    let (long, longer) = (format!("a{}", "b".repeat(63)), format!("a{}", "c".repeat(229)));
    let fleet = SimulatedFleet::new("long-names", &[&long, &longer, "w1", "w2"]);
    let _operator = fleet.operator("first", &[]);
    fleet.policy("blue", &json!({ "maxUnavailable": 1, "desiredState": bridge("br1") }));
    fleet.wait_policy("blue", "Available");
    let enactment = fleet.cluster.get("nnce", &names::enactment(&long, "blue")).unwrap().unwrap();
    assert_eq!(enactment["metadata"]["ownerReferences"][0]["name"], long.as_str());

    let name = "green".repeat(6);
    fleet.policy(&name, &json!({ "maxUnavailable": 1, "desiredState": bridge("br2") }));
    for node in ["w1", "w2"] {
        fleet.wait_enactment(&name, node, "Available");
    }
    let message = wait_degraded(&fleet, &name, "WriteRefused");
    assert!(message.starts_with(&longer) && message.contains("253"), "{message}");
    let policy = fleet.cluster.get("nncp", &name).unwrap().unwrap();
    assert_eq!(policy["status"]["blockedNodes"][0]["node"], longer.as_str());
}

#[test]
fn names_with_dots_that_coincide_stop_one_node_of_one_policy() {
    let fleet = SimulatedFleet::new("same-names", &["n1", "n2"]);
    fleet.cluster.add_nodes(&["n1.x"], &[("role", "other")]).unwrap();
    let _operator = fleet.operator("first", &[]);
    fleet.policy("p", &json!({ "nodeSelector": { "role": "other" }, "desiredState": bridge("br1") }));
    fleet.wait_policy("p", "Available");
    // Its enactment on n1 would have the name of the one of p on n1.x.
    fleet.policy("x.p", &json!({ "maxUnavailable": 1, "desiredState": bridge("br2") }));
    for node in ["n1.x", "n2"] {
        fleet.wait_enactment("x.p", node, "Available");
    }
    let message = wait_degraded(&fleet, "x.p", "WriteRefused");
    let why = "n1: the API server refuses its enactment: its name, n1.x.p, is that of the policy p on the node n1.x";
    assert!(message.starts_with(why), "{message}");
    // Once the name is free, it goes on.
    fleet.cluster.run(&["delete", "nncp", "p", "--timeout=60s"]).unwrap();
    fleet.wait_policy("x.p", "Available");
}
