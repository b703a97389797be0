//! One MachineConfig per role, with the documents of all its hosts: each host chooses its own.

use std::collections::BTreeMap;

use linesman_core::codes::day1::{BAD_ROLE, MACHINE_CONFIG_TOO_LARGE};
use linesman_core::yaml;
use serde_json::{Value, json};

use super::host_files::HostFiles;
use super::ignition::{self, SpecVersion};
use super::{Generated, GeneratedFile, disruption_policy};
use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::host::Host;
use crate::place::Place;

/// What the API server stores of one object, and the machine config operator of all that a pool has.
const MAX_BYTES: usize = 1_572_864;
/// Above this, what else a pool has may no longer fit beside it.
const LARGE: usize = 1024 * 1024;

/// The roles that every cluster has.
const USUAL_ROLES: [&str; 2] = ["master", "worker"];

pub fn all(cluster: &Cluster, version: SpecVersion, roles: &[String]) -> Result<Generated, Vec<Fault>> {
    let by_role = by_role(cluster, roles)?;
    let (mut generated, mut faults) = (Generated::default(), Vec::new());
    for (role, hosts) in by_role {
        let files = HostFiles::all(hosts, cluster.cluster_wide.as_deref());
        let is_secret = files.iter().any(|file| file.is_secret());
        let object = object(role, &ignition::config(version, &files));
        let bytes = object.to_string().len();
        if bytes > MAX_BYTES {
            faults.push(too_large(cluster, role, bytes));
        } else if bytes > LARGE {
            generated.notes.push(format!(
                "the MachineConfig of role {role} has {bytes} bytes; with what else its pool has, at most {MAX_BYTES} are allowed"
            ));
        }
        let name = format!("{}.yaml", name(role));
        generated.files.push(GeneratedFile { name, text: yaml::write(&object), is_secret });
    }
    generated.files.push(disruption_policy::file());
    if faults.is_empty() { Ok(generated) } else { Err(faults) }
}

/// The hosts of each role. Those without one belong to every role of `given`.
fn by_role<'a>(
    cluster: &'a Cluster,
    given: &'a [String],
) -> Result<BTreeMap<&'a str, Vec<&'a Host>>, Vec<Fault>> {
    let mut by_role: BTreeMap<&str, Vec<&Host>> = BTreeMap::new();
    let mut faults = Vec::new();
    for host in &cluster.hosts {
        match &host.role {
            Some(role) => by_role.entry(&role.value).or_default().push(host),
            None if given.is_empty() => faults.push(no_role(host)),
            None => given.iter().for_each(|role| by_role.entry(role).or_default().push(host)),
        }
    }
    if cluster.cluster_wide.is_some() {
        let usual = USUAL_ROLES.iter().copied().filter(|_| given.is_empty());
        for role in given.iter().map(String::as_str).chain(usual) {
            by_role.entry(role).or_default();
        }
    }
    if faults.is_empty() { Ok(by_role) } else { Err(faults) }
}

fn no_role(host: &Host) -> Fault {
    let place = host.name.as_ref().map_or(&host.place, |name| &name.place);
    let message = format!("the host '{}' has no role; a MachineConfig is for a role", host.title());
    place.fault(BAD_ROLE, message, "add 'role: master' or 'role: worker', or use --role")
}

fn too_large(cluster: &Cluster, role: &str, bytes: usize) -> Fault {
    let place = cluster.place.clone().unwrap_or_else(|| Place::file_name(0));
    let message =
        format!("the MachineConfig of role {role} would have {bytes} bytes; at most {MAX_BYTES} are allowed");
    let hint =
        "generate Ignition configs per host, or divide the hosts among several roles (machine config pools)";
    place.fault(MACHINE_CONFIG_TOO_LARGE, message, hint)
}

/// Read before what others add: pools merge MachineConfigs in the order of their names.
fn name(role: &str) -> String {
    format!("10-br-ex-{role}")
}

fn object(role: &str, config: &Value) -> Value {
    json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {
            "name": name(role),
            "labels": { "machineconfiguration.openshift.io/role": role },
        },
        "spec": { "config": config },
    })
}
