//! Clocks that are an hour wrong: of agents, and of an operator that takes over.

use linesman_tests::fleet::{Fleet, bridge_of};
use serde_json::json;

const AHEAD: (&str, &str) = ("LINESMAN_CLOCK_SKEW", "3600");
const BEHIND: (&str, &str) = ("LINESMAN_CLOCK_SKEW", "-3600");
const STOP: (&str, &str) = ("LINESMAN_FAILPOINT", "applied");

#[test]
fn wrong_clocks_do_not_repeat_a_release() {
    let fleet = Fleet::without_agents("clocks", 3);
    fleet.start_agent_with(fleet.node("n1"), &[AHEAD]);
    fleet.start_agent_with(fleet.node("n2"), &[BEHIND, STOP]);
    fleet.start_agent(fleet.node("n3"));
    fleet.start_operator("right", &[]);
    roll(&fleet, 1400, ("right", "ahead"), AHEAD);
    roll(&fleet, 1300, ("ahead", "behind"), BEHIND);

    for node in ["n1", "n2", "n3"] {
        assert_eq!(fleet.mtu(node, "br-clocks"), "1300", "{node}");
        assert_eq!(fleet.changes(node, "clocks"), ["committed", "committed"], "{node}: each version once");
    }
    assert_eq!(fleet.most_in_flight("clocks"), 1);
}

/// One version, during which an operator dies and another one takes over.
fn roll(fleet: &Fleet, mtu: u64, (first, second): (&str, &str), skew: (&str, &str)) {
    let state = bridge_of("br-clocks", mtu);
    fleet.policy("clocks", &json!({ "maxUnavailable": 1, "desiredState": state }));
    fleet.wait_in_mid_change("n2");
    fleet.kill_operator(first);
    fleet.start_operator_with(second, &[skew]);
    fleet.eventually(&format!("{second} leads"), || fleet.operator_log(second).contains("leads"));
    fleet.finish_change("n2");
    fleet.wait_policy("clocks", "Available");
}
