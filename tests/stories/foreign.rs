//! What nobody declared is preserved, carried over when an address moves, and restored by a rollback.

use linesman_tests::{Host, br_ex, observe};

const STRANGERS: &str = "
nmcli connection add type ethernet ifname eth2 con-name theirs ipv4.method manual ipv4.addresses 10.9.2.77/24 ipv6.method disabled
nmcli --wait 60 connection up theirs
nmcli connection add type ethernet ifname eth2 con-name spare autoconnect no ipv4.method auto
ip address add 10.9.0.99/32 dev eth0
ip address add fd09::99/128 dev eth0 nodad
ip link add cni0 type bridge
ip address add 10.77.0.1/24 dev cni0
ip link add pod0 type veth peer name pod1
ip link set pod0 master cni0
ip link set cni0 up
ip link set pod0 up
ip rule add from 10.77.0.0/24 priority 2000 table 77
ip route add 203.0.113.0/24 dev cni0 table 77
ovs-vsctl set Open_vSwitch . external_ids:system-id=theirs external_ids:ovn-remote=ssl:10.0.0.1:6642 other_config:vlan-limit=0
ovs-vsctl add-br br-int -- set bridge br-int datapath_type=netdev fail_mode=secure external_ids:owner=ovn other_config:mac-table-size=50000
ovs-vsctl add-port br-int ovn-k8s-mp0 -- set interface ovn-k8s-mp0 type=internal external_ids:iface-id=n1
";

fn settle_in(host: &Host) {
    host.node.sh(STRANGERS).expect("strangers settle in");
}

/// Everything that belongs to others; `nic` is where the node's own address is, and theirs with it.
fn belongings(host: &Host, nic: &str) -> Vec<String> {
    let node = &host.node;
    let has = |name: &str, address: &str| {
        let there = observe::addresses(node, name).iter().any(|a| a == address);
        format!("{address} {}", if there { "there" } else { "GONE" })
    };
    let ovs = |table: &str, row: &str, column: &str| {
        format!("{table} {row} {column} {}", observe::ovs(node, table, row, column))
    };
    let master = observe::link(node, "pod0").map(|link| link["master"].to_string());
    vec![
        has(nic, "10.9.0.99/32"),
        has(nic, "fd09::99/128"),
        has("eth2", "10.9.2.77/24"),
        has("cni0", "10.77.0.1/24"),
        format!("pod0 in {master:?}"),
        format!("rule {:?}", observe::rule(node, "-4", 2000).is_some()),
        format!("route {:?}", observe::route(node, "77", "203.0.113.0/24").is_some()),
        profile(host, "theirs"),
        profile(host, "spare"),
        ovs("Open_vSwitch", ".", "external_ids:system-id"),
        ovs("Open_vSwitch", ".", "external_ids:ovn-remote"),
        ovs("Open_vSwitch", ".", "other_config:vlan-limit"),
        ovs("Bridge", "br-int", "external_ids"),
        ovs("Bridge", "br-int", "other_config"),
        ovs("Bridge", "br-int", "fail_mode"),
        ovs("Interface", "ovn-k8s-mp0", "external_ids:iface-id"),
    ]
}

fn profile(host: &Host, name: &str) -> String {
    let path = format!("/etc/NetworkManager/system-connections/{name}.nmconnection");
    let bytes = host.node.read_file(&path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().filter(|line| !line.starts_with("timestamp=")).collect::<Vec<_>>().join("|")
}

/// Of a bridge that linesman itself made: what others write on it afterwards.
const ON_BR_EX: &str = "
ovs-vsctl set bridge br-ex external_ids:bridge-id=br-ex external_ids:bridge-uplink=eth0 other_config:mac-aging-time=700
ovs-vsctl set interface eth0 external_ids:uplink=yes
";

fn on_br_ex(host: &Host) -> Vec<String> {
    let ovs = |table, row, column| observe::ovs(&host.node, table, row, column);
    vec![
        ovs("Bridge", "br-ex", "external_ids:bridge-id"),
        ovs("Bridge", "br-ex", "external_ids:bridge-uplink"),
        ovs("Bridge", "br-ex", "other_config:mac-aging-time"),
        ovs("Interface", "eth0", "external_ids:uplink"),
    ]
}

/// Takes the node's address away: no probe passes any more.
const CUT_OFF: &str = "interfaces:
- name: eth0
  type: ethernet
  state: up
  mtu: 1450
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.66.0.1, prefix-length: 24}]}
  ipv6: {enabled: false}
routes: {config: [{state: absent, next-hop-interface: eth0}]}
ovs-db: {external_ids: {system-id: ours, added: by-us}}
";

fn rolled_back(host: &Host, document: &str, flags: &[&str]) {
    let output = host.try_apply(document, flags);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    host.assert_settled();
}

#[test]
fn settings_of_others_are_preserved() {
    let host = Host::new("foreign");
    settle_in(&host);
    let before = belongings(&host, "eth0");
    host.apply("interfaces: [{name: eth0, type: ethernet, state: up, mtu: 1450}]\n");
    assert_eq!(belongings(&host, "eth0"), before, "after touching their NIC");
    host.node.run(["ip", "route", "add", "198.18.0.0/24", "via", "10.9.0.1", "dev", "eth0"]).unwrap();
    host.apply(
        "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, next-hop-address: 10.9.0.1}]}\n",
    );
    assert_eq!(belongings(&host, "eth0"), before, "after a route on their NIC");
    let stored = host.node.sh("cat /etc/NetworkManager/system-connections/eth0*").unwrap();
    assert!(stored.contains("192.0.2.0/24"), "{stored}");
    for theirs in ["10.9.0.99", "fd09::99", "198.18.0.0"] {
        assert!(!stored.contains(theirs), "a boot must not bring {theirs}: {stored}");
    }
    assert!(observe::route(&host.node, "main", "198.18.0.0/24").is_some());
    host.apply(linesman_tests::BRIDGE);
    assert_eq!(belongings(&host, "eth0"), before, "after a bridge elsewhere");
    host.node.run(["ip", "link", "set", "eth0", "mtu", "1420"]).unwrap();
    rolled_back(&host, CUT_OFF, &["--patience", "3s"]);
    assert_eq!(observe::link(&host.node, "eth0").unwrap()["mtu"], 1420, "set in the kernel only");
    assert_eq!(belongings(&host, "eth0"), before, "after being cut off and rolled back");
    assert_eq!(observe::ovs(&host.node, "Open_vSwitch", ".", "external_ids:added"), "");
    rolled_back(&host, &br_ex(&host.node), &["--try", "2s"]);
    assert_eq!(belongings(&host, "eth0"), before, "after br-ex was tried");
}

#[test]
fn settings_of_others_are_carried_over_to_br_ex() {
    let host = Host::new("foreign-br-ex");
    settle_in(&host);
    let before = belongings(&host, "eth0");
    host.apply(&br_ex(&host.node));
    assert_eq!(belongings(&host, "br-ex"), before, "after br-ex took over");
    host.node.sh(ON_BR_EX).expect("others write on br-ex");
    let marks = on_br_ex(&host);
    let mtu = br_ex(&host.node).replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400");
    host.apply(&mtu);
    assert_eq!(on_br_ex(&host), marks, "after another change of br-ex");
    assert_eq!(belongings(&host, "br-ex"), before, "after another change of br-ex");
    // The bridge goes, is missed, and is made anew: its keys are not NetworkManager's.
    let gone = "interfaces:\n- {name: br-ex, state: absent}\n";
    rolled_back(&host, gone, &["--patience", "3s"]);
    assert_eq!(on_br_ex(&host), marks, "after br-ex was gone and came back");
    assert_eq!(belongings(&host, "br-ex"), before, "after br-ex was gone and came back");
}
