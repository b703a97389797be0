//! Parts of state documents.

use linesman_lab::{gateway_v4, gateway_v6};

use super::site::Site;

/// The node's own.
pub fn static_addresses(site: &Site) -> String {
    let node = &site.host.node;
    format!(
        "  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {}, prefix-length: 24}}]}}
  ipv6: {{enabled: true, dhcp: false, autoconf: false, address: [{{ip: '{}', prefix-length: 64}}]}}
",
        node.mgmt_ipv4(),
        node.mgmt_ipv6(),
    )
}

/// By the hub, which also resolves names.
pub fn routes(interface: &str) -> String {
    let (v4, v6) = (gateway_v4(0), gateway_v6(0));
    format!(
        "routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: {v4}, next-hop-interface: {interface}}}
  - {{destination: '::/0', next-hop-address: '{v6}', next-hop-interface: {interface}}}
dns-resolver:
  config: {{server: [{v4}]}}
",
    )
}

/// A bond without addresses; the mode and its options as YAML.
pub fn bond(name: &str, mode: &str, options: &str, ports: &[&str]) -> String {
    format!(
        "- name: {name}
  type: bond
  state: up
  ipv4: {{enabled: false}}
  ipv6: {{enabled: false}}
  link-aggregation: {{mode: {mode}, options: {{{options}}}, port: [{}]}}
",
        ports.join(", ")
    )
}

/// As the first thing of an interface: the rest is up to the caller.
pub fn vlan(base: &str, tag: u16, addresses: &str) -> String {
    format!(
        "- name: {base}.{tag}
  type: vlan
  state: up
  vlan: {{base-iface: {base}, id: {tag}}}
{addresses}"
    )
}

pub const NO_ADDRESSES: &str = "  ipv4: {enabled: false}
  ipv6: {enabled: false}
";

/// One IPv4 address, of a /24.
pub fn address(ip: &str) -> String {
    format!(
        "  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {ip}, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
"
    )
}

/// eth0 without addresses: something else has them.
pub fn bare_eth0() -> String {
    format!("- name: eth0\n  type: ethernet\n  state: up\n{NO_ADDRESSES}")
}

/// eth0 as it was at first, and none of these; their NICs are given up.
pub fn plain(site: &Site, absent: &[(&str, &str)]) -> String {
    let absent: String = absent
        .iter()
        .map(|(name, kind)| format!("- {{name: {name}, type: {kind}, state: absent}}\n"))
        .collect();
    format!(
        "interfaces:
{absent}- name: eth0
  type: ethernet
  state: up
{}{}",
        static_addresses(site),
        routes("eth0"),
    )
}
