//! Documents that replace, remove or name things in the less common ways: as in NMState, or refused before any change.

use linesman_tests::Host;

/// Applies a document, after which the host is in its state.
fn settles(host: &Host, document: &str) {
    let file = host.document(document);
    let checked = host.linesman(&["check", &file]);
    assert!(checked.success(), "{document}\n{}", checked.stderr);
    let applied = host.linesman(&["apply", &file]);
    assert!(applied.success(), "{document}\n{}\n{}", applied.stdout, applied.stderr);
    let again = host.linesman(&["plan", &file]);
    assert_eq!(again.code(), Some(0), "not settled:\n{document}\n{}", again.stdout);
}

/// Refused by `verb` with its code, without a change.
fn refused(host: &Host, verb: &str, code: &str, document: &str) {
    let output = host.linesman(&[verb, &host.document(document)]);
    assert_eq!(output.code(), Some(3), "{document}\n{}\n{}", output.stdout, output.stderr);
    assert!(output.stderr.contains(&format!("error[{code}]")), "{document}\n{}", output.stderr);
}

fn shell(host: &Host, command: &str) -> String {
    host.node.sh(command).expect("the node has a shell")
}

#[test]
fn documents_mean_what_they_mean_to_nmstate() {
    let host = Host::new("documents");
    routes_are_replaced(&host);
    rules_of_both_families_come_and_go(&host);
    a_device_is_found_by_its_mac_address(&host);
    what_cannot_hold_is_refused(&host);
    host.assert_settled();
}

fn routes_are_replaced(host: &Host) {
    let gateway = shell(host, "ip -4 route show default | cut -d' ' -f3");
    let route = |state: &str, metric: u32| {
        format!(
            "routes:\n  config:\n  - {{destination: 0.0.0.0/0, {state}}}\n  - {{destination: 0.0.0.0/0, \
             next-hop-interface: eth0, next-hop-address: {}, metric: {metric}}}\n",
            gateway.trim()
        )
    };
    settles(host, &route("state: absent", 50));
    settles(host, &route("next-hop-interface: eth0, state: absent", 70));
    let routes = shell(host, "ip -4 route show default");
    assert!(routes.contains("metric 70") && routes.trim().lines().count() == 1, "{routes}");
}

fn rules_of_both_families_come_and_go(host: &Host) {
    let rules = || shell(host, "(ip rule; ip -6 rule) | grep -c 'lookup 20[0-9]' || true").trim().to_owned();
    settles(
        host,
        "route-rules:
  config:
  - {ip-from: 10.99.0.0/24, route-table: 200, priority: 1000}
  - {ip-from: 'fd00:99::/64', route-table: 200, priority: 1000}
  - {family: ipv4, iif: eth0, route-table: 201, priority: 1001}
  - {family: ipv6, iif: eth0, route-table: 201, priority: 1001}\n",
    );
    assert_eq!(rules(), "4");
    settles(host, "route-rules: {config: [{family: ipv6, priority: 1001, state: absent}]}\n");
    assert_eq!(rules(), "3");
    settles(
        host,
        "route-rules:
  config:
  - {priority: 1000, state: absent}
  - {ip-from: 10.98.0.0/24, route-table: 202, priority: 1000}\n",
    );
    assert_eq!(rules(), "2");
    settles(host, "route-rules: {config: [{state: absent}]}\n");
    assert_eq!(rules(), "0");
}

fn a_device_is_found_by_its_mac_address(host: &Host) {
    let mac = shell(host, "cat /sys/class/net/eth1/address");
    let storage = |address: &str, more: &str| {
        format!(
            "interfaces:\n- name: storage\n  type: ethernet\n  state: up\n  identifier: mac-address\n  mac-address: '{}'\n  \
             ipv4: {{enabled: true, dhcp: false, address: [{{ip: {address}, prefix-length: 24}}]}}\n{more}",
            mac.trim()
        )
    };
    settles(host, &storage("192.0.2.1", ""));
    assert!(shell(host, "ip -4 -br address show eth1").contains("192.0.2.1/24"));
    assert!(shell(host, "nmcli -g NAME,DEVICE connection show --active").contains("storage:eth1"));
    let route = "routes:\n  config:\n  - {destination: 198.51.100.0/24, next-hop-interface: storage, next-hop-address: 192.0.2.254}\n";
    settles(host, &storage("192.0.2.2", route));
    assert!(shell(host, "ip -4 route show 198.51.100.0/24").contains("dev eth1"));
    settles(
        host,
        &format!(
            "interfaces:\n- {{name: storage, type: ethernet, state: absent, identifier: mac-address, mac-address: '{}'}}\n",
            mac.trim()
        ),
    );
    assert!(!shell(host, "ip -4 -br address show eth1").contains("192.0.2.2"), "its profile is gone");
    // With a profile of its own, NMState alone takes the name for that of a device.
    let beside =
        "  profile-name: uplink\n  alt-names: [{name: storage-nic}]\n  ethtool: {feature: {rx-gro: true}}\n";
    settles(host, &storage("192.0.2.3", beside));
    assert!(shell(host, "nmcli -g NAME,DEVICE connection show --active").contains("uplink:eth1"));
    assert!(shell(host, "ip link show storage-nic").contains("eth1"));
    settles(host, "interfaces: [{name: eth1, type: ethernet, state: absent}]\n");
}

fn what_cannot_hold_is_refused(host: &Host) {
    refused(host, "check", "LM0803", "dns-resolver: {config: {server: [10.9.0.1, 10.9.0.1]}}\n");
    refused(host, "check", "LM0206", "interfaces: [{name: lo, type: loopback, state: absent}]\n");
    refused(host, "check", "LM0210", "interfaces: [{name: tap7, type: tun, state: up, mtu: 1400}]\n");
    host.node.run(["ip", "tuntap", "add", "tap7", "mode", "tap"]).expect("a tap can be made");
    refused(host, "plan", "LM0210", "interfaces: [{name: tap7, mtu: 1400}]\n");
    let bridge = "interfaces: [{name: br7, type: linux-bridge, state: up, bridge: {port: [{name: tap7}]}}]\n";
    refused(host, "plan", "LM0210", bridge);
    host.node.run(["ip", "link", "delete", "tap7"]).expect("a tap can be removed");
    refused(host, "plan", "LM1018", "interfaces: [{name: eth2, ipv4: {enabled: true}}]\n");
    refused(
        host,
        "apply",
        "LM1018",
        "interfaces: [{name: br7, type: linux-bridge, ipv4: {enabled: true}}]\n",
    );
}
