//! What carries what on a real host, as a person and as a program see it.

use std::path::Path;

use linesman_lab::transcript::{self, CommandResult};
use linesman_lab::{Daemon, documents};
use linesman_tests::Host;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

#[test]
fn the_path_of_the_default_route_is_drawn_through_a_bridge() {
    let host = Host::new("topology");
    picture(&host);
    host.apply(&documents::br_ex(&host.node));
    picture(&host);
    let output = host.linesman(&["topology", "-o", "json"]);
    let topology: Value = serde_json::from_str(&output.stdout).expect("it is JSON");
    let interfaces = topology["interfaces"].as_array().expect("there are interfaces");
    let way = interfaces.iter().filter(|interface| interface["on-default-path"] == true);
    let way: Vec<_> = way.map(|interface| interface["id"].as_str().unwrap_or_default()).collect();
    assert_eq!(way, ["veth/eth0", "ovs-bridge/br-ex", "ovs-interface/br-ex"]);
    transcripts(&host);
    without_networkmanager(&host);
}

/// A screen is wide enough for it, and no interface is missing.
fn picture(host: &Host) {
    let svg = host.linesman(&["topology", "--svg", "-"]).stdout;
    let width = svg.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
    assert!(width.is_some_and(|width| width <= 1600.0), "{width:?}");
    for interface in host.state()["interfaces"].as_array().expect("there are interfaces") {
        let name = interface["name"].as_str().expect("an interface has a name");
        assert!(
            name == "lo" || svg.contains(&format!(">{name}<")) || svg.contains(&format!(">{name} ")),
            "{name}"
        );
    }
}

/// In a shell on the node.
fn transcripts(host: &Host) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/br-ex");
    transcript::assert_true(&folder, |command| {
        let both = format!("{{ {command}; }} 2>&1");
        let output = host.node.exec(["sh", "-c", &both]).expect("a shell can be run");
        CommandResult { code: output.code().unwrap_or(-1), output: output.stdout }
    });
}

fn without_networkmanager(host: &Host) {
    let pid = host.node.daemon_pid(Daemon::NetworkManager).expect("it can be looked for").expect("it runs");
    let pid = Pid::from_raw(pid.cast_signed());
    kill(pid, Signal::SIGSTOP).expect("it can be stopped");
    let output = host.linesman(&["topology", "eth0"]);
    kill(pid, Signal::SIGCONT).expect("it can go on");
    assert!(output.success() && output.stdout.contains("● eth0"), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("NetworkManager does not answer"), "{}", output.stderr);
}
