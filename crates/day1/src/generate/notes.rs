//! What a deployer should know, though nothing is wrong.

use crate::cluster::Cluster;
use crate::configuration::Configuration;
use crate::platform::names_hosts;

pub fn about(cluster: &Cluster) -> Vec<String> {
    let known = [cluster_wide(cluster), control_planes(cluster), secrets(cluster)];
    known.into_iter().flatten().collect()
}

fn cluster_wide(cluster: &Cluster) -> Option<String> {
    cluster.cluster_wide.as_ref()?;
    if let Some(platform) = cluster.platform.as_ref().filter(|platform| !names_hosts(&platform.value)) {
        return Some(format!(
            "the platform {} names hosts when it makes them, so the cluster-wide document is for every host",
            platform.value
        ));
    }
    Some(match cluster.hosts.is_empty() {
        true => "the cluster-wide document is for every host".to_owned(),
        false => "the cluster-wide document is for every host without a document of its own".to_owned(),
    })
}

fn control_planes(cluster: &Cluster) -> Option<String> {
    let replicas = cluster.control_planes.filter(|_| cluster.cluster_wide.is_none())?;
    let is_master = |role: &str| role == "master";
    let roles = cluster.hosts.iter().map(|host| host.role.as_ref().map(|role| is_master(&role.value)));
    let roles: Option<Vec<bool>> = roles.collect();
    let masters = u64::try_from(roles?.into_iter().filter(|is_master| *is_master).count()).ok()?;
    (masters != replicas).then(|| {
        format!("controlPlane.replicas is {replicas}, but the number of hosts with role master is {masters}")
    })
}

fn secrets(cluster: &Cluster) -> Option<String> {
    let of = |configuration: &Configuration| configuration.has_secret();
    let hosts: Vec<String> = cluster
        .configurations()
        .filter(|(_, configuration)| of(configuration))
        .map(|(host, _)| host.map_or_else(|| "cluster-wide".to_owned(), crate::host::Host::title))
        .collect();
    (!hosts.is_empty()).then(|| {
        format!(
            "secrets are written in clear, readable by whoever reads the Ignition config or the MachineConfig: {}",
            hosts.join(", ")
        )
    })
}
