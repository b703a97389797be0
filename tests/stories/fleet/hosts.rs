//! One policy, and an address of its own for each node.

use linesman_tests::fleet::{Fleet, bridge};
use serde_json::{Value, json};

fn with_address(address: &str) -> Value {
    let ipv4 = json!({ "enabled": true, "dhcp": false, "address": [{ "ip": address, "prefix-length": 24 }] });
    json!({ "interfaces": [{ "name": "br-hosts", "ipv4": ipv4 }] })
}

#[test]
fn hosts_are_matched_by_node_hostname_and_mac_address() {
    let fleet = Fleet::new("hosts", 4);
    fleet.cluster.label("n2", "kubernetes.io/hostname", Some("second.example")).unwrap();
    let host =
        |matching: Value, address: &str| json!({ "match": matching, "desiredState": with_address(address) });
    let hosts = json!([
        host(json!({ "node": "n1" }), "10.30.0.1"),
        host(json!({ "hostname": "second.example" }), "10.30.0.2"),
        host(json!({ "macAddress": fleet.node("n3").mac(1).to_uppercase() }), "10.30.0.3"),
    ]);
    fleet.policy("hosts", &json!({ "hosts": hosts, "desiredState": bridge("br-hosts") }));
    fleet.wait_policy("hosts", "Available");
    assert_eq!(
        ["n1", "n2", "n3", "n4"].map(|node| addresses(&fleet, node)),
        [vec!["10.30.0.1"], vec!["10.30.0.2"], vec!["10.30.0.3"], vec![],]
    );
}

fn addresses(fleet: &Fleet, node: &str) -> Vec<String> {
    let shown = fleet.node(node).ip_json(&["-4", "address", "show", "dev", "br-hosts"]).expect("ip shows it");
    let addresses = shown[0]["addr_info"].as_array().cloned().unwrap_or_default();
    addresses.iter().filter_map(|address| address["local"].as_str().map(str::to_owned)).collect()
}
