//! The states that are applied, and how to be rid of them again.

use std::fmt::Write;

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
