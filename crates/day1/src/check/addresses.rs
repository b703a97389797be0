//! Static addresses belong to one host: aliases and cluster-wide documents give them to several.

use std::collections::HashMap;
use std::net::IpAddr;

use linesman_core::codes::day1::ADDRESS_ON_TWO_HOSTS;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::path::Path;
use linesman_core::state::{self, at, interfaces, is_up, kind, list, name, text};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::fault::Fault;

pub fn on_two_hosts(cluster: &Cluster) -> Vec<Fault> {
    let mut seen: HashMap<IpAddr, String> = HashMap::new();
    let mut faults = Vec::new();
    for host in &cluster.hosts {
        let Some(configuration) = host.network.configuration() else { continue };
        for (path, address) in addresses(configuration.state()) {
            let first = seen.entry(address).or_insert_with(|| host.title());
            if *first != host.title() {
                let message =
                    format!("the address {address} of '{}' is also that of '{first}'", host.title());
                let hint = "give each host an address of its own; an alias copies addresses, too";
                let diagnostic = Diagnostic::new(ADDRESS_ON_TWO_HOSTS, message).at(path).hint(hint);
                faults.push(configuration.fault(diagnostic));
            }
        }
    }
    faults
}

pub fn on_every_host(cluster: &Cluster) -> Vec<Fault> {
    let Some(configuration) = &cluster.cluster_wide else { return Vec::new() };
    let found = addresses(configuration.state()).into_iter().map(|(path, address)| {
        let message = format!("the cluster-wide document gives the address {address} to every host");
        let hint = "use DHCP here, or give each host a document of its own";
        configuration.fault(Diagnostic::new(ADDRESS_ON_TWO_HOSTS, message).at(path).hint(hint))
    });
    found.collect()
}

/// Those of links that hosts share. A loopback or dummy interface may have an anycast address, a VRF addresses of a network
/// of its own, and a bridge without ports leads to nobody outside its host.
fn addresses(state: &Value) -> Vec<(Path, IpAddr)> {
    let in_vrf: Vec<&str> = interfaces(state)
        .iter()
        .filter(|interface| kind(interface) == InterfaceKind::Vrf)
        .filter_map(state::ports)
        .flatten()
        .collect();
    let shared = |interface: &Value| {
        !matches!(kind(interface), InterfaceKind::Loopback | InterfaceKind::Dummy)
            && name(interface) != "lo"
            && !is_internal(interface)
            && !in_vrf.contains(&name(interface))
    };
    let path = Path::root().key("interfaces");
    let ours = interfaces(state).iter().enumerate().filter(|(_, it)| is_up(it) && shared(it));
    ours.flat_map(|(index, interface)| of_interface(interface, &path.index(index))).collect()
}

fn is_internal(interface: &Value) -> bool {
    kind(interface) == InterfaceKind::LinuxBridge
        && state::ports(interface).is_none_or(|ports| ports.is_empty())
}

fn of_interface(interface: &Value, path: &Path) -> Vec<(Path, IpAddr)> {
    let enabled = |family: &&str| at(interface, &[family, "enabled"]) != Some(&Value::Bool(false));
    let families = ["ipv4", "ipv6"].into_iter().filter(enabled);
    families
        .flat_map(|family| {
            let entries = list(interface, &[family, "address"]).iter().enumerate();
            entries.filter_map(move |(index, entry)| {
                let address: IpAddr = text(entry, "ip")?.parse().ok()?;
                (!is_link_local(address))
                    .then(|| (path.key(family).key("address").index(index).key("ip"), address))
            })
        })
        .collect()
}

/// Such an address means something on its link only; OVN-Kubernetes has one per node.
fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}
