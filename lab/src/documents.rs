//! State documents that tests, demo and benchmarks share: about a node's own path, and a stack for a full kernel.

use crate::{Node, gateway_v4, gateway_v6};

/// A bridge with an address on a VLAN on a bond of the spare NICs.
pub const STACK: &str = "interfaces:
- name: bond0
  type: bond
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
  link-aggregation:
    mode: active-backup
    options: {miimon: 100}
    port: [eth1, eth2]
- name: bond0.100
  type: vlan
  state: up
  vlan: {base-iface: bond0, id: 100}
  ipv4: {enabled: false}
  ipv6: {enabled: false}
- name: br100
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.100.0.2, prefix-length: 24}]}
  ipv6: {enabled: false}
  bridge: {options: {stp: {enabled: false}}, port: [{name: bond0.100}]}
";

/// Nothing of it, and the NICs as nobody configured them.
pub const NO_STACK: &str = "interfaces:
- {name: br100, type: linux-bridge, state: absent}
- {name: bond0.100, type: vlan, state: absent}
- {name: bond0, type: bond, state: absent}
- {name: eth1, type: ethernet, state: absent}
- {name: eth2, type: ethernet, state: absent}
";

/// br-ex takes eth0 over with its addresses, gateways and DNS.
pub fn br_ex(node: &Node) -> String {
    format!(
        "interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    options: {{datapath: netdev}}
    port:
    - name: eth0
    - name: br-ex
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eth0
{}- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: false}}
  ipv6: {{enabled: false}}
{}dns-resolver:
  config: {{server: [{}], search: [lab.test]}}
",
        addresses(&node.mgmt_ipv4().to_string(), &node.mgmt_ipv6().to_string()),
        routes("br-ex"),
        gateway_v4(0),
    )
}

/// Back from br-ex: eth0 as `configure_static` left it.
pub fn eth0(node: &Node) -> String {
    format!(
        "interfaces:
- {{name: br-ex, type: ovs-interface, state: absent}}
- {{name: br-ex, type: ovs-bridge, state: absent}}
- name: eth0
  type: ethernet
  state: up
{}{}",
        addresses(&node.mgmt_ipv4().to_string(), &node.mgmt_ipv6().to_string()),
        routes("eth0"),
    )
}

/// Addresses in networks where nobody is: the node is cut off.
pub fn cut_off(interface: &str, kind: &str) -> String {
    format!(
        "interfaces:
- name: {interface}
  type: {kind}
  state: up
{}",
        addresses("10.77.0.2", "fd77::2"),
    )
}

fn addresses(v4: &str, v6: &str) -> String {
    format!(
        "  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {v4}, prefix-length: 24}}]}}
  ipv6: {{enabled: true, dhcp: false, autoconf: false, address: [{{ip: '{v6}', prefix-length: 64}}]}}
"
    )
}

fn routes(interface: &str) -> String {
    format!(
        "routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: {}, next-hop-interface: {interface}}}
  - {{destination: '::/0', next-hop-address: '{}', next-hop-interface: {interface}}}
",
        gateway_v4(0),
        gateway_v6(0),
    )
}
