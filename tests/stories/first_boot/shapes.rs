//! Documents that deployers write: DHCP, and br-ex beside the NIC with the node's address.

use linesman_tests::observe;

use super::{FLAG, Installed};

const DHCP: &str = "interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    options: {datapath: netdev}
    port: [{name: eth0}, {name: br-ex}]
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eth0
  ipv4: {enabled: true, dhcp: true, auto-route-metric: 48}
  ipv6: {enabled: true, dhcp: true, autoconf: true, auto-route-metric: 48}
- name: eth0
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
";

/// br-ex has no address; the node's stays on eth0.
const BESIDE: &str = "interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    options: {datapath: netdev}
    port: [{name: eth1}, {name: br-ex}]
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eth1
  ipv4: {enabled: false}
  ipv6: {enabled: false}
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
";

#[test]
fn br_ex_stands_beside_the_address_of_the_node() {
    let installed = Installed::new("first-boot-beside");
    let node = installed.node();
    installed.install("cluster.yml", BESIDE);
    installed.install("n1.yml", &BESIDE.replace("copy-mac-from: eth1", "copy-mac-from: eth1\n  mtu: 1400"));
    node.run(["hostname", "localhost"]).unwrap();
    for said in ["chose cluster.yml: cluster-wide", "it is applied and has not changed since"] {
        let unnamed = installed.host.linesman(&["firstboot", "--wait", "1s"]);
        assert_eq!(unnamed.code(), Some(0), "{}{}", unnamed.stdout, unnamed.stderr);
        assert!(unnamed.stdout.contains(said), "{}", unnamed.stdout);
    }
    // A host that knows its name late gets its own document all the same.
    installed.reboot();
    installed.assert_state("Applied");
    assert!(installed.journal().contains("chose n1.yml: this host is called n1"), "{}", installed.journal());
    assert_eq!(observe::link(node, "br-ex").unwrap()["mtu"], 1400);
    assert_eq!(node.ovs_vsctl(&["list-ports", "br-ex"]).unwrap(), "eth1\n");
    assert!(observe::addresses(node, "eth0").contains(&format!("{}/24", node.mgmt_ipv4())));
    installed.host.assert_settled();

    let doctor = || installed.host.linesman(&["doctor"]).stdout;
    let good = doctor();
    assert!(good.starts_with("this host is ready\n") && good.contains("n1.yml is applied"), "{good}");
    // The path unit would have the flag written again.
    node.sh(&format!("systemctl stop linesman-firstboot-changed.path && rm {FLAG}")).unwrap();
    assert!(doctor().contains("configure-ovs is not kept from this host"), "{}", doctor());
}

#[test]
fn br_ex_takes_over_what_dhcp_gave() {
    let installed = Installed::new("first-boot-dhcp");
    let (node, host) = (installed.node(), &installed.host);
    let automatic = "nmcli connection modify eth0 ipv4.method auto ipv4.addresses '' ipv4.gateway '' ipv4.dns '' \
                     ipv6.method auto ipv6.addresses '' ipv6.gateway ''";
    node.sh(automatic).unwrap();
    node.nmcli(&["--wait", "60", "connection", "up", "eth0"]).unwrap();
    // For NetworkManager, eth0 is up as soon as one of the two families has an address.
    let ipv4_of =
        |name: &str| observe::addresses(node, name).into_iter().find(|address| address.contains('.'));
    host.eventually("eth0 has a lease", || ipv4_of("eth0").is_some());
    let leased = ipv4_of("eth0");
    installed.install("n1.yml", DHCP);
    installed.reboot();
    installed.assert_state("Applied");
    assert!(installed.journal().contains("gateway:v4 passed"), "{}", installed.journal());
    host.eventually("br-ex has the leased address", || {
        let now = observe::addresses(node, "br-ex");
        ipv4_of("br-ex") == leased && now.iter().any(|address| address.starts_with("fd09"))
    });
    let route = observe::route(node, "main", "default").expect("a default route");
    assert_eq!((route["dev"].as_str(), route["metric"].as_u64()), (Some("br-ex"), Some(48)));
    assert_eq!(host.open_checkpoints(), 0);
}
