//! A user who is not root: told so, never that there is nothing.

use linesman_lab::Output;
use linesman_tests::BRIDGE;
use linesman_tests::agent_host::{AgentHost, policy};
use serde_json::Value;

fn as_nobody(agent_host: &AgentHost, arguments: &[&str]) -> Output {
    let words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "linesman"];
    agent_host.host.node.exec(words.iter().chain(arguments).copied()).expect("setpriv can be run")
}

#[test]
fn without_root_nobody_hears_that_there_is_nothing() {
    let agent_host = AgentHost::new("unprivileged");
    agent_host.write("bridge", &policy("bridge", "drift: Report", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "in-sync");
    agent_host.host.node.write_file("/tmp/state.yaml", BRIDGE, 0o644).expect("a file can be written");
    // As `deploy/host` makes them, and as an agent that was started by hand does.
    for mode in ["700", "755"] {
        let run = ["chmod", mode, "/run/linesman", "/var/lib/linesman"];
        agent_host.host.node.run(run).expect("a mode can be set");
        refused(&agent_host);
    }
    shown(&agent_host);
}

fn refused(agent_host: &AgentHost) {
    let verbs: [&[&str]; 17] = [
        &["status"],
        &["status", "--watch"],
        &["diff"],
        &["why", "br1"],
        &["history"],
        &["history", "never"],
        &["plan", "/tmp/state.yaml"],
        &["apply", "/tmp/state.yaml"],
        &["apply", "--no-commit", "/tmp/state.yaml"],
        &["commit"],
        &["rollback"],
        &["retry"],
        &["freeze"],
        &["unfreeze"],
        &["doctor"],
        &["gather", "--file", "/tmp/unprivileged.tar.gz"],
        &["recover"],
    ];
    for arguments in verbs {
        let output = as_nobody(agent_host, arguments);
        let said = format!("{arguments:?}: {}{}", output.stdout, output.stderr);
        assert_eq!(output.code(), Some(4), "{said}");
        assert!(output.stdout.is_empty() && output.stderr.contains("run it as root"), "{said}");
        assert_eq!(output.stderr.lines().count(), 1, "{said}");
        let output = as_nobody(agent_host, &[arguments, &["-o", "json"]].concat());
        let object: Value = serde_json::from_str(&output.stdout).expect("it is JSON");
        assert_eq!(object["error"]["code"], "LM2033", "{said}{object}");
        assert_eq!(object["error"]["exitCode"], 4, "{said}{object}");
    }
}

/// What anybody may see is shown, and that it is not all of it.
fn shown(agent_host: &AgentHost) {
    for arguments in [&["show"][..], &["topology"]] {
        let output = as_nobody(agent_host, arguments);
        let said = format!("{arguments:?}: {}{}", output.stdout, output.stderr);
        assert!(output.success() && output.stdout.contains("br1"), "{said}");
        assert!(output.stderr.contains("root") && !output.stderr.contains("does not answer"), "{said}");
    }
}
