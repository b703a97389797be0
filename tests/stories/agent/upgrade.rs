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

#[test]
fn an_agent_killed_during_a_change_rolls_back_and_starts_again() {
    let agent_host = AgentHost::new("killed");
    agent_host.stop();
    agent_host.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
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
    agent_host.start();
    agent_host.wait_phase("bridge", "in-sync");
    let verdicts: Vec<String> =
        agent_host.host.history().iter().map(|r| r["outcome"]["verdict"].to_string()).collect();
    assert_eq!(verdicts, ["\"rolled-back\"", "\"committed\""]);
    agent_host.host.assert_settled();
}
