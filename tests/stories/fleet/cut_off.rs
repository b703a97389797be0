//! Policies that cut their node off: rolled back, reported, and not retried.

use std::time::Duration;

use linesman_lab::{gateway_v4, gateway_v6};
use linesman_tests::fleet::{Fleet, STATES};
use serde_json::{Value, json};

const PATIENCE: u64 = 5;

/// Changes to the node's own path, the same on each node.
fn cuts() -> [(&'static str, Value); 3] {
    let no_route = |destination: &str, gateway: String| {
        json!({ "state": "absent", "destination": destination, "next-hop-address": gateway,
            "next-hop-interface": "eth0" })
    };
    // One family alone may go: the host is still connected.
    let routes =
        [no_route("0.0.0.0/0", gateway_v4(0).to_string()), no_route("::/0", gateway_v6(0).to_string())];
    let address =
        json!({ "enabled": true, "dhcp": false, "address": [{ "ip": "10.77.0.2", "prefix-length": 24 }] });
    [
        ("no-route", json!({ "routes": { "config": routes } })),
        (
            "other-address",
            json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "ipv4": address }] }),
        ),
        ("other-dns", json!({ "dns-resolver": { "config": { "server": ["10.77.0.53"] } } })),
    ]
}

#[test]
fn a_node_that_is_cut_off_is_rolled_back() {
    let fleet = Fleet::new("cut-off", 2);
    let named = |node: &str| json!({ "kubernetes.io/hostname": node });
    let nodes = ["n1", "n2"];
    fleet.eventually("both have reported their state", || {
        nodes.iter().all(|node| state(&fleet, node).is_some())
    });
    for (policy, cut) in cuts() {
        let before = (fleet.network("n1"), state(&fleet, "n1"));
        let others = fleet.network("n2");
        let watch = fleet.lab.hub().watch(fleet.node("n1").mgmt_ipv4()).unwrap();
        fleet.policy(
            policy,
            &json!({ "nodeSelector": named("n1"), "patience": PATIENCE, "desiredState": cut }),
        );
        fleet.wait_enactment("n1", policy, "Failing");
        fleet.wait_policy(policy, "Degraded");
        let seen = watch.stop();
        let message = fleet.message("n1", policy, "Failing");
        assert!(message.contains("rolled back"), "{message}");
        assert!(seen.reachable_at_end());
        // Some seconds more: NetworkManager's own rollback, on a machine that may be busy.
        assert!(seen.longest_outage() < Duration::from_secs(PATIENCE + 25), "{:?}", seen.longest_outage());
        if policy == "other-address" {
            assert!(seen.lost() > 0, "no node was cut off, so this proves nothing");
        }
        assert_eq!(fleet.network("n1"), before.0);
        assert_eq!(fleet.network("n2"), others);
        fleet.eventually("its state is reported as before", || state(&fleet, "n1") == before.1);
        let record = fleet.history("n1").pop().unwrap();
        assert_ne!(record["plan"]["impact"], "additive", "{record:#}");
        assert_eq!(record["outcome"]["step"], "probe", "{record:#}");
    }
    for (policy, _) in cuts() {
        assert_eq!(fleet.verdicts("n1", policy), ["rolled-back"], "tried once");
        let audit = fleet.audit();
        let begun = audit.iter().filter(|e| e.name == format!("n1.{policy}") && e.verb == "update").count();
        assert_eq!(begun, 1, "by the API server's own log");
    }
    fleet.assert_settled("n1");
}

/// Of its NodeNetworkState, without what differs from look to look.
fn state(fleet: &Fleet, node: &str) -> Option<Value> {
    fleet
        .get(STATES, node)
        .map(|state| state["status"]["currentState"].clone())
        .filter(|state| !state.is_null())
}
