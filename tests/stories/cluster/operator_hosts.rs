//! Hosts are matched by the MAC addresses in their NodeNetworkStates.

use linesman_tests::api::node_state;
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::json;

#[test]
fn a_host_is_matched_by_its_mac_address() {
    let fleet = SimulatedFleet::new("hosts", &["w1", "w2"]);
    for (node, mac) in [("w1", "52:54:00:00:00:01"), ("w2", "52:54:00:00:00:02")] {
        fleet.cluster.apply(&node_state(node).to_string()).unwrap();
        let nic = json!({ "name": "eth0", "type": "ethernet", "mac-address": mac });
        let patch = json!({ "status": { "currentState": { "interfaces": [nic] } } }).to_string();
        fleet
            .cluster
            .run(&["patch", "nns", node, "--subresource=status", "--type=merge", "--patch", &patch])
            .unwrap();
    }
    let operator = fleet.operator("first", &[]);
    let state = |mtu: u32| json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": mtu }] });
    let hosts = json!([{ "match": { "macAddress": "52:54:00:00:00:02" }, "desiredState": state(9000) }]);
    fleet.policy("blue", &json!({ "desiredState": state(1500), "hosts": hosts }));
    fleet.wait_policy("blue", "Available");
    let mtu =
        |node: &str| fleet.enactments("blue")[node]["spec"]["desiredState"]["interfaces"][0]["mtu"].clone();
    assert_eq!((mtu("w1"), mtu("w2")), (json!(1500), json!(9000)), "{}", operator.stderr());
}
