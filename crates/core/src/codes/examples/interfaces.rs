//! Names, types and what every interface has.

use super::{Example, example};
use crate::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        UNNAMED,
        "\
interfaces:
- type: ethernet
  identifier: mac-address
  mac-address: 52:54:00:aa:00:01
",
        "\
interfaces:
- name: uplink
  type: ethernet
  identifier: mac-address
  mac-address: 52:54:00:aa:00:01
",
    ),
    example(
        BAD_NAME,
        "\
interfaces:
- name: br/storage
  type: linux-bridge
",
        "\
interfaces:
- name: br-storage
  type: linux-bridge
",
    ),
    example(
        LONG_NAME,
        "\
interfaces:
- name: storage-bridge-1
  type: linux-bridge
",
        "\
interfaces:
- name: br-storage-1
  type: linux-bridge
",
    ),
    example(
        INTERFACE_TWICE,
        "\
interfaces:
- {name: eth1, type: ethernet, mtu: 9000}
- {name: eth1, type: ethernet, ipv4: {enabled: false}}
",
        "\
interfaces:
- {name: eth1, type: ethernet, mtu: 9000, ipv4: {enabled: false}}
",
    ),
    example(
        UNKNOWN_TYPE,
        "\
interfaces:
- name: br1
  type: bridge
",
        "\
interfaces:
- name: br1
  type: linux-bridge
",
    ),
    example(
        RESERVED,
        "\
interfaces:
- name: br-int
  type: ovs-bridge
",
        "\
interfaces:
- name: br-tenants
  type: ovs-bridge
",
    ),
    example(
        BAD_MAC,
        "\
interfaces:
- name: br1
  type: linux-bridge
  mac-address: 52:54:00:aa:01
",
        "\
interfaces:
- name: br1
  type: linux-bridge
  mac-address: 52:54:00:aa:00:01
",
    ),
    example(
        BAD_MTU,
        "\
interfaces:
- name: eth1
  type: ethernet
  mtu: 1000
  ipv6: {enabled: true}
",
        "\
interfaces:
- name: eth1
  type: ethernet
  mtu: 1280
  ipv6: {enabled: true}
",
    ),
    example(
        IDENTIFIER,
        "\
interfaces:
- name: uplink
  type: ethernet
  identifier: mac-address
",
        "\
interfaces:
- name: uplink
  type: ethernet
  identifier: mac-address
  mac-address: 52:54:00:aa:00:01
",
    ),
    example(
        NO_PREFIX,
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - ip: 192.0.2.1
",
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - ip: 192.0.2.1
      prefix-length: 24
",
    ),
    example(
        BAD_ADDRESS,
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - {ip: 192.0.2.1/24, prefix-length: 24}
",
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - {ip: 192.0.2.1, prefix-length: 24}
",
    ),
    example(
        BAD_PREFIX,
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - {ip: 192.0.2.1, prefix-length: 64}
",
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - {ip: 192.0.2.1, prefix-length: 24}
",
    ),
    example(
        WRONG_FAMILY,
        "\
interfaces:
- name: eth1
  ipv4:
    enabled: true
    address:
    - {ip: '2001:db8::1', prefix-length: 64}
",
        "\
interfaces:
- name: eth1
  ipv6:
    enabled: true
    address:
    - {ip: '2001:db8::1', prefix-length: 64}
",
    ),
    example(
        ADDRESS_TWICE,
        "\
interfaces:
- name: eth1
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}
- name: eth2
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}
",
        "\
interfaces:
- name: eth1
  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}
- name: eth2
  ipv4: {enabled: true, address: [{ip: 198.51.100.1, prefix-length: 24}]}
",
    ),
    example(
        BAD_DNS_SERVER,
        "\
dns-resolver:
  config:
    server: [dns.example.org]
",
        "\
dns-resolver:
  config:
    server: [192.0.2.53]
",
    ),
    example(
        BAD_HOSTNAME,
        "\
hostname:
  config: worker 7
",
        "\
hostname:
  config: worker-7
",
    ),
];
