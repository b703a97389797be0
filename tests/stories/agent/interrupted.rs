//! A command is killed in the middle of a change, and the agent runs.

use linesman_lab::{Daemon, Signal};
use linesman_tests::agent_host::{AgentHost, policy};
use linesman_tests::{BRIDGE, observe};

#[test]
fn a_running_agent_finishes_what_a_killed_command_left() {
    let agent_host = AgentHost::new("interrupted");
    agent_host.write("other", &policy("other", "drift: Report", "br7", 1400, "eth2"));
    agent_host.wait_phase("other", "in-sync");
    let host = &agent_host.host;

    let apply = host.start_apply(BRIDGE, &[], "applied");
    host.wait_failpoint("applied");
    apply.signal(Signal::SIGKILL).unwrap();
    host.pass_failpoint("applied");
    host.eventually("the change is rolled back", || host.last_verdict() == "rolled-back");
    assert!(observe::link_exists(&host.node, "br7"), "what the policy made stays");
    assert_eq!(agent_host.phase("other"), "in-sync");
    host.assert_settled();
}

/// Its rollback waits for NetworkManager; the agent does not wait for its own next start.
#[test]
fn a_running_agent_completes_its_own_rollback_once_networkmanager_is_back() {
    let agent_host = AgentHost::new("own-rollback");
    agent_host.stop();
    agent_host.write("bridge", &policy("bridge", "patience: 1", "br1", 1400, "eth1"));
    let agent = ["linesman", "agent", "--standalone", "--listen", "127.0.0.1:9473"];
    agent_host.start_as(&[&["env", "LINESMAN_FAILPOINT=applied"], &agent[..]].concat());
    let host = &agent_host.host;
    host.wait_failpoint("applied");
    host.node.pause_restarts(true).unwrap();
    host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    host.pass_failpoint("applied");
    agent_host.wait_phase("bridge", "rolled-back");
    let reason = || agent_host.policy("bridge").unwrap()["reason"].to_string();
    assert!(reason().contains("incomplete: NetworkManager did not start again"), "{}", reason());

    host.node.pause_restarts(false).unwrap();
    host.node.wait_daemon(Daemon::NetworkManager).unwrap();
    host.eventually("the agent completes it", || host.last_verdict() == "rolled-back");
    host.eventually("the status says so", || !reason().contains("incomplete"));
    assert!(!observe::link_exists(&host.node, "br1"));
    assert_eq!(agent_host.phase("bridge"), "rolled-back", "and it stays so");
    host.assert_settled();
}
