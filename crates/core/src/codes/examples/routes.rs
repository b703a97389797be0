//! Routes and route rules.

use super::{Example, example};
use crate::codes::*;

pub(super) const EXAMPLES: &[Example] = &[
    example(
        BAD_DESTINATION,
        "\
routes:
  config:
  - {destination: default, next-hop-interface: eth1, next-hop-address: 192.0.2.254}
",
        "\
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: eth1, next-hop-address: 192.0.2.254}
",
    ),
    example(
        HOST_BITS,
        "\
routes:
  config:
  - {destination: 10.0.0.5/24, next-hop-interface: eth1}
",
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1}
",
    ),
    example(
        BAD_NEXT_HOP,
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1, next-hop-address: 192.0.2.254/24}
",
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1, next-hop-address: 192.0.2.254}
",
    ),
    example(
        NEXT_HOP_FAMILY,
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1, next-hop-address: 'fe80::1'}
",
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1, next-hop-address: 192.0.2.254}
",
    ),
    example(
        NO_WAY_OUT,
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-address: 192.0.2.254}
",
        "\
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-address: 192.0.2.254, next-hop-interface: eth1}
",
    ),
    example(
        ROUTES_OVERLAP,
        "\
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: eth1, next-hop-address: 192.0.2.254, metric: 100}
  - {destination: 0.0.0.0/0, next-hop-interface: eth2, next-hop-address: 198.51.100.254, metric: 100}
",
        "\
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: eth1, next-hop-address: 192.0.2.254, metric: 100}
  - {destination: 0.0.0.0/0, next-hop-interface: eth2, next-hop-address: 198.51.100.254, metric: 200}
",
    ),
    example(
        WAY_OUT_CLOSED,
        "\
interfaces:
- {name: eth1, type: ethernet, state: down}
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1}
",
        "\
interfaces:
- {name: eth1, type: ethernet, state: up}
routes:
  config:
  - {destination: 10.0.0.0/24, next-hop-interface: eth1}
",
    ),
    example(
        NO_DESTINATION,
        "\
routes:
  config:
  - {next-hop-interface: eth1, next-hop-address: 192.0.2.254}
",
        "\
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: eth1, next-hop-address: 192.0.2.254}
",
    ),
    example(
        RULE_PRIORITY,
        "\
route-rules:
  config:
  - {ip-from: 192.0.2.0/24, route-table: 200, priority: 4294967296}
",
        "\
route-rules:
  config:
  - {ip-from: 192.0.2.0/24, route-table: 200, priority: 1000}
",
    ),
    example(
        RULE_FAMILY,
        "\
route-rules:
  config:
  - {ip-from: 192.0.2.0/24, ip-to: '2001:db8::/64', route-table: 200}
",
        "\
route-rules:
  config:
  - {ip-from: 192.0.2.0/24, route-table: 200}
  - {ip-to: '2001:db8::/64', route-table: 200}
",
    ),
    example(
        RULE_NETWORK,
        "\
route-rules:
  config:
  - {ip-from: everywhere, route-table: 200}
",
        "\
route-rules:
  config:
  - {ip-from: 0.0.0.0/0, route-table: 200}
",
    ),
    example(
        RULE_WITHOUT_FAMILY,
        "\
route-rules:
  config:
  - {priority: 100, route-table: 200}
",
        "\
route-rules:
  config:
  - {priority: 100, route-table: 200, family: ipv4}
",
    ),
];
