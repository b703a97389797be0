//! A command is killed in the middle of a change, and the agent runs.

use linesman_lab::Signal;
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
