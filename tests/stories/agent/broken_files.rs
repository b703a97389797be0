//! Files that are damaged while an agent runs: a policy, its ledger, its disk.

use linesman_tests::Host;
use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn a_policy_whose_file_is_damaged_is_not_reverted() {
    let agent_host = AgentHost::new("broken");
    agent_host.write("10-office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    // As an editor saves it that truncates first, and as a person mistypes it.
    for text in ["", "kind: ["] {
        agent_host.write("10-office", text);
        agent_host.wait_phase("office", "invalid");
        let reason = agent_host.policy("office").unwrap()["reason"].to_string();
        assert!(reason.contains("10-office.yaml cannot be read and may contain it"), "{reason}");
        assert!(agent_host.host.interface("br1").is_some());
    }
    // A link into a file system that is not mounted at the moment.
    agent_host.write("10-office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    let node = &agent_host.host.node;
    node.sh("cd /etc/linesman/policies && mkdir ../mounted && mv 10-office.yaml ../mounted && ln -s ../mounted/10-office.yaml .")
        .unwrap();
    agent_host.wait_phase("office", "in-sync");
    node.sh("mv /etc/linesman/mounted /etc/linesman/unmounted").unwrap();
    agent_host.wait_phase("office", "invalid");
    assert!(agent_host.host.interface("br1").is_some());
    // The directory itself is gone for a while, and what is in it is no file.
    let status = |words: &str| {
        let words = words.to_owned();
        agent_host.host.eventually(&words, || agent_host.host.linesman(&["status"]).stdout.contains(&words));
    };
    node.sh("mv /etc/linesman/policies /etc/linesman/away").unwrap();
    status("cannot read /etc/linesman/policies: ");
    assert!(agent_host.host.interface("br1").is_some());
    node.sh("mv /etc/linesman/away /etc/linesman/policies && mkfifo /etc/linesman/policies/pipe.yaml")
        .unwrap();
    status("/etc/linesman/policies/pipe.yaml is not a file");
    agent_host.remove("10-office");
    agent_host.host.eventually("it is reverted", || agent_host.host.interface("br1").is_none());
}

#[test]
fn a_revert_is_tried_again_when_the_disk_has_room() {
    let agent_host = AgentHost::of(Host::built("full", |node| node.small_disk("/var/lib/linesman", 4 << 20)));
    agent_host.write("office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    agent_host.host.node.fill_disk().unwrap();
    agent_host.remove("office");
    agent_host.host.eventually("the status says why and when", || {
        let reason = agent_host.policy("office").unwrap()["reason"].to_string();
        reason.contains("No space left on device") && reason.contains("next attempt at")
    });
    assert_eq!(agent_host.phase("office"), "reverting");
    assert!(agent_host.host.interface("br1").is_some());
    agent_host.host.node.free_disk().unwrap();
    agent_host.host.eventually("it is reverted", || agent_host.policy("office").is_none());
    assert!(agent_host.host.interface("br1").is_none());
    agent_host.host.assert_settled();
}

#[test]
fn a_damaged_ledger_is_reported_and_an_unreadable_one_ends_the_agent() {
    let agent_host = AgentHost::new("ledger");
    agent_host.write("office", &policy("office", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    agent_host.kill();
    let node = &agent_host.host.node;
    node.sh("echo '[' > /var/lib/linesman/policies.json").unwrap();
    let diff = agent_host.host.linesman(&["diff"]);
    assert_eq!(diff.code(), Some(4), "{}", diff.stdout);
    assert!(diff.stderr.contains("policies.json is damaged"), "{}", diff.stderr);
    assert!(node.exists("/var/lib/linesman/policies.json").unwrap(), "whoever looks moves nothing");
    agent_host.start();
    agent_host.wait_phase("office", "in-sync");
    agent_host.remove("office");
    agent_host.host.eventually("it is forgotten", || agent_host.policy("office").is_none());
    let log = agent_host.stop();
    assert!(log.contains("moved to /var/lib/linesman/policies.unreadable"), "{log}");
    assert!(log.contains("removed; there is nothing to revert"), "{log}");
    assert!(log.contains("policy=\"office\""), "{log}");

    node.sh("rm /var/lib/linesman/policies.json; mkdir /var/lib/linesman/policies.json").unwrap();
    let agent = agent_host.host.linesman(&["agent", "--standalone"]);
    assert_eq!(agent.code(), Some(4), "{}", agent.stderr);
    assert!(agent.stderr.contains("policies.json: Is a directory"), "{}", agent.stderr);
}
