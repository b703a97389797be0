//! The address plan, the same in every lab: labs do not see each other.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Every hub has this many networks; NIC `ethN` of a node is plugged into network N.
pub const NETWORKS: u8 = 4;

/// 10.9.N.1, gateway, DNS and DHCP server of network N.
pub fn gateway_v4(network: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, network, 1)
}

/// fd09:0:0:N::1
pub fn gateway_v6(network: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfd09, 0, 0, network.into(), 0, 0, 0, 1)
}

/// Node 1 has host number 11: 10.9.N.11 and fd09:0:0:N::11, which read alike.
pub(crate) fn host_v4(network: u8, number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, network, 10 + number)
}

pub(crate) fn host_v6(network: u8, number: u8) -> Ipv6Addr {
    let host = 10 + u16::from(number);
    let alike = host / 10 * 16 + host % 10;
    Ipv6Addr::new(0xfd09, 0, 0, network.into(), 0, 0, 0, alike)
}

/// Stays the same when the node boots again, as hardware would.
pub(crate) fn mac(number: u8, nic: u8) -> String {
    format!("02:09:00:00:{number:02x}:{nic:02x}")
}

/// The hub's end of a NIC's cable.
pub(crate) fn port(number: u8, nic: u8) -> String {
    format!("p{number}.{nic}")
}

/// Host numbers above collide with the DHCP range (100 to 199).
pub(crate) const MOST_NODES: u8 = 80;

pub(crate) fn bridges() -> String {
    (0..NETWORKS)
        .map(|network| {
            let (v4, v6) = (gateway_v4(network), gateway_v6(network));
            // A MAC address of its own: else the gateway's would change with every node that comes and goes.
            format!(
                "link add net{network} address 02:09:ff:00:00:{network:02x} type bridge mcast_snooping 0\n\
                 addr add {v4}/24 dev net{network}\naddr add {v6}/64 dev net{network} nodad\nlink set net{network} up\n"
            )
        })
        .collect()
}

/// DHCP, router advertisements and DNS for `lab.test`; no server above it, since there is no uplink.
pub(crate) fn dnsmasq() -> String {
    let head = "user=root\npid-file=/run/dnsmasq.pid\nlog-facility=-\nno-resolv\nno-hosts\nno-ping\n\
                dhcp-authoritative\ndhcp-leasefile=/run/leases\nenable-ra\ndomain=lab.test\nlocal=/lab.test/\nlocal=/#/\n\
                hostsdir=/etc/lab/hosts\n";
    let gateway = format!("host-record=gateway.lab.test,{},{}\n", gateway_v4(0), gateway_v6(0));
    let ranges = (0..NETWORKS).map(|network| {
        format!(
            "interface=net{network}\ndhcp-range=10.9.{network}.100,10.9.{network}.199,1h\n\
             dhcp-range=::,constructor:net{network},ra-only,64\n"
        )
    });
    [head.to_owned(), gateway].into_iter().chain(ranges).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_read_alike() {
        assert_eq!(host_v4(0, 1).to_string(), "10.9.0.11");
        assert_eq!(host_v6(0, 1).to_string(), "fd09::11");
        assert_eq!(host_v6(1, 12).to_string(), "fd09:0:0:1::22");
    }

    #[test]
    fn no_node_reaches_into_the_dhcp_range() {
        assert!(host_v4(0, MOST_NODES).octets()[3] < 100);
    }
}
