//! Each host once.

use std::collections::HashMap;

use linesman_core::codes::day1::HOST_TWICE;

use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::host_name::HostName;
use crate::place::Written;

/// A host looks for the file of its short name, so two hosts cannot share that either.
pub fn twice(cluster: &Cluster) -> Vec<Fault> {
    let mut seen: HashMap<&str, &Written<HostName>> = HashMap::new();
    let names = cluster.hosts.iter().filter_map(|host| host.name.as_ref());
    names
        .filter_map(|name| {
            let first = *seen.entry(name.value.short()).or_insert(name);
            (!std::ptr::eq(first, name)).then(|| shared(name, first))
        })
        .collect()
}

fn shared(name: &Written<HostName>, first: &Written<HostName>) -> Fault {
    let line = first.place.line();
    if name.value == first.value {
        let message = format!("the host '{}' is already declared{line}", name.value);
        return name.place.fault(HOST_TWICE, message, "merge the two entries into one");
    }
    let message = format!(
        "the hosts '{}' and '{}'{line} have the same short name, which is the name of their file",
        name.value, first.value
    );
    name.place.fault(HOST_TWICE, message, "give one of them another short name")
}
