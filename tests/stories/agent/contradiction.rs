//! Two policies that cannot both hold.

use linesman_tests::keeper::{Keeper, policy};

#[test]
fn a_contradiction_is_refused_with_both_names() {
    let keeper = Keeper::new("contra");
    keeper.write("office", &policy("office", "priority: 0", "br1", 1400, "eth1"));
    keeper.wait_phase("office", "in-step");
    keeper.write("storage", &policy("storage", "priority: 9", "br1", 1300, "eth1"));
    keeper.wait_phase("storage", "refused");
    let reason = keeper.policy("storage").unwrap()["reason"].as_str().unwrap().to_string();
    assert_eq!(reason, "contradiction: interfaces[br1].mtu: storage wants 1300, office wants 1400 [LM0019]");
    assert_eq!(keeper.phase("office"), "in-step", "what stands stays");
    assert_eq!(keeper.changes(), ["policy office"], "nothing was touched for it");
    // It waits for nothing but the end of the contradiction.
    keeper.write("storage", &policy("storage", "priority: 9", "br1", 1400, "eth1"));
    keeper.wait_phase("storage", "in-step");
    assert_eq!(keeper.changes(), ["policy office"], "it held already");
    keeper.host.assert_settled();
}

#[test]
fn a_file_that_is_wrong_is_told_with_its_place_and_nothing_is_lost() {
    let keeper = Keeper::new("wrong");
    keeper.write("office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    keeper.wait_phase("office", "in-step");
    keeper.write("office", "interfaces:\n- name: br1\n  type: linux-bridge\n  mtu: many\n");
    keeper.wait_phase("office", "invalid");
    let status = keeper.policy("office").unwrap();
    assert!(status["reason"].as_str().unwrap().contains("office.yaml:4:8: error[LM0103]"), "{status:#}");
    assert_eq!(status["former_kept"], true);
    assert!(keeper.host.interface("br1").is_some(), "a typing error reverts nothing");
    assert_eq!(keeper.changes(), ["policy office"]);
}
