//! The agent as a unit of systemd, as hardened as it ships.

use linesman_lab::Node;
use linesman_tests::keeper::{Keeper, POLICIES, policy};
use linesman_tests::{br_ex, see};
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

fn property(keeper: &Keeper, name: &str) -> String {
    let words = ["systemctl", "show", "--value", "--property", name, UNIT];
    keeper.host.node.run(words).expect("systemd answers").trim().to_owned()
}

fn journal(keeper: &Keeper) -> Vec<Value> {
    let lines =
        keeper.host.node.run(["journalctl", "--unit", UNIT, "--output", "json"]).expect("there is a journal");
    lines.lines().map(|line| serde_json::from_str(line).expect("an entry is JSON")).collect()
}

/// The priority of the first line that holds `text`.
fn priority(keeper: &Keeper, text: &str) -> Option<String> {
    let entries = journal(keeper);
    let said = entries.iter().find(|entry| entry["MESSAGE"].as_str().is_some_and(|m| m.contains(text)))?;
    assert!(!said["MESSAGE"].to_string().contains("\"<"), "{said}");
    said["PRIORITY"].as_str().map(str::to_owned)
}

/// Profiles as they are on disk: whoever writes one anew changes its inode.
fn profiles(keeper: &Keeper) -> String {
    let script = "cd /etc/NetworkManager/system-connections && sha256sum * && stat -c '%n %Y %i' *";
    keeper.host.node.sh(script).expect("profiles can be listed")
}

#[test]
fn policies_hold_under_the_hardening_and_after_a_boot() {
    let keeper = Keeper::unit("hardened");
    let node = &keeper.host.node;
    assert_eq!(property(&keeper, "StatusText"), "0 policies in step");
    keeper.write("bridge", BRIDGE);
    keeper.write("own-path", &own_path(node));
    keeper.wait_phase("bridge", "in-step");
    keeper.wait_phase("own-path", "in-step");
    assert_eq!(see::addresses(node, "br1"), ["10.20.1.1/24"]);
    assert!(see::addresses(node, "br-ex").contains(&format!("{}/24", node.mgmt_ipv4())));
    assert!(see::resolv_conf(node).contains("lab.test"));
    let named = |name: &str| assert_eq!([see::hostname(node), see::fixed_hostname(node)], [name, name]);
    named("worker-1");
    let shown = node.run(["systemctl", "status", UNIT]).unwrap();
    assert!(shown.contains("Status: \"2 policies in step\""), "{shown}");

    keeper.write("own-path", CUTS);
    keeper.wait_phase("own-path", "rolled-back");
    assert_eq!(keeper.host.last_verdict(), "rolled-back", "nothing of it stays");
    named("worker-1");
    keeper.write("own-path", &own_path(node));
    keeper.wait_phase("own-path", "in-step");
    keeper.host.assert_settled();

    let (changes, written) = (keeper.changes(), profiles(&keeper));
    node.power_cut().unwrap();
    node.boot().unwrap();
    keeper.wait_up();
    keeper.wait_phase("bridge", "in-step");
    keeper.wait_phase("own-path", "in-step");
    assert_eq!(keeper.changes(), changes, "a boot changes nothing");
    assert_eq!(profiles(&keeper), written);
    assert_eq!(property(&keeper, "NRestarts"), "0");
    keeper.host.assert_settled();
}

#[test]
fn systemd_reloads_watches_and_stops_it() {
    let keeper = Keeper::unit("unit");
    let node = &keeper.host.node;
    keeper.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    keeper.wait_phase("bridge", "in-step");

    // Written through another name, so that the directory itself tells nothing.
    node.run(["ln", &format!("{POLICIES}/bridge.yaml"), "/root/bridge.yaml"]).unwrap();
    let edited = policy("bridge", "priority: 0", "br1", 1300, "eth1");
    node.command(["sh", "-c", "cat >/root/bridge.yaml"]).unwrap().input(edited).run().unwrap();
    assert_eq!(keeper.host.interface("br1").unwrap()["mtu"], 1400);
    let pid = property(&keeper, "MainPID");
    node.run(["systemctl", "reload", UNIT]).unwrap();
    keeper.host.eventually("it is read again", || keeper.host.interface("br1").unwrap()["mtu"] == 1300);
    keeper.wait_phase("bridge", "in-step");
    assert_eq!(property(&keeper, "MainPID"), pid);

    let changes = keeper.changes();
    let quick = "mkdir -p /run/systemd/system/linesman-agent.service.d
printf '[Service]\\nWatchdogSec=2s\\n' >/run/systemd/system/linesman-agent.service.d/quick.conf
systemctl daemon-reload && systemctl restart linesman-agent";
    node.sh(quick).unwrap();
    keeper.wait_up();
    let pid = property(&keeper, "MainPID");
    node.run(["systemctl", "kill", "--kill-whom=main", "--signal=STOP", UNIT]).unwrap();
    keeper
        .host
        .eventually("the watchdog bites", || !["0", &pid].contains(&property(&keeper, "MainPID").as_str()));
    keeper.wait_up();
    assert_eq!(keeper.phase("bridge"), "in-step");
    assert_eq!(keeper.changes(), changes, "nothing was touched for it");
    assert_eq!(property(&keeper, "NRestarts"), "1");

    keeper.write("wrong", "interfaces: [");
    keeper.wait_phase("wrong", "invalid");
    keeper
        .host
        .eventually("it is in the journal", || priority(&keeper, "policy wrong cannot be taken").is_some());
    assert_eq!(priority(&keeper, "policy wrong cannot be taken").as_deref(), Some("4"));
    assert_eq!(priority(&keeper, "policy bridge: committed").as_deref(), Some("6"));

    node.run(["systemctl", "stop", UNIT]).unwrap();
    assert_eq!(
        (property(&keeper, "Result"), property(&keeper, "ExecMainStatus")),
        ("success".into(), "0".into())
    );
    assert_eq!(priority(&keeper, "the network stays as it is").as_deref(), Some("6"));
    assert_eq!(keeper.host.interface("br1").unwrap()["mtu"], 1300);
    keeper.host.assert_settled();
}
