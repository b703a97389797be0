//! Somebody changes by hand what a policy says.

use linesman_tests::keeper::{Keeper, policy};

#[test]
fn a_hand_made_change_is_reported_or_corrected_as_the_policy_says() {
    let keeper = Keeper::new("drift");
    keeper.write("told", &policy("told", "drift: Report", "br1", 1400, "eth1"));
    keeper.write("kept", &policy("kept", "drift: Correct", "br2", 1400, "eth2"));
    keeper.wait_phase("told", "in-step");
    keeper.wait_phase("kept", "in-step");
    let before = keeper.changes().len();

    keeper.host.node.run(["ip", "link", "set", "br1", "mtu", "1300"]).unwrap();
    keeper.wait_phase("told", "drifted");
    let told = keeper.policy("told").unwrap();
    assert_eq!(told["reason"], "interfaces[br1].mtu: wanted 1400, found 1300");
    assert_eq!(told["differences"][0]["path"], "interfaces[br1].mtu");
    let diff = keeper.host.linesman(&["diff"]);
    assert_eq!(diff.code(), Some(2));
    assert!(diff.stdout.contains("- 1400") && diff.stdout.contains("+ 1300"), "{}", diff.stdout);
    assert_eq!(keeper.host.linesman(&["status"]).code(), Some(2));
    let why = keeper.host.linesman(&["why", "br1.mtu"]).stdout;
    assert!(why.contains("set by policy told") && why.contains("but is 1300"), "{why}");

    keeper.host.node.run(["ip", "link", "set", "br2", "mtu", "1300"]).unwrap();
    keeper.host.eventually("it is corrected", || keeper.metric("linesman_corrections_total") == Some(1.0));
    keeper.wait_phase("kept", "in-step");
    assert_eq!(keeper.host.interface("br2").unwrap()["mtu"], 1400);
    assert_eq!(keeper.host.interface("br1").unwrap()["mtu"], 1300, "that one is only reported");
    assert_eq!(keeper.changes()[before..], ["policy kept"]);

    keeper.host.node.run(["ip", "link", "set", "br1", "mtu", "1400"]).unwrap();
    keeper.wait_phase("told", "in-step");
    assert_eq!(keeper.changes().len(), before + 1);
}
