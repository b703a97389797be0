//! Many policies are one change; one that fails is named, and the others are applied.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn twenty_policies_converge_in_one_transaction() {
    let agent_host = AgentHost::new("twenty");
    agent_host.stop();
    for n in 0..20 {
        agent_host.write(
            &format!("p{n:02}"),
            &policy(&format!("p{n:02}"), "priority: 0", &format!("br{n}"), 1400, ""),
        );
    }
    agent_host.start();
    for n in 0..20 {
        agent_host.wait_phase(&format!("p{n:02}"), "in-sync");
    }
    assert_eq!(agent_host.changes(), ["policies p00, p01 and 18 more"]);
    assert_eq!(agent_host.metric("linesman_apply_total{outcome=\"committed\"}"), Some(1.0));
    assert_eq!(agent_host.metric("linesman_policies{phase=\"in sync\"}"), Some(20.0));
    assert_eq!(agent_host.host.linesman(&["status"]).code(), Some(0));
    agent_host.host.assert_settled();
}

#[test]
fn the_failing_policy_is_named_and_the_others_are_applied() {
    let agent_host = AgentHost::new("culprit");
    agent_host.stop();
    agent_host.write("good", &policy("good", "patience: 4", "br1", 1400, "eth1"));
    agent_host.write("also-good", &policy("also-good", "patience: 4", "br2", 1400, "eth2"));
    agent_host.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, "eth0"));
    let watch = agent_host.host.lab.hub().watch(agent_host.host.node.mgmt_ipv4()).unwrap();
    agent_host.start();
    agent_host.wait_phase("cuts", "rolled-back");
    agent_host.wait_phase("good", "in-sync");
    agent_host.wait_phase("also-good", "in-sync");
    assert!(watch.stop().reachable_at_end());
    let status = agent_host.host.linesman(&["status"]);
    assert_eq!(status.code(), Some(1), "{}", status.stdout);
    assert!(
        status.stdout.starts_with("DEGRADED: cuts rolled back, 2 policies in sync\n"),
        "{}",
        status.stdout
    );
    assert!(agent_host.host.interface("br0").is_none(), "what was rolled back is gone");
    let before = agent_host.changes().len();
    agent_host.signal(linesman_lab::Signal::SIGHUP);
    agent_host.wait_phase("cuts", "rolled-back");
    assert_eq!(agent_host.changes().len(), before, "a rollback is terminal for this version");
    let retried = agent_host.host.linesman(&["retry", "cuts"]);
    assert!(retried.success(), "{}{}", retried.stdout, retried.stderr);
    agent_host.host.eventually("it is tried again", || agent_host.changes().len() > before);
    agent_host.wait_phase("cuts", "rolled-back");
    agent_host.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, ""));
    agent_host.wait_phase("cuts", "in-sync");
    agent_host.host.assert_settled();
}

/// The dependent policy alone cannot be applied; with its base, both are applied together.
#[test]
fn dependent_policies_may_arrive_in_any_order() {
    let agent_host = AgentHost::new("order");
    let upper =
        "interfaces:\n- {name: mv0, type: mac-vlan, state: up, mac-vlan: {base-iface: br5, mode: bridge}}\n";
    agent_host.write("a-upper", upper);
    agent_host.wait_phase("a-upper", "waiting");
    let reason = agent_host.policy("a-upper").unwrap()["reason"].to_string();
    assert!(reason.contains("br5"), "{reason}");
    agent_host.write("z-lower", &policy("z-lower", "priority: 0", "br5", 1400, "eth1"));
    agent_host.wait_phase("z-lower", "in-sync");
    agent_host.wait_phase("a-upper", "in-sync");
    assert_eq!(agent_host.changes(), ["policies z-lower, a-upper"]);
}
