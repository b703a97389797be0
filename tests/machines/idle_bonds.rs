//! Options that the kernel takes only from a bond that is down, or has no ports: changed beneath a VLAN and addresses of others,
//! and whoever dies meanwhile, all of it comes back. For `make soak`.

use linesman_tests::agent_host::install_units;
use linesman_tests::{Host, observe};

use crate::full_kernel::PATIENT;

const BOND: &str = "interfaces:
- name: bond1
  type: bond
  state: up
  link-aggregation:
    mode: active-backup
    options: {miimon: 100, fail_over_mac: active}
    port: [eth1, eth2]
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.101.0.2, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd00:101::2', prefix-length: 64}]}
- name: bond1.7
  type: vlan
  state: up
  vlan: {base-iface: bond1, id: 7}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.107.0.2, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd00:107::2', prefix-length: 64}]}
";

/// Alone: the VLAN on it is not declared.
fn with(options: &str) -> String {
    format!(
        "interfaces:\n- name: bond1\n  type: bond\n  state: up\n  link-aggregation: {{mode: {options}}}\n"
    )
}

fn option(host: &Host, name: &str) -> String {
    let file = format!("/sys/class/net/bond1/bonding/{name}");
    host.node.run(["cat", &file]).unwrap_or_default().trim().to_owned()
}

/// Ports, addresses of both, the route of somebody else. In which order NetworkManager attaches ports again is up to it.
fn around(host: &Host) -> (Vec<String>, Vec<String>, Vec<String>, String) {
    let mut ports: Vec<String> = option(host, "slaves").split(' ').map(str::to_owned).collect();
    ports.sort();
    let route = host.node.run(["ip", "route", "show", "10.250.0.0/16"]).unwrap_or_default();
    let addresses = |interface: &str| {
        let mut all = observe::addresses(&host.node, interface);
        all.retain(|address| !address.starts_with("fe80"));
        all.sort();
        all
    };
    (ports, addresses("bond1"), addresses("bond1.7"), route.trim().to_owned())
}

fn apply(host: &Host, document: &str) {
    let output = host.try_apply(document, PATIENT);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
}

#[test]
#[ignore = "minutes: make soak"]
fn options_of_a_bond_in_use_are_changed_whoever_dies() {
    let host = Host::built("idle-bonds", |node| node.vm(true));
    install_units(&host.node);
    host.node.run(["systemctl", "enable", "linesman-recover-boot", "linesman-recover"]).unwrap();
    apply(&host, BOND);
    host.node.sh("ip address add fd00:107::99/64 dev bond1.7 nodad").unwrap();
    host.node.sh("ip route add 10.250.0.0/16 via 10.107.0.1 dev bond1.7").unwrap();
    let before = around(&host);
    assert_eq!(before.0, ["eth1", "eth2"]);
    assert!(before.2.iter().any(|address| address.contains("fd00:107::99")), "{before:?}");

    let none = with("active-backup, options: {fail_over_mac: none}");
    println!("the program dies while the bond has no ports");
    dies_at("bond-without-ports", &host, &none, || assert_eq!(option(&host, "slaves"), ""));
    assert_eq!((option(&host, "fail_over_mac"), around(&host)), ("active 1".to_owned(), before.clone()));
    println!("nobody dies");
    apply(&host, &none);
    assert_eq!((option(&host, "fail_over_mac"), around(&host)), ("none 0".to_owned(), before.clone()));
    holds(&host, &none);

    println!("another mode, whose partner is not there");
    apply(&host, &with("802.3ad, options: {lacp_rate: fast}"));
    assert_eq!((option(&host, "lacp_rate"), around(&host)), ("fast 1".to_owned(), before.clone()));

    let slow = with("802.3ad, options: {lacp_rate: slow}");
    println!("the program dies while the bond is down");
    dies_at("bond-down", &host, &slow, || assert!(!is_up(&host)));
    assert!(is_up(&host));
    assert_eq!((option(&host, "lacp_rate"), around(&host)), ("fast 1".to_owned(), before.clone()));

    println!("the power fails while the bond is down");
    host.node.run(["sync"]).unwrap();
    let change = host.start_apply(&slow, PATIENT, "bond-down");
    host.wait_failpoint("bond-down");
    assert!(!is_up(&host));
    host.node.power_cut().unwrap();
    drop(change);
    host.node.boot().unwrap();
    host.eventually("the journal has an outcome", || {
        host.history().iter().all(|record| !record["outcome"].is_null())
    });
    assert_eq!(host.last_verdict(), "rolled-back");
    assert_eq!((option(&host, "lacp_rate"), is_up(&host)), ("fast 1".to_owned(), true));
    assert_eq!(around(&host), before);
    host.assert_settled();

    println!("the next change");
    apply(&host, &slow);
    assert_eq!((option(&host, "lacp_rate"), is_up(&host)), ("slow 0".to_owned(), true));
    holds(&host, &slow);
    host.assert_settled();
}

/// At that place of the code; then it is recovered.
fn dies_at(failpoint: &str, host: &Host, document: &str, meanwhile: impl FnOnce()) {
    let change = host.start_apply(document, PATIENT, failpoint);
    host.wait_failpoint(failpoint);
    meanwhile();
    change.kill().unwrap();
    change.wait().unwrap();
    host.pass_failpoint(failpoint);
    let recovered = host.linesman(&["recover"]);
    assert_eq!(recovered.code(), Some(0), "{}{}", recovered.stdout, recovered.stderr);
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", recovered.stdout, recovered.stderr);
    host.assert_settled();
}

fn holds(host: &Host, document: &str) {
    let plan = host.linesman(&["plan", &host.document(document)]);
    assert_eq!(plan.code(), Some(0), "{}{}", plan.stdout, plan.stderr);
}

fn is_up(host: &Host) -> bool {
    let link = observe::link(&host.node, "bond1").unwrap_or_default();
    observe::list(&link["flags"]).iter().any(|flag| flag == "UP")
}
