//! The OpenFlow port number of an uplink stays: OVN-Kubernetes installs flows on it and does not look again.

use linesman_lab::Daemon;
use linesman_tests::{Host, observe};

/// br-ex with an address that nobody needs, and the ports in this order: the uplinks are not the first ones.
fn br_ex(uplinks: &[&str], mtu: u32) -> String {
    let ports = ["br-ex", "vif1", "vif2"].iter().chain(uplinks).map(|port| format!("{{name: {port}}}"));
    let ports = ports.collect::<Vec<_>>().join(", ");
    let internal = |name: &str| format!("- {{name: {name}, type: ovs-interface, state: up, mtu: {mtu}}}\n");
    let uplinks = uplinks.iter().map(|name| {
        format!("- {{name: {name}, type: ethernet, state: up, mtu: {mtu}, ipv4: {{enabled: false}}, ipv6: {{enabled: false}}}}\n")
    });
    format!(
        "interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge: {{options: {{datapath: netdev}}, port: [{ports}]}}
- name: br-ex
  type: ovs-interface
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: 10.60.0.1, prefix-length: 24}}]}}
{}{}{}",
        internal("vif1"),
        internal("vif2"),
        uplinks.collect::<String>()
    )
}

fn number(host: &Host, interface: &str) -> String {
    observe::ovs(&host.node, "Interface", interface, "ofport")
}

fn row(host: &Host, interface: &str) -> String {
    observe::ovs(&host.node, "Interface", interface, "_uuid")
}

/// The profile of a NIC as it is stored.
fn stored(host: &Host, interface: &str) -> String {
    host.node
        .sh(&format!(
            "cat $(grep -l '^interface-name={interface}$' $(grep -l '^type=ethernet$' \
             /etc/NetworkManager/system-connections/*))"
        ))
        .expect("it has a profile")
}

/// A bridge whose uplink eth1 is not its first port, and the number of that port.
fn bridge_with_uplink(host: &Host) -> String {
    host.apply(&br_ex(&[], 1500));
    host.apply(&br_ex(&["eth1"], 1500));
    let number = number(host, "eth1");
    assert!(number.parse::<u16>().is_ok_and(|number| number > 1), "{number}");
    assert!(stored(host, "eth1").contains(&format!("ofport-request={number}\n")), "{}", stored(host, "eth1"));
    number
}

fn made_anew(host: &Host, interface: &str, before: &str) {
    host.eventually("NetworkManager has made the port anew", || {
        let now = row(host, interface);
        !now.is_empty() && now != before && !matches!(number(host, interface).as_str(), "" | "[]")
    });
}

#[test]
fn an_uplink_keeps_its_number() {
    let host = Host::built("openflow-port", |node| node.systemd(true));
    let kept = bridge_with_uplink(&host);

    let before = row(&host, "eth1");
    host.node.restart_daemon(Daemon::NetworkManager).expect("NetworkManager is restarted");
    made_anew(&host, "eth1", &before);
    assert_eq!(number(&host, "eth1"), kept, "after a restart of NetworkManager");

    let before = row(&host, "eth1");
    host.node.nmcli(&["--wait", "60", "connection", "up", "eth1"]).expect("eth1 is activated again");
    made_anew(&host, "eth1", &before);
    assert_eq!(number(&host, "eth1"), kept, "after a new activation");

    host.apply(&br_ex(&["eth1"], 1400));
    assert_eq!(number(&host, "eth1"), kept, "after a change of its MTU");

    let plan = host.linesman(&["plan", &host.document(&br_ex(&["eth1", "eth2"], 1400))]).stdout;
    assert!(!plan.contains("LM1034"), "eth1 stays: {plan}");
    let replaced = br_ex(&["eth2"], 1400);
    let plan = host.linesman(&["plan", &host.document(&replaced)]).stdout;
    assert!(!plan.contains("LM1034"), "eth2 takes the number over: {plan}");
    let tried = host.try_apply(&replaced, &["--try", "1s"]);
    assert_eq!(tried.code(), Some(5), "{}{}", tried.stdout, tried.stderr);
    assert_eq!(number(&host, "eth1"), kept, "after a replacement that was rolled back");
    host.apply(&replaced);
    assert_eq!(number(&host, "eth2"), kept, "after eth2 replaced eth1");
    assert!(stored(&host, "eth2").contains(&format!("ofport-request={kept}\n")));
    assert!(!stored(&host, "eth1").contains("ofport-request"), "eth1 is no port any more");

    host.node.power_cut().expect("the power can be cut");
    host.node.boot().expect("the node boots");
    host.eventually("eth2 is a port again", || number(&host, "eth2").parse::<u16>().is_ok());
    assert_eq!(number(&host, "eth2"), kept, "after a reboot");
    host.assert_settled();
}

#[test]
fn a_number_that_somebody_requested_stays_and_one_that_cannot_be_kept_is_announced() {
    let host = Host::new("openflow-asked");
    bridge_with_uplink(&host);
    host.node
        .ovs_vsctl(&["set", "interface", "eth1", "ofport_request=77"])
        .expect("somebody requests a number");
    host.eventually("eth1 has the number", || number(&host, "eth1") == "77");
    host.apply(&br_ex(&["eth1"], 1400));
    assert_eq!(number(&host, "eth1"), "77");
    assert!(stored(&host, "eth1").contains("ofport-request=77\n"), "{}", stored(&host, "eth1"));

    let plan = host.linesman(&["plan", &host.document(&br_ex(&["eth0", "eth2"], 1400))]);
    assert!(plan.stdout.contains("OpenFlow port number 77"), "{}{}", plan.stdout, plan.stderr);
    assert!(plan.stdout.contains("LM1034"), "{}", plan.stdout);
}

/// As configure-ovs or a person made it: nothing requests the number.
#[test]
fn a_rollback_restores_a_number_that_nobody_requested() {
    let host = Host::new("openflow-rollback");
    let kept = bridge_with_uplink(&host);
    host.node
        .sh("nmcli connection modify eth1 ovs-interface.ofport-request 0 && ovs-vsctl clear interface eth1 ofport_request")
        .expect("the request can be taken back");
    let before = row(&host, "eth1");
    let tried = host.try_apply(&br_ex(&["eth2"], 1400), &["--try", "1s"]);
    assert_eq!(tried.code(), Some(5), "{}{}", tried.stdout, tried.stderr);
    assert_ne!(row(&host, "eth1"), before, "it was made anew");
    assert_eq!(number(&host, "eth1"), kept);
    assert!(!stored(&host, "eth1").contains("ofport-request"), "the profile is the former one");
    host.assert_settled();
}
