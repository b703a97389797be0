//! A node boots: its network is up before its agent, which has nothing to do.

use linesman_lab::cluster::Event;
use linesman_tests::fleet::{Fleet, STATES};
use linesman_tests::observe;
use serde_json::json;

#[test]
fn a_rebooted_node_is_in_sync_before_its_agent_starts() {
    let fleet = Fleet::new("booted", 1);
    let node = fleet.node("n1");
    let address =
        json!({ "enabled": true, "dhcp": false, "address": [{ "ip": "10.20.1.1", "prefix-length": 24 }] });
    let bridge = json!({ "name": "br1", "type": "linux-bridge", "state": "up", "ipv4": address,
        "bridge": { "port": [{ "name": "eth1" }] } });
    fleet.policy("kept", &json!({ "desiredState": { "interfaces": [bridge] } }));
    fleet.wait_policy("kept", "Available");
    fleet.eventually("its state is reported", || {
        fleet.get(STATES, "n1").unwrap_or_default()["status"]["currentState"]
            .to_string()
            .contains("10.20.1.1")
    });
    let history = fleet.history("n1");
    node.power_cut().unwrap();
    fleet.kill_agent("n1");
    node.boot().unwrap();
    node.wait_reachable().unwrap();
    fleet.eventually("the bridge is there without any agent", || {
        let up = observe::link(node, "br1").is_some_and(|link| link["operstate"] == "UP");
        up && observe::addresses(node, "br1") == ["10.20.1.1/24"]
    });
    let (before, activations) = (fleet.network("n1"), fleet.activations("n1"));
    let written = fleet.writes_of("n1").len();

    fleet.start_agent(node);
    fleet.wait_agent_status("n1", "IN SYNC: 1 policy in sync");
    fleet.refresh("n1");
    let reported: Vec<String> = fleet.writes_of("n1")[written..].iter().map(Event::target).collect();
    assert!(
        reported.len() <= 2 && reported.iter().all(|target| target == "nodenetworkstates/status"),
        "{reported:?}"
    );
    assert_eq!((fleet.network("n1"), fleet.activations("n1")), (before, activations), "nothing was touched");
    assert_eq!(fleet.history("n1"), history);
    assert_eq!(fleet.policy_condition("kept"), "Available");
}
