//! The states that are applied, and how to be rid of them again.

use std::fmt::Write;

use linesman_lab::{Node, documents};

pub fn bridges(count: usize) -> String {
    bridges_in(0..count)
}

pub fn bridges_in(numbers: std::ops::Range<usize>) -> String {
    let mut text = "interfaces:\n".to_string();
    for n in numbers {
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

/// br-ex without IPv6: with it, nmstate's own verification fails on a userspace bridge now and then,
/// because it asks the profile of the bridge's tun device for the address method.
pub fn br_ex(node: &Node) -> String {
    let keep = |line: &&str| !line.contains("::/0");
    let plain = |line: &str| {
        if line.contains("ipv6: {enabled: true") {
            "  ipv6: {enabled: false}".to_string()
        } else {
            line.to_string()
        }
    };
    documents::br_ex(node).lines().filter(keep).map(plain).collect::<Vec<_>>().join("\n")
}
