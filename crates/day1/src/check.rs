//! What can be known to be wrong before a host exists.

mod addresses;
mod br_ex;
mod configured;
mod copy_mac;
mod leading_zeros;
mod macs;
mod mtus;
mod names;
mod reserved;

use linesman_core::check::{self as document, Schema};
use linesman_core::diagnostic::Diagnostic;

use crate::cluster::Cluster;
use crate::configuration::Configuration;
use crate::fault::Fault;

/// Of the hosts together.
const OF_CLUSTER: &[fn(&Cluster) -> Vec<Fault>] = &[
    names::twice,
    macs::twice,
    configured::hosts_without_configuration,
    configured::configurations_without_host,
    addresses::on_two_hosts,
    addresses::on_every_host,
];

/// Of each document by itself, beyond what holds for every document. Paths are those in the state.
const OF_DOCUMENT: &[fn(&Configuration) -> Vec<Diagnostic>] =
    &[copy_mac::sources, mtus::types, mtus::order, reserved::names, leading_zeros::numbers];

pub fn check(cluster: &Cluster, schema: Schema<'_>) -> Vec<Fault> {
    let of_hosts = OF_CLUSTER.iter().flat_map(|check| check(cluster));
    let of_documents = cluster.configurations().flat_map(|(_, configuration)| {
        let found = of_document(configuration, cluster.needs_br_ex, schema);
        found.into_iter().map(|diagnostic| configuration.fault(diagnostic)).collect::<Vec<_>>()
    });
    of_hosts.chain(of_documents).collect()
}

fn of_document(configuration: &Configuration, needs_br_ex: bool, schema: Schema<'_>) -> Vec<Diagnostic> {
    let document = &configuration.document;
    // No cluster is reachable when the document is applied.
    let mut found = [document::check(document, schema), document::without_cluster(document)].concat();
    let own = OF_DOCUMENT.iter().flat_map(|check| check(configuration));
    let own = own.chain(br_ex::bridge(configuration.state(), needs_br_ex));
    // What is said about every document is not said again.
    let news: Vec<Diagnostic> =
        own.filter(|own| found.iter().all(|known| known.path != own.path || own.path.is_none())).collect();
    found.extend(news);
    found
}
