//! Another program keeps changing what a policy declares.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn repeated_corrections_stop_and_are_reported() {
    let agent_host = AgentHost::new("rival");
    agent_host.write("kept", &policy("kept", "drift: Correct", "br1", 1400, "eth1"));
    agent_host.wait_phase("kept", "in-sync");
    let program = "while sleep 0.1; do ip link set br1 mtu 1300; done";
    let running = agent_host.host.node.spawn(["sh", "-c", program]).unwrap();
    agent_host.host.eventually("the agent gives in", || {
        agent_host
            .policy("kept")
            .is_some_and(|p| p["reason"].to_string().contains("something else keeps changing it"))
    });
    // Three rounds at most; one that could not even be verified is the last.
    let rounds = agent_host.metric("linesman_corrections_total").unwrap();
    assert!((1.0..=3.0).contains(&rounds), "{rounds}");
    let changes = agent_host.changes().len();
    drop(running);
    agent_host.host.node.run(["ip", "link", "set", "br1", "mtu", "1350"]).unwrap();
    agent_host.wait_phase("kept", "drifted");
    assert_eq!(agent_host.changes().len(), changes, "it is only reported from here on");
    let retried = agent_host.host.linesman(&["retry", "kept"]);
    assert!(retried.success(), "{}", retried.stderr);
    agent_host.wait_phase("kept", "in-sync");
    assert_eq!(agent_host.host.interface("br1").unwrap()["mtu"], 1400);
    agent_host.host.assert_settled();
}
