//! The agent is replaced or killed; the host is not changed by that.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn upgrading_the_agent_changes_nothing() {
    let agent_host = AgentHost::new("upgrade");
    agent_host.write("bridge", &policy("bridge", "drift: Correct", "br1", 1400, "eth1"));
    agent_host.write("other", &policy("other", "priority: 0", "br2", 1400, ""));
    agent_host.wait_phase("bridge", "in-sync");
    agent_host.wait_phase("other", "in-sync");
    let changes = agent_host.changes();
    let profiles = "cd /etc/NetworkManager/system-connections && sha256sum * && stat -c '%n %Y %i' *";
    let (written, active) = (agent_host.host.node.sh(profiles).unwrap(), active(&agent_host));

    agent_host.host.node.run(["cp", "/usr/bin/linesman", "/usr/local/bin/linesman-next"]).unwrap();
    agent_host.stop();
    agent_host.start_with("/usr/local/bin/linesman-next");
    agent_host.wait_phase("bridge", "in-sync");
    agent_host.wait_phase("other", "in-sync");
    assert_eq!(agent_host.changes(), changes);
    assert_eq!(agent_host.host.node.sh(profiles).unwrap(), written);
    assert_eq!(self::active(&agent_host), active, "no profile was activated again");
}

/// NetworkManager counts activations up in the names of its objects.
fn active(agent_host: &AgentHost) -> String {
    agent_host
        .host
        .node
        .nmcli(&["-t", "-f", "NAME,DBUS-PATH,ACTIVE-PATH", "connection", "show", "--active"])
        .unwrap()
}

/// A policy that cuts the host off, and whose agent dies in mid-change: what was rolled back waits for a person.
#[test]
fn a_change_that_was_interrupted_is_rolled_back_and_not_tried_again() {
    let agent_host = AgentHost::new("killed");
    agent_host.stop();
    agent_host.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, "eth0"));
    agent_host.host.node.run(["mkdir", "-p", "/run/linesman"]).unwrap();
    let agent = agent_host
        .host
        .node
        .command(["linesman", "agent", "--standalone"])
        .unwrap()
        .env("LINESMAN_FAILPOINT", "applied")
        .spawn()
        .unwrap();
    agent_host.host.wait_failpoint("applied");
    agent.kill().unwrap();
    agent.wait().unwrap();
    let interrupted = || {
        agent_host.wait_phase("cuts", "rolled-back");
        let verdicts: Vec<String> =
            agent_host.host.history().iter().map(|r| r["outcome"]["verdict"].to_string()).collect();
        assert_eq!(verdicts, ["\"rolled-back\""], "once, and never again");
        let status = agent_host.host.linesman(&["status"]).stdout;
        assert!(status.contains("linesman or the host stopped during the change"), "{status}");
        assert!(status.contains("edit the policy, or run `linesman retry cuts`"), "{status}");
        agent_host.host.assert_settled();
    };
    agent_host.start();
    interrupted();
    agent_host.stop();
    agent_host.start();
    interrupted();

    let retried = agent_host.host.linesman(&["retry", "cuts"]);
    assert!(retried.success(), "{}{}", retried.stdout, retried.stderr);
    agent_host.host.eventually("it is tried again", || agent_host.changes().len() == 2);
    agent_host.wait_phase("cuts", "rolled-back");
    agent_host.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, "eth1"));
    agent_host.wait_phase("cuts", "in-sync");
    agent_host.host.assert_settled();
}

#[test]
fn a_ledger_of_a_newer_version_is_refused_and_said_so() {
    let agent_host = AgentHost::new("newer");
    agent_host.write("bridge", &policy("bridge", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "in-sync");
    agent_host.stop();
    let node = &agent_host.host.node;
    node.sh("sed -i 's/\"version\":1/\"version\":2/' /var/lib/linesman/policies.json").unwrap();
    let written = node.sh("sha256sum /var/lib/linesman/policies.json").unwrap();
    agent_host.remove("bridge");
    agent_host.start_refusing();
    let status = agent_host.host.linesman(&["status"]);
    assert_eq!(status.code(), Some(1), "{}", status.stdout);
    for words in
        ["DEGRADED: /var/lib/linesman/policies.json has version 2", "install the linesman that wrote it"]
    {
        assert!(status.stdout.contains(words), "no '{words}' in {}", status.stdout);
    }
    assert_eq!(node.sh("sha256sum /var/lib/linesman/policies.json").unwrap(), written);
    assert!(agent_host.host.interface("br1").is_some(), "what it does not know it does not touch");
    // The file is readable again: the agent goes on without a restart.
    node.sh("sed -i 's/\"version\":2/\"version\":1/' /var/lib/linesman/policies.json").unwrap();
    agent_host.wait_up();
    let host = &agent_host.host;
    // The bridge is gone before the change is committed.
    host.eventually("it is reverted", || host.interface("br1").is_none() && host.open_checkpoints() == 0);
    host.assert_settled();
}
