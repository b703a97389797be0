//! Documents that only a host can refuse. The host of these examples is `cases/explain/host.yaml`: eth0 has
//! 10.9.0.2/24, eth1 is idle, eth2 is a port of the bridge br1, and br-ex is an Open vSwitch
//! bridge.

use super::{Example, example};
use crate::plan::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        UNKNOWN_PORT,
        "\
interfaces:
- {name: br2, type: linux-bridge, state: up, bridge: {port: [{name: eht1}]}}
",
        "\
interfaces:
- {name: br2, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}
",
    ),
    example(
        UNKNOWN_BASE,
        "\
interfaces:
- {name: storage, type: vlan, state: up, vlan: {base-iface: eth7, id: 210}}
",
        "\
interfaces:
- {name: storage, type: vlan, state: up, vlan: {base-iface: eth1, id: 210}}
",
    ),
    example(
        UNKNOWN_NEXT_HOP,
        "\
routes:
  config:
  - {destination: 10.1.0.0/16, next-hop-interface: eht0, next-hop-address: 10.9.0.7}
",
        "\
routes:
  config:
  - {destination: 10.1.0.0/16, next-hop-interface: eth0, next-hop-address: 10.9.0.7}
",
    ),
    example(
        UNKNOWN_MAC_SOURCE,
        "\
interfaces:
- {name: br2, type: linux-bridge, state: up, copy-mac-from: eht1}
",
        "\
interfaces:
- {name: br2, type: linux-bridge, state: up, copy-mac-from: eth1}
",
    ),
    example(
        ADDRESS_TAKEN,
        "\
interfaces:
- name: eth1
  ipv4: {enabled: true, address: [{ip: 10.9.0.2, prefix-length: 24}]}
",
        "\
interfaces:
- name: eth0
  ipv4: {enabled: false}
- name: eth1
  ipv4: {enabled: true, address: [{ip: 10.9.0.2, prefix-length: 24}]}
",
    ),
    example(
        MTU_ABOVE_BASE,
        "\
interfaces:
- {name: storage, type: vlan, state: up, mtu: 9000, vlan: {base-iface: eth1, id: 210}}
",
        "\
interfaces:
- {name: eth1, type: ethernet, state: up, mtu: 9000}
- {name: storage, type: vlan, state: up, mtu: 9000, vlan: {base-iface: eth1, id: 210}}
",
    ),
    example(
        BASE_GOES,
        "\
interfaces:
- {name: br1, type: linux-bridge, state: absent}
- {name: br1.5, type: vlan, state: up, vlan: {base-iface: br1, id: 5}}
",
        "\
interfaces:
- {name: br1, type: linux-bridge, state: absent}
- {name: eth1.5, type: vlan, state: up, vlan: {base-iface: eth1, id: 5}}
",
    ),
    Example {
        code: OVS_NOT_RUNNING,
        wrong: "\
interfaces:
- {name: br-tenants, type: ovs-bridge, state: up}
",
        right: None,
    },
    example(
        LOOPBACK,
        "\
interfaces:
- {name: lo, type: loopback, state: up, ipv4: {enabled: false}}
",
        "\
interfaces:
- name: lo
  type: loopback
  state: up
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 32}]}
",
    ),
    example(
        UNKNOWN_INTERFACE,
        "\
interfaces:
- {name: eth9, type: ethernet, state: up, mtu: 1400}
",
        "\
interfaces:
- {name: eth1, type: ethernet, state: up, mtu: 1400}
",
    ),
    example(
        AMBIGUOUS_INTERFACE,
        "\
interfaces:
- {name: br-ex, state: up, mtu: 1400}
",
        "\
interfaces:
- {name: br-ex, type: ovs-interface, state: up, mtu: 1400}
",
    ),
    example(
        OTHER_TYPE,
        "\
interfaces:
- {name: eth1, type: linux-bridge, state: up}
",
        "\
interfaces:
- {name: br2, type: linux-bridge, state: up}
",
    ),
    example(
        NO_SUCH_DEVICE,
        "\
interfaces:
- {name: uplink, type: ethernet, state: up, identifier: mac-address, mac-address: '52:54:00:AA:00:77'}
",
        "\
interfaces:
- {name: uplink, type: ethernet, state: up, identifier: mac-address, mac-address: '52:54:00:AA:00:01'}
",
    ),
    example(
        MTU_OUT_OF_RANGE,
        "\
interfaces:
- {name: eth1, type: ethernet, state: up, mtu: 16000}
",
        "\
interfaces:
- {name: eth1, type: ethernet, state: up, mtu: 9000}
",
    ),
    example(
        UNKNOWN_CONTROLLER,
        "\
interfaces:
- {name: eth1, type: ethernet, state: up, controller: br9}
",
        "\
interfaces:
- {name: eth1, type: ethernet, state: up, controller: br1}
",
    ),
    example(
        NEXT_HOP_UNUSABLE,
        "\
routes:
  config:
  - {destination: 10.1.0.0/16, next-hop-interface: eth1}
",
        "\
interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}
routes:
  config:
  - {destination: 10.1.0.0/16, next-hop-interface: eth1}
",
    ),
    example(
        PORT_WITH_ADDRESS,
        "\
interfaces:
- name: eth2
  type: ethernet
  state: up
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  state: up
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}
",
    ),
    example(
        INCOMPLETE,
        "\
interfaces:
- {name: bond0, type: bond, state: up}
",
        "\
interfaces:
- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth1]}}
",
    ),
    example(
        UNKNOWN_MAPPED_BRIDGE,
        "\
ovn:
  bridge-mappings: [{localnet: physnet, bridge: br-eks}]
",
        "\
ovn:
  bridge-mappings: [{localnet: physnet, bridge: br-ex}]
",
    ),
    Example {
        code: KERNEL_LACKS_TYPE,
        wrong: "\
interfaces:
- {name: vrf1, type: vrf, state: up, vrf: {route-table-id: 100, port: [eth1]}}
",
        right: None,
    },
];
