//! A host is imported, and the document describes it: nothing is to do.

use linesman_lab::Daemon;
use linesman_tests::{BRIDGE, Host, br_ex};

/// Imports and plans what came out; gives the document back.
fn imports_to_nothing(host: &Host, arguments: &[&str]) -> String {
    let words: Vec<&str> = ["import"].iter().chain(arguments).copied().collect();
    let imported = host.linesman(&words);
    assert!(imported.success(), "{arguments:?}\n{}", imported.stderr);
    let plan = host.linesman(&["plan", &host.document(&imported.stdout)]);
    assert!(
        plan.success() && plan.stdout.starts_with("No changes: "),
        "{}\n{}\n--- of\n{}\n--- notes\n{}",
        plan.stdout,
        plan.stderr,
        imported.stdout,
        imported.stderr
    );
    imported.stdout
}

const PROFILES: &str = "/etc/NetworkManager/system-connections";

#[test]
fn a_host_is_imported_as_it_runs() {
    let host = Host::new("import-running");
    let document = imports_to_nothing(&host, &[]);
    assert!(document.contains("name: eth0") && !document.contains("name: lo"), "{document}");

    host.apply(BRIDGE);
    host.apply(LAYERS);
    let document = imports_to_nothing(&host, &[]);
    for word in ["name: br1", "name: mv0", "destination: 198.51.100.0/24", "route-table: 200", "mtu: 1400"] {
        assert!(document.contains(word), "{word} is missing in\n{document}");
    }
    for word in ["min-mtu", "gc-timer", "lifetime", "running:"] {
        assert!(!document.contains(word), "{word} is not what a person writes\n{document}");
    }
    host.assert_settled();
}

const LAYERS: &str = "interfaces:
- name: mv0
  type: mac-vlan
  state: up
  mac-address: 02:00:00:00:00:33
  mac-vlan: {base-iface: eth2, mode: bridge}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.7.0.2, prefix-length: 24}]}
  ipv6: {enabled: false}
- name: vx0
  type: vxlan
  state: up
  mtu: 1400
  vxlan: {base-iface: eth2, id: 42, remote: 10.9.0.7, destination-port: 4789}
  ipv4: {enabled: false}
  ipv6: {enabled: false}
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 10.7.0.1, next-hop-interface: mv0, metric: 150}
route-rules:
  config:
  - {family: ipv4, ip-from: 10.7.0.0/24, priority: 1000, route-table: 200}
";

#[test]
fn profiles_are_imported_from_their_files() {
    let host = Host::new("import-profiles");
    host.apply(BRIDGE);
    host.apply(LAYERS);
    let document = imports_to_nothing(&host, &["--from", "keyfile", PROFILES]);
    assert!(
        document.contains("name: br1") && document.contains("mac-address: '02:00:00:00:00:33'"),
        "{document}"
    );
}

#[test]
fn open_vswitch_is_imported_either_way() {
    let host = Host::new("import-ovs");
    host.apply(&br_ex(&host.node));
    for arguments in [&[][..], &[PROFILES]] {
        let document = imports_to_nothing(&host, arguments);
        assert!(
            document.contains("type: ovs-bridge") && document.contains("type: ovs-interface"),
            "{document}"
        );
    }
    host.assert_settled();
}

#[test]
fn files_are_imported_without_networkmanager() {
    let host = Host::new("import-offline");
    host.node.pause_restarts(true).expect("restarts can be paused");
    host.node.kill_daemon(Daemon::NetworkManager).expect("NetworkManager can be killed");
    let netplan = "network: {version: 2, ethernets: {eth1: {addresses: [10.5.0.2/24]}}}\n";
    let imported = host.linesman(&["import", "--from", "netplan", &host.document(netplan)]);
    assert!(imported.success() && imported.stdout.contains("ip: 10.5.0.2"), "{}", imported.stderr);
    let refused = host.linesman(&["import", &host.document("[connection]\nid=a\n")]);
    assert_eq!(refused.code(), Some(3), "{}", refused.stderr);
    assert!(refused.stderr.contains("LM0015"), "{}", refused.stderr);
}
