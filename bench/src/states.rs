//! The states that are applied, and how to be rid of them again.

use std::fmt::Write;

use linesman_lab::Node;

pub fn bridges(count: usize) -> String {
    let mut text = "interfaces:\n".to_string();
    for n in 0..count {
        let _ = write!(
            text,
            "- name: br{n}
  type: linux-bridge
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: 10.20.{n}.1, prefix-length: 24}}]}}
  bridge: {{port: []}}
"
        );
    }
    text
}

pub fn no_bridges(count: usize) -> String {
    let mut text = "interfaces:\n".to_string();
    for n in 0..count {
        let _ = writeln!(text, "- {{name: br{n}, type: linux-bridge, state: absent}}");
    }
    text
}

pub fn br_ex(node: &Node) -> String {
    format!(
        "interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge: {{options: {{datapath: netdev}}, port: [{{name: eth0}}, {{name: br-ex}}]}}
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eth0
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {0}, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: false}}
  ipv6: {{enabled: false}}
routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: 10.9.0.1, next-hop-interface: br-ex}}
",
        node.mgmt_ipv4()
    )
}

pub fn no_br_ex(node: &Node) -> String {
    format!(
        "interfaces:
- {{name: br-ex, type: ovs-interface, state: absent}}
- {{name: br-ex, type: ovs-bridge, state: absent}}
{}",
        eth0(&node.mgmt_ipv4().to_string()).trim_start_matches("interfaces:\n")
    )
}

/// The node's own NIC with this address: the right one, or one that cuts it off.
pub fn eth0(address: &str) -> String {
    format!(
        "interfaces:
- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {address}, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: 10.9.0.1, next-hop-interface: eth0}}
"
    )
}
