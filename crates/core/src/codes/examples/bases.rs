//! Interfaces that are built on others, and what each kind needs.

use super::{Example, example};
use crate::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        BAD_VLAN_ID,
        "\
interfaces:
- name: eth1.4095
  type: vlan
  vlan: {base-iface: eth1, id: 4095}
",
        "\
interfaces:
- name: eth1.210
  type: vlan
  vlan: {base-iface: eth1, id: 210}
",
    ),
    example(
        NO_BASE,
        "\
interfaces:
- name: storage
  type: vlan
  vlan: {id: 210}
",
        "\
interfaces:
- name: storage
  type: vlan
  vlan: {id: 210, base-iface: eth1}
",
    ),
    example(
        BASE_ABSENT,
        "\
interfaces:
- name: bond0
  type: bond
  state: absent
- name: bond0.210
  type: vlan
  vlan: {id: 210, base-iface: bond0}
",
        "\
interfaces:
- name: bond0
  type: bond
  state: absent
- name: bond0.210
  type: vlan
  state: absent
",
    ),
    example(
        BAD_VXLAN_ID,
        "\
interfaces:
- name: vxlan1
  type: vxlan
  vxlan: {id: 16777216, base-iface: eth1, remote: 192.0.2.2}
",
        "\
interfaces:
- name: vxlan1
  type: vxlan
  vxlan: {id: 42, base-iface: eth1, remote: 192.0.2.2}
",
    ),
    example(
        VETH_PEER,
        "\
interfaces:
- name: left
  type: veth
  veth: {}
",
        "\
interfaces:
- name: left
  type: veth
  veth: {peer: right}
",
    ),
    example(
        MAC_VLAN_MODE,
        "\
interfaces:
- name: mv1
  type: mac-vlan
  mac-vlan: {base-iface: eth1}
",
        "\
interfaces:
- name: mv1
  type: mac-vlan
  mac-vlan: {base-iface: eth1, mode: bridge}
",
    ),
    example(
        VRF_TABLE,
        "\
interfaces:
- name: red
  type: vrf
  vrf: {port: [eth1]}
",
        "\
interfaces:
- name: red
  type: vrf
  vrf: {port: [eth1], route-table-id: 100}
",
    ),
];
