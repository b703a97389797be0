//! Every host has a configuration, and every configuration a host.

use linesman_core::codes::day1::{NO_CONFIGURATION, NO_HOST};

use crate::cluster::{Cluster, Expected};
use crate::fault::Fault;
use crate::host::{Host, Network};
use crate::platform::names_hosts;

pub fn hosts_without_configuration(cluster: &Cluster) -> Vec<Fault> {
    if cluster.has_cluster_wide() {
        return Vec::new();
    }
    let declared = cluster.hosts.iter().filter(|host| matches!(host.network, Network::Missing));
    let declared = declared.map(|host| no_configuration(&host.title(), &host.place));
    let forgotten = cluster.expected.iter().filter(|known| {
        // Without any host of ours, this install-config is not about the network of hosts.
        !cluster.hosts.is_empty() && host_of(cluster, known).is_none()
    });
    let forgotten = forgotten.map(|known| no_configuration(known.name.value.as_str(), &known.name.place));
    declared.chain(forgotten).collect()
}

fn no_configuration(host: &str, place: &crate::place::Place) -> Fault {
    let hint = "add its 'networkConfig', or a cluster-wide one ('name: cluster', or the file cluster.yml)";
    place.fault(NO_CONFIGURATION, format!("the host '{host}' has no network configuration"), hint)
}

fn host_of<'a>(cluster: &'a Cluster, known: &Expected) -> Option<&'a Host> {
    let is_boot_mac = |host: &Host| {
        known.boot_mac.as_ref().is_some_and(|boot| host.macs.iter().any(|mac| mac.value == boot.value))
    };
    let is_named = |host: &Host| host.name.as_ref().is_some_and(|name| name.value == known.name.value);
    cluster.hosts.iter().find(|host| is_named(host) || is_boot_mac(host))
}

pub fn configurations_without_host(cluster: &Cluster) -> Vec<Fault> {
    let of_nobody = cluster.hosts.iter().filter_map(|host| nobody(cluster, host));
    of_nobody.collect()
}

fn nobody(cluster: &Cluster, host: &Host) -> Option<Fault> {
    let place = host.name.as_ref().map_or(&host.place, |name| &name.place);
    if let Some(platform) = cluster.platform.as_ref().filter(|platform| !names_hosts(&platform.value)) {
        let message = format!(
            "no host is known as '{}' before it exists: the platform {} names hosts when it makes them",
            host.title(),
            platform.value
        );
        let hint = "declare one network for all hosts, as 'name: cluster'";
        return Some(place.fault(NO_HOST, message, hint));
    }
    let is_listed = |known: &Expected| host_of(cluster, known).is_some_and(|found| std::ptr::eq(found, host));
    if cluster.expected.is_empty() || host.name.is_none() || cluster.expected.iter().any(is_listed) {
        return None;
    }
    let message = format!("no host of the platform is called '{}'", host.title());
    Some(place.fault(NO_HOST, message, "use a name of 'platform.baremetal.hosts', or remove this entry"))
}
