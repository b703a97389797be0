//! What a person sees at a terminal of a managed host.

use std::path::Path;

use linesman_lab::transcript::{self, CommandResult};
use linesman_tests::agent_host::{AgentHost, policy};

/// In a shell on the node.
fn assert_output(agent_host: &AgentHost, folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(folder);
    transcript::assert_true(&folder, |command| {
        let both = format!("{{ {command}; }} 2>&1");
        let shell = agent_host.host.node.command(["sh", "-c", &both]).expect("a shell can be run");
        let output = shell.env("USER", "ann").output().expect("a shell can be run");
        CommandResult { code: output.code().unwrap_or(-1), output: transcript::masked(&output.stdout) }
    });
}

#[test]
fn the_output_of_a_managed_host() {
    let agent_host = AgentHost::new("transcripts");
    let node = &agent_host.host.node;
    assert_output(&agent_host, "agent/1-nothing-yet");
    agent_host.write("office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.write("guests", &policy("guests", "drift: Report", "br2", 1400, "eth2"));
    agent_host.wait_phase("office", "in-sync");
    agent_host.wait_phase("guests", "in-sync");
    assert_output(&agent_host, "agent/2-in-sync");

    node.run(["ip", "link", "set", "br2", "mtu", "1300"]).unwrap();
    agent_host.wait_phase("guests", "drifted");
    agent_host.write("rival", &policy("rival", "priority: 9", "br1", 1300, "eth1"));
    agent_host.wait_phase("rival", "refused");
    agent_host.write("broken", "interfaces:\n- name: br3\n  type: linux-bridge\n  mtu: many\n");
    agent_host.wait_phase("broken", "invalid");
    assert_output(&agent_host, "agent/3-degraded");

    for name in ["rival", "broken"] {
        agent_host.remove(name);
    }
    node.run(["ip", "link", "set", "br2", "mtu", "1400"]).unwrap();
    agent_host.wait_phase("guests", "in-sync");
    agent_host
        .host
        .eventually("both are forgotten", || agent_host.status()["policies"].as_array().unwrap().len() == 2);
    // Freeze and unfreeze within: what a transcript changes it restores.
    assert_output(&agent_host, "agent/4-frozen");
    agent_host.wait_phase("guests", "in-sync");
    agent_host.stop();
    assert_output(&agent_host, "agent/5-no-agent");
}
