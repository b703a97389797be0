//! The text itself, before it is a state.

use super::{Example, example};
use crate::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        NOT_YAML,
        "\
interfaces:
- name: eth1
  description: [the first NIC
  mtu: 9000
",
        "\
interfaces:
- name: eth1
  description: '[the first NIC'
  mtu: 9000
",
    ),
    Example {
        code: TOO_LARGE,
        wrong: "\
interfaces:
# … and 4 MiB of this:
- {name: dummy1, type: dummy}
",
        right: None,
    },
    example(
        EMPTY,
        "\
# interfaces:
# - name: eth1
",
        "\
interfaces:
- name: eth1
",
    ),
    example(
        SEVERAL_DOCUMENTS,
        "\
interfaces:
- name: eth1
---
interfaces:
- name: eth2
",
        "\
interfaces:
- name: eth1
- name: eth2
",
    ),
    example(
        DUPLICATE_KEY,
        "\
interfaces:
- name: eth1
  mtu: 1500
  mtu: 9000
",
        "\
interfaces:
- name: eth1
  mtu: 9000
",
    ),
    example(
        TOO_DEEP,
        "\
interfaces: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{name: eth1}
  ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
",
        "\
interfaces: [{name: eth1}]
",
    ),
    example(
        ALIASES,
        "\
interfaces: &all
- name: eth1
  description: *all
",
        "\
interfaces:
- name: eth1
  description: the first NIC
",
    ),
    example(
        TAB,
        "\
interfaces:
- name: eth1
\tmtu: 9000
",
        "\
interfaces:
- name: eth1
  mtu: 9000
",
    ),
    example(
        NOT_A_KEY,
        "\
interfaces:
- name: eth1
  [ipv4, ipv6]: {enabled: false}
",
        "\
interfaces:
- name: eth1
  ipv4: {enabled: false}
  ipv6: {enabled: false}
",
    ),
    example(
        UNSUPPORTED_VALUE,
        "\
interfaces:
- name: eth1
  mtu: .inf
",
        "\
interfaces:
- name: eth1
  mtu: 9000
",
    ),
    example(
        NOT_A_STATE,
        "\
- name: eth1
  mtu: 9000
",
        "\
interfaces:
- name: eth1
  mtu: 9000
",
    ),
    example(
        WRONG_KIND,
        "\
apiVersion: nmstate.io/v1
kind: NMState
metadata:
  name: nmstate
",
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: jumbo-frames
spec:
  desiredState:
    interfaces:
    - name: eth1
      mtu: 9000
",
    ),
    example(
        NO_STATE,
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: jumbo-frames
spec:
  nodeSelector: {}
",
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: jumbo-frames
spec:
  nodeSelector: {}
  desiredState:
    interfaces:
    - name: eth1
      mtu: 9000
",
    ),
    example(
        UNKNOWN_KEY,
        "\
interface:
- name: eth1
",
        "\
interfaces:
- name: eth1
",
    ),
    example(
        UNKNOWN_FIELD,
        "\
interfaces:
- name: eth1
  type: ethernet
  mut: 9000
",
        "\
interfaces:
- name: eth1
  type: ethernet
  mtu: 9000
",
    ),
    example(
        WRONG_TYPE,
        "\
interfaces:
- name: eth1
  type: ethernet
  mtu: large
",
        "\
interfaces:
- name: eth1
  type: ethernet
  mtu: 9000
",
    ),
    example(
        MISSING_FIELD,
        "\
interfaces:
- name: hsr0
  type: hsr
  hsr:
    port1: eth1
    port2: eth2
    protocol: prp
",
        "\
interfaces:
- name: hsr0
  type: hsr
  hsr:
    port1: eth1
    port2: eth2
    protocol: prp
    multicast-spec: 40
",
    ),
    example(
        WRONG_OPTION,
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: storage
spec:
  onRemove: Revert
  desiredState:
    interfaces:
    - name: eth1
",
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: storage
spec:
  onDelete: Revert
  desiredState:
    interfaces:
    - name: eth1
",
    ),
    example(
        CLEAR_SECRET,
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: doors
spec:
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      802.1x:
        eap-methods: [tls]
        identity: host-1
        private-key: /etc/pki/host-1.key
        private-key-password: open sesame
",
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: doors
spec:
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      802.1x:
        eap-methods: [tls]
        identity: host-1
        private-key: /etc/pki/host-1.key
        private-key-password: {secretKeyRef: {name: doors, key: host-1}}
",
    ),
    example(
        SECRET_NEEDS_CLUSTER,
        "\
interfaces:
- name: eth1
  type: ethernet
  802.1x:
    eap-methods: [tls]
    identity: host-1
    private-key: /etc/pki/host-1.key
    private-key-password: {secretKeyRef: {name: doors, key: host-1}}
",
        "\
interfaces:
- name: eth1
  type: ethernet
  802.1x:
    eap-methods: [tls]
    identity: host-1
    private-key: /etc/pki/host-1.key
    private-key-password: open sesame
",
    ),
    example(
        NEEDS_CLUSTER,
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: storage
spec:
  probes: [gateway, apiServer]
  desiredState:
    interfaces:
    - name: eth1
",
        "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: storage
spec:
  probes: [gateway, 'tcp:10.0.0.5:6443']
  desiredState:
    interfaces:
    - name: eth1
",
    ),
    Example {
        code: CONTRADICTION,
        wrong: "\
# office.yaml
interfaces:
- name: eth1
  mtu: 1500
---
# storage.yaml
interfaces:
- name: eth1
  mtu: 9000
",
        right: None,
    },
];
