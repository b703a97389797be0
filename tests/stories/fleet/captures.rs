//! A policy that refers to "the NIC with the default route" of each node, and moves that route itself.

use linesman_tests::fleet::Fleet;
use serde_json::{Value, json};

/// NMState's own example, of an MTU.
fn bridge_over_default_route(mtu: u64, rollout: &Value) -> Value {
    json!({
        "drift": "Correct",
        "rollout": rollout,
        "capture": {
            "default-gw": "routes.running.destination==\"0.0.0.0/0\"",
            "base-iface": "interfaces.name==capture.default-gw.routes.running.0.next-hop-interface",
            "base-iface-routes":
                "routes.running.next-hop-interface==capture.default-gw.routes.running.0.next-hop-interface",
            "bridge-routes": "capture.base-iface-routes | routes.running.next-hop-interface:=\"br1\""
        },
        "desiredState": {
            "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up", "mtu": mtu,
                "ipv4": "{{ capture.base-iface.interfaces.0.ipv4 }}",
                "ipv6": "{{ capture.base-iface.interfaces.0.ipv6 }}",
                "bridge": { "options": { "stp": { "enabled": false } },
                    "port": [{ "name": "{{ capture.base-iface.interfaces.0.name }}" }] } }],
            "routes": { "config": "{{ capture.bridge-routes.routes.running }}" }
        }
    })
}

#[test]
fn captures_find_the_same_through_edits_corrections_restarts_and_an_undo() {
    let fleet = Fleet::new("captures", 1);
    let set = |mtu: u64, rollout: Value| fleet.policy("uplink", &bridge_over_default_route(mtu, &rollout));
    let holds = |mtu: &str, changes: usize| {
        // An enactment stays Available while drift is corrected: the record of the change says when that is over.
        fleet.eventually(&format!("br1 has an MTU of {mtu}"), || {
            let verdicts = fleet.verdicts("n1", "uplink");
            fleet.has_interface("n1", "br1")
                && fleet.mtu("n1", "br1") == mtu
                && verdicts.len() == changes
                && verdicts.iter().all(|verdict| verdict != "unfinished")
        });
        fleet.wait_enactment("n1", "uplink", "Available");
        assert!(fleet.verdicts("n1", "uplink").iter().all(|verdict| verdict == "committed"));
    };
    set(1500, json!({}));
    holds("1500", 1);
    set(1400, json!({}));
    holds("1400", 2);
    fleet.wait_policy("uplink", "Available");
    fleet.node("n1").run(["ip", "link", "set", "br1", "mtu", "1300"]).unwrap();
    holds("1400", 3);
    fleet.kill_agent("n1");
    fleet.start_agent(fleet.node("n1"));
    set(1400, json!({ "undo": true }));
    holds("1500", 4);
    fleet.assert_settled("n1");
}
