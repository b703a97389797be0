//! A policy is rolled out within its limit.

use std::time::Duration;

use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::json;

fn bridge(name: &str) -> serde_json::Value {
    json!({ "interfaces": [{ "name": name, "type": "linux-bridge", "state": "up" }] })
}

#[test]
fn five_nodes_two_at_a_time() {
    let fleet = SimulatedFleet::new("waves", &["w1", "w2", "w3", "w4", "w5"]);
    let operator = fleet.operator("first", &[]);
    // Without a soak, whose end would be written.
    let rollout = json!({ "soak": 0 });
    fleet.policy(
        "blue",
        &json!({ "maxUnavailable": "40%", "rollout": rollout, "desiredState": bridge("br1") }),
    );
    let policy = fleet.wait_policy("blue", "Available");
    assert_eq!(policy["status"]["maxUnavailable"], 2, "{}", operator.stderr());
    assert_eq!(policy["status"]["nodes"]["available"], 5);
    assert_eq!(fleet.enactments("blue").len(), 5);
    assert_eq!(fleet.most_in_flight("blue"), 2);
    assert_eq!((fleet.events("blue", "RolloutStarted"), fleet.events("blue", "RolloutFinished")), (1, 1));
    let owner = &fleet.enactments("blue")["w1"]["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["name"]), (&json!("Node"), &json!("w1")));

    // At rest the Lease is all that is written, and a restart changes nothing.
    let written = || {
        let ours = |event: &&linesman_lab::cluster::Event| event.user.ends_with(":nmstate-operator");
        let audit = fleet.cluster.audit().unwrap();
        audit.iter().filter(ours).filter(|e| e.writes() && e.resource != "leases").count()
    };
    let before = written();
    operator.signal(nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(operator.wait_at_most(Duration::from_secs(10)).unwrap().success());
    let second = fleet.operator("second", &[]);
    fleet.policy(
        "red",
        &json!({ "nodeSelector": { "kubernetes.io/hostname": "w1" }, "desiredState": bridge("br2") }),
    );
    fleet.wait_policy("red", "Available");
    let policies =
        |name: &str| fleet.cluster.get("nncp", name).unwrap().unwrap()["metadata"]["resourceVersion"].clone();
    assert_eq!(policies("blue"), policy["metadata"]["resourceVersion"], "{}", second.stderr());
    assert!(written() > before);

    // A node that joins is brought up to date; a policy that goes leaves nothing.
    fleet.cluster.add_nodes(&["w6"], &[]).unwrap();
    fleet.wait_enactment("blue", "w6", "Available");
    fleet.cluster.run(&["delete", "nncp", "blue"]).unwrap();
    fleet.wait_gone("blue");
}
