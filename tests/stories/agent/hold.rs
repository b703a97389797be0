//! Hands off.

use linesman_tests::keeper::{Keeper, policy};

#[test]
fn a_held_host_is_left_alone_and_everything_says_so() {
    let keeper = Keeper::new("hold");
    let held = keeper.host.linesman(&["hold", "cabling", "in", "rack", "7"]);
    assert!(held.success(), "{}", held.stderr);
    keeper.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    keeper.wait_phase("bridge", "pending");
    let status = keeper.host.linesman(&["status"]).stdout;
    assert!(status.starts_with("HELD: hands off: held by"), "{status}");
    assert!(status.contains("(cabling in rack 7)"), "{status}");
    assert_eq!(keeper.metric("linesman_held"), Some(1.0));
    assert_eq!(keeper.host.linesman(&["hold"]).code(), Some(7));
    let applied = keeper.host.try_apply(&policy("byhand", "priority: 0", "br9", 1400, ""), &[]);
    assert!(applied.success() && applied.stderr.contains("note: this host is held by"), "{}", applied.stderr);
    // Across a restart, too.
    keeper.stop();
    keeper.start();
    assert_eq!(keeper.phase("bridge"), "pending");
    assert!(keeper.host.interface("br1").is_none());
    assert!(keeper.host.linesman(&["release"]).success());
    keeper.wait_phase("bridge", "in-step");
    assert!(keeper.host.linesman(&["status"]).stdout.starts_with("IN STEP: 1 policy in step\n"));
}
