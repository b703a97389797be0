//! What `linesman import` reads: profiles and netplan files.

use super::{Example, example};
use crate::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        NOT_IMPORTABLE,
        "\
interfaces:
- name: eth1
",
        "\
[connection]
id=eth1
type=ethernet
interface-name=eth1
",
    ),
    example(
        NOT_A_PROFILE,
        "\
[connection]
id=eth1
interface-name=eth1
",
        "\
[connection]
id=eth1
type=ethernet
interface-name=eth1
",
    ),
    example(
        NOT_NETPLAN,
        "\
network:
  version: 2
ethernets:
  eth1: {}
",
        "\
network:
  version: 2
  ethernets:
    eth1: {}
",
    ),
    example(
        BAD_SETTING,
        "\
network:
  version: 2
  ethernets:
    eth1:
      addresses: [192.0.2.300/24]
",
        "\
network:
  version: 2
  ethernets:
    eth1:
      addresses: [192.0.2.30/24]
",
    ),
];
