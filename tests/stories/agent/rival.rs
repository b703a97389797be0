//! Another writer wants something else, again and again.

use linesman_tests::keeper::{Keeper, policy};

#[test]
fn a_fight_with_another_writer_ends_and_says_so() {
    let keeper = Keeper::new("rival");
    keeper.write("kept", &policy("kept", "drift: Correct", "br1", 1400, "eth1"));
    keeper.wait_phase("kept", "in-step");
    let rival = "while sleep 0.1; do ip link set br1 mtu 1300; done";
    let running = keeper.host.node.spawn(["sh", "-c", rival]).unwrap();
    keeper.host.eventually("the agent gives in", || {
        keeper
            .policy("kept")
            .is_some_and(|p| p["reason"].to_string().contains("somebody else keeps changing it"))
    });
    // Three rounds at most; one that could not even be verified is the last.
    let rounds = keeper.metric("linesman_corrections_total").unwrap();
    assert!((1.0..=3.0).contains(&rounds), "{rounds}");
    let changes = keeper.changes().len();
    drop(running);
    keeper.host.node.run(["ip", "link", "set", "br1", "mtu", "1350"]).unwrap();
    keeper.wait_phase("kept", "drifted");
    assert_eq!(keeper.changes().len(), changes, "it is only reported from here on");
    let retried = keeper.host.linesman(&["retry", "kept"]);
    assert!(retried.success(), "{}", retried.stderr);
    keeper.wait_phase("kept", "in-step");
    assert_eq!(keeper.host.interface("br1").unwrap()["mtu"], 1400);
    keeper.host.assert_settled();
}
