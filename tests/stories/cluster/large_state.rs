//! The NodeNetworkState of a node with 1,500 VLANs is accepted by the API server.

use linesman_fleet::report::{BUDGET, report};
use linesman_tests::api::{Api, accepted, node_state};
use serde_json::{Value, json};

fn vlan(id: usize) -> Value {
    json!({ "name": format!("bond0.{id}"), "type": "vlan", "state": "up", "mtu": 1500, "wait-ip": "any",
        "mac-address": "52:54:00:12:34:56", "accept-all-mac-addresses": false, "lldp": { "enabled": false },
        "ipv4": { "enabled": true, "dhcp": false, "address": [{ "ip": format!("10.{}.{}.1", id / 256, id % 256), "prefix-length": 24 }] },
        "ipv6": { "enabled": true, "autoconf": false, "dhcp": false,
                  "address": [{ "ip": "fe80::5054:ff:fe12:3456", "prefix-length": 64 }] },
        "ethtool": { "feature": { "rx-checksum": true, "tx-checksum-ip-generic": true, "tx-generic-segmentation": true,
                     "rx-gro": true, "tx-tcp-segmentation": true, "highdma": true, "rx-vlan-hw-parse": false } },
        "vlan": { "base-iface": "bond0", "id": id, "protocol": "802.1q", "reorder-headers": true } })
}

#[test]
fn a_state_with_fifteen_hundred_vlans_is_accepted_by_the_api_server() {
    let api = Api::shared();
    let token = api.node("many-vlans");
    accepted(&api.create(&token, &node_state("many-vlans")));
    let state = json!({ "interfaces": (1..=1500).map(vlan).collect::<Vec<_>>() });
    let reported = report(&state, &[], BUDGET);
    let status = json!({ "status": { "currentState": reported.state, "omitted": reported.omitted } });
    let object = json!({ "apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkState",
        "metadata": { "name": "many-vlans" }, "status": status["status"] });
    let words = ["replace", "--subresource=status", "-f", "-"];
    accepted(&api.cluster.kubectl_as(&token, &words, &object.to_string()).expect("kubectl runs"));
    let kept = api.object("nns/many-vlans");
    assert_eq!(kept["status"]["currentState"]["interfaces"].as_array().map(Vec::len), Some(1500));
    assert_eq!(kept["status"]["omitted"], json!(reported.omitted));
}
