//! A frozen host.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn a_frozen_host_is_not_changed_and_the_status_says_so() {
    let agent_host = AgentHost::new("freeze");
    let frozen = agent_host.host.linesman(&["freeze", "cabling", "in", "rack", "7"]);
    assert!(frozen.success(), "{}", frozen.stderr);
    agent_host.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "pending");
    let status = agent_host.host.linesman(&["status"]).stdout;
    assert!(status.starts_with("FROZEN: frozen by"), "{status}");
    assert!(status.contains("(cabling in rack 7)"), "{status}");
    assert_eq!(agent_host.metric("linesman_frozen"), Some(1.0));
    assert_eq!(agent_host.host.linesman(&["freeze"]).code(), Some(7));
    let applied = agent_host.host.try_apply(&policy("byhand", "priority: 0", "br9", 1400, ""), &[]);
    assert!(
        applied.success() && applied.stderr.contains("note: this host is frozen by"),
        "{}",
        applied.stderr
    );
    // Across a restart, too.
    agent_host.stop();
    agent_host.start();
    assert_eq!(agent_host.phase("bridge"), "pending");
    assert!(agent_host.host.interface("br1").is_none());
    assert!(agent_host.host.linesman(&["unfreeze"]).success());
    agent_host.wait_phase("bridge", "in-sync");
    assert!(agent_host.host.linesman(&["status"]).stdout.starts_with("IN SYNC: 1 policy in sync\n"));
}
