//! The connection of an agent to the API server when its own path changes, or is cut without a word.

use std::time::{Duration, Instant};

use linesman_tests::fleet::Fleet;
use serde_json::{Value, json};

/// Generous to a busy machine; a watch that hangs does so for five minutes.
const SOON: Duration = Duration::from_secs(60);

fn bridge(name: &str) -> Value {
    json!({ "desiredState": { "interfaces": [{ "name": name, "type": "linux-bridge", "state": "up" }] } })
}

#[test]
fn the_next_policy_arrives_after_the_agents_own_address_changed() {
    let fleet = Fleet::new("own-address", 1);
    let node = fleet.node("n1");
    let old = node.mgmt_ipv4();
    let by_dhcp = json!({ "enabled": true, "dhcp": true, "auto-dns": true, "auto-gateway": true,
        "auto-routes": true, "address": [] });
    let eth0 = json!({ "name": "eth0", "type": "ethernet", "state": "up", "ipv4": by_dhcp });
    let no_route = json!({ "state": "absent", "destination": "0.0.0.0/0", "next-hop-interface": "eth0" });
    let state = json!({ "interfaces": [eth0], "routes": { "config": [no_route] } });
    fleet.policy("by-dhcp", &json!({ "patience": 60, "desiredState": state }));
    fleet.wait_policy("by-dhcp", "Available");
    let addresses = node.run(["ip", "-4", "-brief", "address", "show", "eth0"]).unwrap();
    assert!(!addresses.contains(&format!("{old}/")), "it has another address now: {addresses}");

    let start = Instant::now();
    fleet.policy("next", &bridge("br-next"));
    fleet.wait_policy("next", "Available");
    assert!(start.elapsed() < SOON, "{:?}\n{}", start.elapsed(), fleet.agent_log("n1"));
    let log = fleet.agent_log("n1");
    assert!(!log.contains("the API server does not answer"), "a new connection is no outage: {log}");
}

#[test]
fn a_cut_in_the_middle_of_a_watch_is_noticed() {
    let fleet = Fleet::new("cut-watch", 1);
    let node = fleet.node("n1");
    fleet.policy("first", &bridge("br-first"));
    fleet.wait_policy("first", "Available");
    fleet.refresh("n1");

    let start = Instant::now();
    fleet.lab.hub().block(node).unwrap();
    fleet.wait_agent_status("n1", "status updates are sent when it answers");
    let noticed = start.elapsed();
    assert!(noticed < SOON, "{noticed:?}\n{}", fleet.agent_log("n1"));
    fleet.lab.hub().unblock(node).unwrap();

    fleet.policy("next", &bridge("br-next"));
    fleet.wait_policy("next", "Available");
}
