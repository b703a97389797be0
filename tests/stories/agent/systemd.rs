//! The agent as a unit of systemd, as hardened as it ships.

use linesman_lab::Node;
use linesman_tests::agent_host::{AgentHost, POLICIES, policy};
use linesman_tests::{br_ex, observe};
use serde_json::Value;

const UNIT: &str = "linesman-agent.service";

const BRIDGE: &str = "interfaces:
- name: br1
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.1.1, prefix-length: 24}]}
  ipv6: {enabled: false}
  bridge: {port: [{name: eth1}]}
";

/// An edited version of `own-path` that cuts the node off, and by then has set the hostname.
const CUTS: &str = "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: own-path}
spec:
  patience: 3
  desiredState:
    hostname: {running: nobody, config: nobody}
    interfaces:
    - {name: br-ex, type: ovs-interface, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 10.77.0.2, prefix-length: 24}]}}
";

/// Profiles, keys in OVSDB, resolv.conf, the hostname: all that is written somewhere.
fn own_path(node: &Node) -> String {
    format!("{}hostname: {{running: worker-1, config: worker-1}}\n", br_ex(node))
}

fn property(agent_host: &AgentHost, name: &str) -> String {
    let words = ["systemctl", "show", "--value", "--property", name, UNIT];
    agent_host.host.node.run(words).expect("systemd answers").trim().to_owned()
}

fn journal(agent_host: &AgentHost) -> Vec<Value> {
    let lines = agent_host
        .host
        .node
        .run(["journalctl", "--unit", UNIT, "--output", "json"])
        .expect("there is a journal");
    lines.lines().map(|line| serde_json::from_str(line).expect("an entry is JSON")).collect()
}

/// The priority of the first line that holds `text`.
fn priority(agent_host: &AgentHost, text: &str) -> Option<String> {
    let entries = journal(agent_host);
    let said = entries.iter().find(|entry| entry["MESSAGE"].as_str().is_some_and(|m| m.contains(text)))?;
    assert!(!said["MESSAGE"].to_string().contains("\"<"), "{said}");
    said["PRIORITY"].as_str().map(str::to_owned)
}

/// Profiles as they are on disk: whoever writes one anew changes its inode.
fn profiles(agent_host: &AgentHost) -> String {
    let script = "cd /etc/NetworkManager/system-connections && sha256sum * && stat -c '%n %Y %i' *";
    agent_host.host.node.sh(script).expect("profiles can be listed")
}

#[test]
fn policies_are_in_sync_under_the_hardening_and_after_a_boot() {
    let agent_host = AgentHost::unit("hardened");
    let node = &agent_host.host.node;
    assert_eq!(property(&agent_host, "StatusText"), "0 policies in sync");
    agent_host.write("bridge", BRIDGE);
    agent_host.write("own-path", &own_path(node));
    agent_host.wait_phase("bridge", "in-sync");
    agent_host.wait_phase("own-path", "in-sync");
    assert_eq!(observe::addresses(node, "br1"), ["10.20.1.1/24"]);
    assert!(observe::addresses(node, "br-ex").contains(&format!("{}/24", node.mgmt_ipv4())));
    assert!(observe::resolv_conf(node).contains("lab.test"));
    let named =
        |name: &str| assert_eq!([observe::hostname(node), observe::fixed_hostname(node)], [name, name]);
    named("worker-1");
    let shown = node.run(["systemctl", "status", UNIT]).unwrap();
    assert!(shown.contains("Status: \"2 policies in sync\""), "{shown}");

    agent_host.write("own-path", CUTS);
    agent_host.wait_phase("own-path", "rolled-back");
    assert_eq!(agent_host.host.last_verdict(), "rolled-back", "nothing of it stays");
    named("worker-1");
    agent_host.write("own-path", &own_path(node));
    agent_host.wait_phase("own-path", "in-sync");
    agent_host.host.assert_settled();

    let (changes, written) = (agent_host.changes(), profiles(&agent_host));
    node.power_cut().unwrap();
    node.boot().unwrap();
    agent_host.wait_up();
    agent_host.wait_phase("bridge", "in-sync");
    agent_host.wait_phase("own-path", "in-sync");
    assert_eq!(agent_host.changes(), changes, "a boot changes nothing");
    assert_eq!(profiles(&agent_host), written);
    assert_eq!(property(&agent_host, "NRestarts"), "0");
    agent_host.host.assert_settled();
}

#[test]
fn systemd_reloads_monitors_and_stops_the_agent() {
    let agent_host = AgentHost::unit("unit");
    let node = &agent_host.host.node;
    agent_host.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "in-sync");

    // Written through another name, so that the directory itself has no event.
    node.run(["ln", &format!("{POLICIES}/bridge.yaml"), "/root/bridge.yaml"]).unwrap();
    let edited = policy("bridge", "priority: 0", "br1", 1300, "eth1");
    node.command(["sh", "-c", "cat >/root/bridge.yaml"]).unwrap().input(edited).run().unwrap();
    assert_eq!(agent_host.host.interface("br1").unwrap()["mtu"], 1400);
    let pid = property(&agent_host, "MainPID");
    node.run(["systemctl", "reload", UNIT]).unwrap();
    agent_host
        .host
        .eventually("it is read again", || agent_host.host.interface("br1").unwrap()["mtu"] == 1300);
    agent_host.wait_phase("bridge", "in-sync");
    assert_eq!(property(&agent_host, "MainPID"), pid);

    let changes = agent_host.changes();
    let quick = "mkdir -p /run/systemd/system/linesman-agent.service.d
printf '[Service]\\nWatchdogSec=2s\\n' >/run/systemd/system/linesman-agent.service.d/quick.conf
systemctl daemon-reload && systemctl restart linesman-agent";
    node.sh(quick).unwrap();
    agent_host.wait_up();
    let pid = property(&agent_host, "MainPID");
    node.run(["systemctl", "kill", "--kill-whom=main", "--signal=STOP", UNIT]).unwrap();
    agent_host.host.eventually("the watchdog bites", || {
        !["0", &pid].contains(&property(&agent_host, "MainPID").as_str())
    });
    agent_host.wait_up();
    assert_eq!(agent_host.phase("bridge"), "in-sync");
    assert_eq!(agent_host.changes(), changes, "nothing was touched for it");
    assert_eq!(property(&agent_host, "NRestarts"), "1");

    agent_host.write("wrong", "interfaces: [");
    agent_host.wait_phase("wrong", "invalid");
    agent_host.host.eventually("it is in the journal", || {
        priority(&agent_host, "policy wrong cannot be read").is_some()
    });
    assert_eq!(priority(&agent_host, "policy wrong cannot be read").as_deref(), Some("4"));
    assert_eq!(priority(&agent_host, "committed after").as_deref(), Some("6"));

    node.run(["systemctl", "stop", UNIT]).unwrap();
    assert_eq!(
        (property(&agent_host, "Result"), property(&agent_host, "ExecMainStatus")),
        ("success".into(), "0".into())
    );
    assert_eq!(priority(&agent_host, "the network stays as it is").as_deref(), Some("6"));
    assert_eq!(agent_host.host.interface("br1").unwrap()["mtu"], 1300);
    agent_host.host.assert_settled();
}
