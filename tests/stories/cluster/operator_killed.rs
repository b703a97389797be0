//! The operator dies after each of its writes in turn; a standby continues.

use std::time::{Duration, Instant};

use linesman_lab::Running;
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::json;

/// Until it leads, so that the other one is the standby.
fn leader(fleet: &SimulatedFleet, identity: &str, variables: &[(&str, &str)]) -> Running {
    let operator = fleet.operator(identity, variables);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !operator.stderr().contains(" leads") {
        assert!(Instant::now() < deadline, "{}", operator.stderr());
        std::thread::sleep(Duration::from_millis(50));
    }
    operator
}

fn spec(mtu: u32) -> serde_json::Value {
    json!({ "maxUnavailable": 1, "desiredState": { "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": mtu }] } })
}

#[test]
fn a_standby_continues_wherever_the_leader_died() {
    let fleet = SimulatedFleet::new("killed", &["w1", "w2", "w3"]);
    let mut writes = 0;
    loop {
        writes += 1;
        let text = writes.to_string();
        let first = leader(&fleet, &format!("mortal-{writes}"), &[("LINESMAN_DIE_AFTER_WRITES", &text)]);
        let standby = fleet.operator(&format!("standby-{writes}"), &[]);
        fleet.policy("blue", &spec(1500 + writes));
        let died = first.wait_at_most(Duration::from_secs(20));
        if died.is_ok() {
            // As if its time were up: that it is waited for is another story.
            fleet.free_lease();
        }
        fleet.wait_policy("blue", "Available");
        assert_eq!(
            fleet.most_in_flight("blue"),
            1,
            "the leader died after {writes} writes\n{}",
            standby.stderr()
        );
        if died.is_err() {
            break;
        }
        drop(standby);
        fleet.free_lease();
    }
    assert!(writes > 10, "only {writes} writes in a rollout of three nodes");
}

#[test]
fn a_lease_that_nobody_renews_is_taken_over() {
    let fleet = SimulatedFleet::new("takeover", &["w1"]);
    let first = leader(&fleet, "first", &[]);
    let standby = fleet.operator("second", &[]);
    first.kill().unwrap();
    let dead = Instant::now();
    fleet.policy("blue", &spec(1500));
    fleet.wait_policy("blue", "Available");
    assert!(dead.elapsed() > Duration::from_secs(9), "the standby did not wait: {}", standby.stderr());
    assert!(dead.elapsed() < Duration::from_secs(30), "{}", standby.stderr());
}
