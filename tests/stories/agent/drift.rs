//! Somebody changes by hand what a policy declares.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn a_manual_change_is_reported_or_corrected_as_the_policy_says() {
    let agent_host = AgentHost::new("drift");
    agent_host.write("reported", &policy("reported", "drift: Report", "br1", 1400, "eth1"));
    agent_host.write("kept", &policy("kept", "drift: Correct", "br2", 1400, "eth2"));
    agent_host.wait_phase("reported", "in-sync");
    agent_host.wait_phase("kept", "in-sync");
    let before = agent_host.changes().len();
    let applied = agent_host.policy("reported").unwrap()["since"].as_str().unwrap().to_string();
    agent_host.host.eventually("a second has passed", || {
        agent_host.host.node.run(["date", "-u", "+%FT%TZ"]).unwrap().trim() > applied.as_str()
    });

    agent_host.host.node.run(["ip", "link", "set", "br1", "mtu", "1300"]).unwrap();
    agent_host.wait_phase("reported", "drifted");
    let reported = agent_host.policy("reported").unwrap();
    assert!(reported["since"].as_str() > Some(&applied), "{reported:#}");
    assert_eq!(reported["reason"], "interfaces[br1].mtu: wanted 1400, found 1300");
    assert_eq!(reported["differences"][0]["path"], "interfaces[br1].mtu");
    let diff = agent_host.host.linesman(&["diff"]);
    assert_eq!(diff.code(), Some(2));
    assert!(diff.stdout.contains("~ interfaces[br1].mtu: 1300 -> 1400"), "{}", diff.stdout);
    let diff: serde_json::Value =
        serde_json::from_str(&agent_host.host.linesman(&["diff", "-o", "json"]).stdout).expect("it is JSON");
    let differences: Vec<_> = diff.as_object().into_iter().flat_map(|all| all.values()).collect();
    assert!(differences.iter().any(|found| found[0]["kind"] == "modify"), "in the words of a plan: {diff}");
    assert_eq!(agent_host.host.linesman(&["status"]).code(), Some(2));
    let why = agent_host.host.linesman(&["why", "br1.mtu"]).stdout;
    assert!(why.contains("set by policy reported") && why.contains("but is 1300"), "{why}");

    let since = reported["since"].clone();
    agent_host.stop();
    agent_host.start();
    agent_host.wait_phase("reported", "drifted");
    assert_eq!(
        agent_host.policy("reported").unwrap()["since"],
        since,
        "drifted since then, restarted or not"
    );

    let by_hand =
        agent_host.host.document("interfaces:\n- {name: br2, type: linux-bridge, state: up, mtu: 1350}\n");
    let planned = agent_host.host.linesman(&["plan", &by_hand]);
    let warning =
        "the agent will correct this: policy kept sets interfaces[br2].mtu; edit the policy, or run";
    assert!(planned.stderr.contains(warning), "{}{}", planned.stdout, planned.stderr);

    agent_host.host.node.run(["ip", "link", "set", "br2", "mtu", "1300"]).unwrap();
    agent_host
        .host
        .eventually("it is corrected", || agent_host.metric("linesman_corrections_total") == Some(1.0));
    agent_host.wait_phase("kept", "in-sync");
    assert_eq!(agent_host.host.interface("br2").unwrap()["mtu"], 1400);
    assert_eq!(agent_host.host.interface("br1").unwrap()["mtu"], 1300, "that one is only reported");
    assert_eq!(agent_host.changes()[before..], ["policy kept"]);

    agent_host.host.node.run(["ip", "link", "set", "br1", "mtu", "1400"]).unwrap();
    agent_host.wait_phase("reported", "in-sync");
    assert_eq!(agent_host.changes().len(), before + 1);
}
