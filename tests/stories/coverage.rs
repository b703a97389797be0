//! Everything that is covered, each kind applied, seen by other people's tools, left alone by a second
//! apply, removed again, and gone.

use linesman_tests::{Host, observe};

/// Applies `document`; a second time nothing must happen.
fn made(host: &Host, document: &str) {
    host.apply(document);
    let changes = host.history().len();
    let again = host.apply(document);
    assert!(again.stdout.contains("no changes made"), "applied twice:\n{document}\n{}", again.stdout);
    assert_eq!(host.history().len(), changes, "a change of nothing leaves no trace");
}

/// Removes interfaces; a second time nothing must happen, and no profile of theirs stays.
fn removed(host: &Host, names: &[&str]) {
    let entries: String = names.iter().map(|name| format!("- {{name: {name}, state: absent}}\n")).collect();
    made(host, &format!("interfaces:\n{entries}"));
    for name in names {
        assert_eq!(observe::profiles(&host.node, name), Vec::<String>::new(), "profiles of {name} stay");
    }
}

fn virtual_is_gone(host: &Host, names: &[&str]) {
    removed(host, names);
    for name in names {
        assert!(!observe::link_exists(&host.node, name), "{name} stays");
    }
}

#[test]
fn interfaces_of_the_kernel() {
    let host = Host::new("cov-kernel");
    ethernet(&host);
    linux_bridge(&host);
    bridge_with_vlans(&host);
    veth(&host);
    mac_vlan(&host);
    vxlan(&host);
    tun(&host);
    host.assert_settled();
}

fn ethernet(host: &Host) {
    made(
        host,
        "interfaces:
- name: eth1
  type: ethernet
  state: up
  mtu: 1400
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.50, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd09:0:0:1::50', prefix-length: 64}]}
",
    );
    let link = observe::link(&host.node, "eth1").expect("a NIC stays");
    assert_eq!((&link["mtu"], &link["operstate"]), (&1400.into(), &"UP".into()));
    assert_eq!(observe::addresses(&host.node, "eth1"), ["10.9.1.50/24", "fd09:0:0:1::50/64"]);
    removed(host, &["eth1"]);
    assert_eq!(observe::addresses(&host.node, "eth1"), Vec::<String>::new());
}

fn linux_bridge(host: &Host) {
    made(
        host,
        "interfaces:
- name: br0
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.0.1, prefix-length: 24}]}
  bridge:
    options: {stp: {enabled: true, hello-time: 3}, mac-ageing-time: 200}
    port:
    - name: eth1
      stp-priority: 16
      stp-hairpin-mode: true
    - name: eth2
",
    );
    let bridge = observe::link(&host.node, "br0").expect("br0 is there");
    let data = &bridge["linkinfo"]["info_data"];
    assert_eq!((&data["stp_state"], &data["hello_time"]), (&1.into(), &300.into()), "{data}");
    assert_eq!(data["ageing_time"], 20000, "{data}");
    let port = observe::link(&host.node, "eth1").expect("a NIC stays");
    let slave = &port["linkinfo"]["info_slave_data"];
    assert_eq!((&port["master"], &slave["hairpin"]), (&"br0".into(), &true.into()), "{port}");
    assert_eq!(slave["priority"], 16, "{port}");
    virtual_is_gone(host, &["br0"]);
    assert!(observe::link(&host.node, "eth1").expect("a NIC stays")["master"].is_null());
}

const TRUNK: &str = "interfaces:
- name: br0
  type: linux-bridge
  state: up
  bridge:
    port:
    - name: eth1
      vlan:
        mode: trunk
        enable-native: true
        tag: 10
        trunk-tags: [{id: 100}, {id-range: {min: 200, max: 210}}]
    - name: eth2
      vlan: {mode: access, tag: 30}
";

/// A kernel without VLAN filtering takes the profile and does nothing: that must not pass as success.
fn bridge_with_vlans(host: &Host) {
    if !observe::kernel_filters_vlans(&host.node) {
        let output = host.try_apply(TRUNK, &[]);
        assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
        assert!(output.stdout.contains("interfaces[br0].bridge.port[eth1].vlan"), "{}", output.stdout);
        assert!(!observe::link_exists(&host.node, "br0"));
        return;
    }
    made(host, TRUNK);
    let bridge = observe::link(&host.node, "br0").expect("br0 is there");
    assert_eq!(bridge["linkinfo"]["info_data"]["vlan_filtering"], 1, "{bridge}");
    assert_eq!(observe::vlans(&host.node, "eth1"), ["10u", "100", "200-210"]);
    assert_eq!(observe::vlans(&host.node, "eth2"), ["30u"]);
    virtual_is_gone(host, &["br0"]);
}

fn veth(host: &Host) {
    made(
        host,
        "interfaces:
- name: ve0
  type: veth
  state: up
  veth: {peer: ve1}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.44.0.1, prefix-length: 24}]}
- name: ve1
  type: veth
  state: up
  veth: {peer: ve0}
",
    );
    assert_eq!(observe::link(&host.node, "ve0").expect("ve0 is there")["link"], "ve1");
    assert_eq!(observe::addresses(&host.node, "ve0"), ["10.44.0.1/24"]);
    virtual_is_gone(host, &["ve0", "ve1"]);
}

fn mac_vlan(host: &Host) {
    made(
        host,
        "interfaces:
- name: mv0
  type: mac-vlan
  state: up
  mac-vlan: {base-iface: eth1, mode: bridge, promiscuous: true}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.43.0.1, prefix-length: 24}]}
- name: eth1
  type: ethernet
  state: up
",
    );
    let link = observe::link(&host.node, "mv0").expect("mv0 is there");
    assert_eq!((&link["link"], &link["linkinfo"]["info_data"]["mode"]), (&"eth1".into(), &"bridge".into()));
    assert_eq!(observe::addresses(&host.node, "mv0"), ["10.43.0.1/24"]);
    virtual_is_gone(host, &["mv0"]);
}

fn vxlan(host: &Host) {
    made(
        host,
        "interfaces:
- name: vx42
  type: vxlan
  state: up
  vxlan: {base-iface: eth1, id: 42, remote: 10.9.1.1, destination-port: 4790}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.42.0.1, prefix-length: 24}]}
",
    );
    let link = observe::link(&host.node, "vx42").expect("vx42 is there");
    let data = &link["linkinfo"]["info_data"];
    assert_eq!((&data["id"], &data["port"], &data["remote"]), (&42.into(), &4790.into(), &"10.9.1.1".into()));
    virtual_is_gone(host, &["vx42"]);
}

/// NMState shows tun devices and makes none.
fn tun(host: &Host) {
    host.node.run(["ip", "tuntap", "add", "tap7", "mode", "tap"]).unwrap();
    let shown = host.interface("tap7").expect("tap7 is shown");
    assert_eq!(shown["type"], "tun", "{shown}");
    host.node.run(["ip", "link", "delete", "tap7"]).unwrap();
}

#[test]
fn routes_rules_names() {
    let host = Host::new("cov-routes");
    routes(&host);
    rules(&host);
    dns(&host);
    hostname(&host);
    captures(&host);
    policy(&host);
    host.assert_settled();
}

fn routes(host: &Host) {
    made(
        host,
        "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.50, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd09:0:0:1::50', prefix-length: 64}]}
routes:
  config:
  - {destination: 192.0.2.0/24, next-hop-address: 10.9.1.1, next-hop-interface: eth1, metric: 150}
  - {destination: 198.51.100.0/24, next-hop-address: 10.9.1.1, next-hop-interface: eth1, table-id: 200}
  - {destination: '2001:db8::/32', next-hop-address: 'fd09:0:0:1::1', next-hop-interface: eth1, metric: 160}
  - {destination: '2001:db8:1::/48', next-hop-address: 'fd09:0:0:1::1', next-hop-interface: eth1, table-id: 200}
",
    );
    let route = |table, destination| observe::route(&host.node, table, destination);
    let plain = route("main", "192.0.2.0/24").expect("the IPv4 route");
    assert_eq!((&plain["gateway"], &plain["metric"]), (&"10.9.1.1".into(), &150.into()));
    let plain = route("main", "2001:db8::/32").expect("the IPv6 route");
    assert_eq!((&plain["gateway"], &plain["metric"]), (&"fd09:0:0:1::1".into(), &160.into()));
    assert!(route("200", "198.51.100.0/24").is_some() && route("200", "2001:db8:1::/48").is_some());
    made(
        host,
        "routes:
  config:
  - {state: absent, next-hop-interface: eth1}
",
    );
    assert!(route("main", "192.0.2.0/24").is_none() && route("200", "2001:db8:1::/48").is_none());
    assert_eq!(observe::addresses(&host.node, "eth1").len(), 2, "addresses stay");
}

fn rules(host: &Host) {
    made(
        host,
        "route-rules:
  config:
  - {ip-from: 10.9.1.50/32, priority: 1000, route-table: 200}
  - {ip-to: 192.0.2.0/24, priority: 1001, route-table: 200, fwmark: 0x20, fwmask: 0xff}
  - {ip-from: '2001:db8:b::/64', priority: 1002, route-table: 200}
  - {iif: eth1, priority: 1003, action: prohibit, family: ipv4}
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 10.9.1.1, next-hop-interface: eth1, table-id: 200}
  - {destination: '2001:db8:1::/48', next-hop-address: 'fd09:0:0:1::1', next-hop-interface: eth1, table-id: 200}
",
    );
    let rule = |family, priority| observe::rule(&host.node, family, priority);
    assert_eq!(rule("-4", 1000).expect("the rule by source")["src"], "10.9.1.50");
    assert_eq!(rule("-4", 1001).expect("the rule by mark")["fwmark"], "0x20");
    assert_eq!(rule("-6", 1002).expect("the IPv6 rule")["table"], "200");
    assert_eq!(rule("-4", 1003).expect("the prohibiting rule")["action"], "prohibit");
    made(
        host,
        "route-rules:
  config:
  - {state: absent, priority: 1000}
  - {state: absent, priority: 1001}
  - {state: absent, priority: 1002}
  - {state: absent, priority: 1003}
",
    );
    for (family, priority) in [("-4", 1000), ("-4", 1001), ("-6", 1002), ("-4", 1003)] {
        assert!(rule(family, priority).is_none(), "rule {priority} stays");
    }
    removed(host, &["eth1"]);
}

fn dns(host: &Host) {
    made(
        host,
        "dns-resolver:
  config: {server: [10.9.0.1, 'fd09::1'], search: [lab.test, example.net], options: [rotate]}
",
    );
    let resolv = observe::resolv_conf(&host.node);
    for line in ["search lab.test example.net", "nameserver 10.9.0.1", "nameserver fd09::1", "options rotate"]
    {
        assert!(resolv.contains(line), "no `{line}` in\n{resolv}");
    }
    made(host, "dns-resolver:\n  config: {server: [10.9.0.1], search: []}\n");
    assert!(!observe::resolv_conf(&host.node).contains("example.net"));
}

fn hostname(host: &Host) {
    made(host, "hostname: {running: worker-1.lab.test, config: worker-1.lab.test}\n");
    assert_eq!(observe::hostname(&host.node), "worker-1.lab.test");
    assert_eq!(observe::fixed_hostname(&host.node), "worker-1.lab.test");
    made(host, "hostname: {running: n1, config: n1}\n");
    assert_eq!(
        (observe::hostname(&host.node), observe::fixed_hostname(&host.node)),
        ("n1".into(), "n1".into())
    );
}

fn captures(host: &Host) {
    made(
        host,
        "capture:
  default-gw: routes.running.destination==\"0.0.0.0/0\"
  base: interfaces.name==capture.default-gw.routes.running.0.next-hop-interface
desiredState:
  interfaces:
  - name: \"{{ capture.base.interfaces.0.name }}\"
    type: ethernet
    state: up
    mtu: 1450
",
    );
    assert_eq!(observe::link(&host.node, "eth0").expect("eth0 is there")["mtu"], 1450);
    assert!(host.reachable());
    made(host, "interfaces:\n- {name: eth0, type: ethernet, state: up, mtu: 1500}\n");
}

fn policy(host: &Host) {
    made(
        host,
        "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: storage-bridge}
spec:
  nodeSelector: {kubernetes.io/hostname: n1}
  desiredState:
    interfaces:
    - name: br-storage
      type: linux-bridge
      state: up
      ipv4: {enabled: true, dhcp: false, address: [{ip: 10.30.0.1, prefix-length: 24}]}
      bridge: {port: [{name: eth2}]}
",
    );
    let record = host.history().pop().expect("it was applied");
    assert_eq!(record["source"], "storage-bridge", "a policy goes by its name");
    assert_eq!(observe::addresses(&host.node, "br-storage"), ["10.30.0.1/24"]);
    virtual_is_gone(host, &["br-storage"]);
}

#[test]
fn open_vswitch() {
    let host = Host::new("cov-ovs");
    made(
        &host,
        "interfaces:
- name: ovs0
  type: ovs-bridge
  state: up
  ovs-db: {external_ids: {made-by: linesman}}
  bridge:
    options: {datapath: netdev, fail-mode: secure}
    port:
    - name: eth1
    - name: ovs0i
      vlan: {mode: access, tag: 10}
- name: ovs0i
  type: ovs-interface
  state: up
  mtu: 1400
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.50.0.1, prefix-length: 24}]}
ovs-db:
  external_ids: {site: lab, rack: '7'}
  other_config: {max-idle: '20000'}
",
    );
    let ports = host.node.ovs_vsctl(&["list-ports", "ovs0"]).unwrap();
    assert_eq!(ports.split_whitespace().collect::<Vec<_>>(), ["eth1", "ovs0i"]);
    let ovs = |table, row, column| observe::ovs(&host.node, table, row, column);
    assert_eq!(ovs("Bridge", "ovs0", "fail_mode"), "secure");
    assert_eq!(ovs("Bridge", "ovs0", "external_ids:made-by"), "linesman");
    assert_eq!(ovs("Port", "ovs0i", "tag"), "10");
    assert_eq!(ovs("Open_vSwitch", ".", "external_ids:site"), "lab");
    assert_eq!(ovs("Open_vSwitch", ".", "other_config:max-idle"), "20000");
    assert_eq!(observe::addresses(&host.node, "ovs0i"), ["10.50.0.1/24"]);
    assert_eq!(observe::link(&host.node, "ovs0i").expect("ovs0i is there")["mtu"], 1400);
    made(&host, "ovs-db:\n  external_ids: {site: null, rack: '8'}\n");
    assert_eq!(
        (ovs("Open_vSwitch", ".", "external_ids:site"), ovs("Open_vSwitch", ".", "external_ids:rack")),
        (String::new(), "8".into())
    );
    virtual_is_gone(&host, &["ovs0i", "ovs0"]);
    assert_eq!(host.node.ovs_vsctl(&["list-br"]).unwrap(), "");
    host.assert_settled();
}
