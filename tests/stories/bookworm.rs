//! Debian 12: NetworkManager 1.42, no Open vSwitch. Its checkpoints do not cover DNS.

use linesman_lab::Daemon;
use linesman_tests::{BRIDGE, Host, br_ex, observe};

const WIDE: &str = "interfaces:
- name: br1
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.1.1, prefix-length: 24}]}
  bridge: {port: [{name: eth1}]}
routes:
  config:
  - {destination: 192.0.2.0/24, next-hop-address: 10.20.1.254, next-hop-interface: br1, metric: 150}
  - {destination: 198.51.100.0/24, next-hop-address: 10.20.1.254, next-hop-interface: br1, table-id: 200}
route-rules:
  config:
  - {ip-from: 10.20.1.0/24, priority: 1000, route-table: 200}
  - {ip-from: '2001:db8:b::/64', priority: 1002, route-table: 201}
dns-resolver:
  config: {server: [10.9.0.1], search: [tried.test]}
";

fn is_wide(host: &Host) -> bool {
    let node = &host.node;
    let parts = [
        observe::link_exists(node, "br1"),
        observe::route(node, "main", "192.0.2.0/24").is_some(),
        observe::route(node, "200", "198.51.100.0/24").is_some(),
        observe::rule(node, "-4", 1000).is_some(),
        observe::rule(node, "-6", 1002).is_some(),
        observe::resolv_conf(node).contains("tried.test"),
    ];
    assert!(
        parts.iter().all(|part| *part == parts[0]),
        "half a state: {parts:?}\n{}",
        observe::resolv_conf(node)
    );
    parts[0]
}

fn former(host: &Host) {
    assert!(!is_wide(host), "the new state stayed");
    let keepers =
        host.node.exec(["grep", "-rl", "routing-rule", "/etc/NetworkManager/system-connections"]).unwrap();
    assert_eq!(keepers.stdout, "", "rules stay on disk");
    let resolv = observe::resolv_conf(&host.node);
    assert!(resolv.contains("search former.test") && resolv.contains("nameserver 10.9.0.1"), "{resolv}");
    host.assert_settled();
}

#[test]
fn an_older_networkmanager() {
    let host = Host::bookworm("bookworm");
    let version = host.node.nmcli(&["--version"]).unwrap();
    assert!(version.contains("1.42"), "{version}");
    without_open_vswitch(&host);
    applied_and_rolled_back(&host);
}

/// The same on the version that everything else is tried on.
#[test]
fn a_newer_networkmanager() {
    applied_and_rolled_back(&Host::new("not-bookworm"));
}

fn applied_and_rolled_back(host: &Host) {
    host.apply("dns-resolver: {config: {server: [10.9.0.1], search: [former.test]}}\n");
    applied_and_removed(host);
    tried_and_left(host);
    agent_killed(host);
    networkmanager_killed(host);
    outlives_a_power_cut(host);
}

fn without_open_vswitch(host: &Host) {
    let output = host.try_apply(&br_ex(&host.node), &[]);
    assert_eq!(output.code(), Some(4), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("Open vSwitch"), "{}", output.stderr);
}

fn applied_and_removed(host: &Host) {
    host.apply(WIDE);
    assert!(is_wide(host), "it was committed");
    let again = host.apply(WIDE);
    assert!(again.stdout.contains("no changes made"), "{}", again.stdout);
    host.apply(
        "interfaces: [{name: br1, state: absent}]
route-rules: {config: [{state: absent, priority: 1000}, {state: absent, priority: 1002}]}
dns-resolver: {config: {server: [10.9.0.1], search: [former.test]}}
",
    );
    former(host);
}

fn tried_and_left(host: &Host) {
    let output = host.try_apply(WIDE, &["--try", "2s"]);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    former(host);
}

/// NetworkManager rolls back, as far as it can; the next linesman completes the rollback.
fn agent_killed(host: &Host) {
    let running = host.start_apply(WIDE, &[], "applied");
    host.wait_failpoint("applied");
    running.kill().unwrap();
    running.wait().unwrap();
    host.pass_failpoint("applied");
    host.eventually("NetworkManager to roll back", || host.open_checkpoints() == 0);
    let output = host.linesman(&["recover"]);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    assert_eq!(host.last_verdict(), "rolled-back");
    former(host);
}

fn networkmanager_killed(host: &Host) {
    let running = host.start_apply(WIDE, &[], "applied");
    host.wait_failpoint("applied");
    host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    host.pass_failpoint("applied");
    let output = running.wait().unwrap();
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    former(host);
}

fn outlives_a_power_cut(host: &Host) {
    host.apply(BRIDGE);
    host.node.power_cut().unwrap();
    host.node.boot().unwrap();
    host.eventually("br1 after the power cut", || observe::addresses(&host.node, "br1") == ["10.20.1.1/24"]);
    former_but_for_the_bridge(host);
}

fn former_but_for_the_bridge(host: &Host) {
    let resolv = observe::resolv_conf(&host.node);
    assert!(resolv.contains("search former.test"), "{resolv}");
    host.assert_settled();
}
