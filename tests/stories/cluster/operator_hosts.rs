//! Hosts are matched by the MAC addresses in their NodeNetworkStates.

use linesman_tests::api::node_state;
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::{Value, json};

fn report_nic(fleet: &SimulatedFleet, node: &str, mac: &str) {
    fleet.cluster.apply(&node_state(node).to_string()).unwrap();
    let nic = json!({ "name": "eth0", "type": "ethernet", "mac-address": mac });
    let patch = json!({ "status": { "currentState": { "interfaces": [nic] } } }).to_string();
    fleet
        .cluster
        .run(&["patch", "nns", node, "--subresource=status", "--type=merge", "--patch", &patch])
        .unwrap();
}

fn state(mtu: u32) -> Value {
    json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": mtu }] })
}

#[test]
fn a_host_is_matched_by_its_mac_address() {
    let fleet = SimulatedFleet::new("hosts", &["w1", "w2"]);
    for (node, mac) in [("w1", "52:54:00:00:00:01"), ("w2", "52:54:00:00:00:02")] {
        report_nic(&fleet, node, mac);
    }
    let operator = fleet.operator("first", &[]);
    let hosts = json!([{ "match": { "macAddress": "52:54:00:00:00:02" }, "desiredState": state(9000) }]);
    fleet.policy("blue", &json!({ "desiredState": state(1500), "hosts": hosts }));
    fleet.wait_policy("blue", "Available");
    let mtu =
        |node: &str| fleet.enactments("blue")[node]["spec"]["desiredState"]["interfaces"][0]["mtu"].clone();
    assert_eq!((mtu("w1"), mtu("w2")), (json!(1500), json!(9000)), "{}", operator.stderr());
}

#[test]
fn a_mac_address_that_another_node_claims_gives_it_nothing() {
    let fleet = SimulatedFleet::new("claims", &["thief", "w1", "w2"]);
    let [first, second] = ["52:54:00:00:00:01", "52:54:00:00:00:02"];
    report_nic(&fleet, "w1", first);
    report_nic(&fleet, "w2", second);
    report_nic(&fleet, "thief", "52:54:00:00:00:09");
    let _operator = fleet.operator("first", &[]);
    let hosts = json!([{ "match": { "macAddress": first }, "desiredState": state(9000) }]);
    fleet.policy("blue", &json!({ "desiredState": state(1500), "hosts": hosts }));
    fleet.wait_policy("blue", "Available");
    let enactment =
        |policy: &str, node: &str| fleet.enactments(policy).get(node).cloned().unwrap_or_default();
    assert_eq!(enactment("blue", "w1")["spec"]["matchedMac"], first);

    // What was matched stays, and the claim is reported.
    report_nic(&fleet, "thief", first);
    let policy = fleet.wait_policy("blue", "Degraded");
    let blocked = &policy["status"]["blockedNodes"][0];
    assert_eq!(blocked["node"], "thief");
    assert!(blocked["reason"].as_str().unwrap().contains("belongs to node w1"), "{blocked}");
    let mtu = |policy: &str, node: &str| {
        enactment(policy, node)["spec"]["desiredState"]["interfaces"][0]["mtu"].clone()
    };
    assert_eq!((mtu("blue", "w1"), mtu("blue", "thief")), (json!(9000), json!(1500)));

    // What two nodes claim is matched to neither; the rest of the policy is rolled out.
    report_nic(&fleet, "thief", second);
    let other = |mtu: u32| json!({ "interfaces": [{ "name": "eth2", "type": "ethernet", "mtu": mtu }] });
    let hosts = json!([{ "match": { "macAddress": second }, "desiredState": other(9000) }]);
    fleet.policy("red", &json!({ "desiredState": other(1500), "hosts": hosts }));
    fleet.wait_enactment("red", "w1", "Available");
    let policy = fleet.wait_policy("red", "Degraded");
    let names: Vec<&Value> =
        policy["status"]["blockedNodes"].as_array().unwrap().iter().map(|blocked| &blocked["node"]).collect();
    assert_eq!(names, ["thief", "w2"]);
    assert_eq!((mtu("red", "thief"), mtu("red", "w2")), (Value::Null, Value::Null));
}
