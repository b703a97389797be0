//! Ports and their controllers.

use super::{Example, example};
use crate::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        PORT_TWICE,
        "\
interfaces:
- name: bond0
  type: bond
  link-aggregation:
    mode: active-backup
    port: [eth1, eth1]
",
        "\
interfaces:
- name: bond0
  type: bond
  link-aggregation:
    mode: active-backup
    port: [eth1, eth2]
",
    ),
    example(
        PORT_SHARED,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
- name: br2
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
- name: br2
  type: linux-bridge
  bridge: {port: [{name: eth2}]}
",
    ),
    example(
        OWN_PORT,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: br1}, {name: eth1}]}
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
",
    ),
    example(
        CYCLE,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: br1.5}]}
- name: br1.5
  type: vlan
  vlan: {base-iface: br1, id: 5}
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1.5}]}
- name: eth1.5
  type: vlan
  vlan: {base-iface: eth1, id: 5}
",
    ),
    example(
        PORT_WITH_IP,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
- name: eth1
  ipv4: {enabled: true, dhcp: true}
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
  ipv4: {enabled: true, dhcp: true}
",
    ),
    example(
        PORT_ABSENT,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: veth1}]}
- name: veth1
  state: absent
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: []}
- name: veth1
  state: absent
",
    ),
    example(
        CONTROLLER,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}]}
- name: eth2
  controller: br1
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge: {port: [{name: eth1}, {name: eth2}]}
- name: eth2
  controller: br1
",
    ),
    example(
        BAD_BRIDGE_VLAN,
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge:
    port:
    - name: eth1
      vlan: {mode: trunk, trunk-tags: [{id-range: {min: 300, max: 200}}]}
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  bridge:
    port:
    - name: eth1
      vlan: {mode: trunk, trunk-tags: [{id-range: {min: 200, max: 300}}]}
",
    ),
];
