//! What a person sees at a terminal of a host that is kept.

use std::path::Path;

use linesman_lab::transcript::{self, Said};
use linesman_tests::keeper::{Keeper, policy};

/// In a shell on the node.
fn told(keeper: &Keeper, folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(folder);
    transcript::assert_true(&folder, |command| {
        let both = format!("{{ {command}; }} 2>&1");
        let shell = keeper.host.node.command(["sh", "-c", &both]).expect("a shell can be run");
        let output = shell.env("USER", "ann").output().expect("a shell can be run");
        Said { code: output.code().unwrap_or(-1), output: transcript::masked(&output.stdout) }
    });
}

#[test]
fn a_kept_host_tells_its_story() {
    let keeper = Keeper::new("told");
    let node = &keeper.host.node;
    told(&keeper, "agent/1-nothing-yet");
    keeper.write("office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    keeper.write("guests", &policy("guests", "drift: Report", "br2", 1400, "eth2"));
    keeper.wait_phase("office", "in-step");
    keeper.wait_phase("guests", "in-step");
    told(&keeper, "agent/2-in-step");

    node.run(["ip", "link", "set", "br2", "mtu", "1300"]).unwrap();
    keeper.wait_phase("guests", "drifted");
    keeper.write("rival", &policy("rival", "priority: 9", "br1", 1300, "eth1"));
    keeper.wait_phase("rival", "refused");
    keeper.write("broken", "interfaces:\n- name: br3\n  type: linux-bridge\n  mtu: many\n");
    keeper.wait_phase("broken", "invalid");
    told(&keeper, "agent/3-trouble");

    for name in ["rival", "broken"] {
        keeper.remove(name);
    }
    node.run(["ip", "link", "set", "br2", "mtu", "1400"]).unwrap();
    keeper.wait_phase("guests", "in-step");
    keeper
        .host
        .eventually("both are forgotten", || keeper.status()["policies"].as_array().unwrap().len() == 2);
    // Hold and release within: what a transcript changes it puts back.
    told(&keeper, "agent/4-held");
    keeper.wait_phase("guests", "in-step");
    keeper.stop();
    told(&keeper, "agent/5-no-agent");
}
