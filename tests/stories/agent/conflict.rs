//! Two policies that conflict.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn a_conflicting_policy_is_refused_and_both_are_named() {
    let agent_host = AgentHost::new("contra");
    agent_host.write("office", &policy("office", "priority: 0", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    agent_host.write("storage", &policy("storage", "priority: 9", "br1", 1300, "eth1"));
    agent_host.wait_phase("storage", "refused");
    let reason = agent_host.policy("storage").unwrap()["reason"].as_str().unwrap().to_string();
    assert_eq!(reason, "conflict: interfaces[br1].mtu: storage wants 1300, office wants 1400 [LM0019]");
    assert_eq!(agent_host.phase("office"), "in-sync", "what stands stays");
    assert_eq!(agent_host.changes(), ["policy office"], "nothing was touched for it");
    // It is applied as soon as the conflict is gone.
    agent_host.write("storage", &policy("storage", "priority: 9", "br1", 1400, "eth1"));
    agent_host.wait_phase("storage", "in-sync");
    assert_eq!(agent_host.changes(), ["policy office"], "it held already");
    agent_host.host.assert_settled();
}

#[test]
fn an_invalid_file_is_reported_with_its_line_and_reverts_nothing() {
    let agent_host = AgentHost::new("wrong");
    agent_host.write("office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    agent_host.write("office", "interfaces:\n- name: br1\n  type: linux-bridge\n  mtu: many\n");
    agent_host.wait_phase("office", "invalid");
    let status = agent_host.policy("office").unwrap();
    assert!(status["reason"].as_str().unwrap().contains("office.yaml:4:8: error[LM0103]"), "{status:#}");
    assert_eq!(status["former_applied"], true);
    assert!(agent_host.host.interface("br1").is_some(), "a typing error reverts nothing");
    assert_eq!(agent_host.changes(), ["policy office"]);
}
