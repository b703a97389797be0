//! A file with the NMState document of one host, named after it, or of all hosts: `cluster.yml`.

use std::collections::BTreeMap;

use crate::cluster::Cluster;
use crate::cursor::Cursor;
use crate::fault::{Fault, OrNote};
use crate::host::{self, Host, Network};
use crate::place::Place;

/// What the document for hosts without one of their own is called.
pub const CLUSTER_WIDE: &str = "cluster";

pub fn read(file: &Cursor<'_>, stem: &str, cluster: &mut Cluster) -> Vec<Fault> {
    let mut faults = Vec::new();
    let place = Place::file_name(file.file);
    let network = Network::read(Some(file.clone()), &mut faults);
    if stem == CLUSTER_WIDE {
        cluster.set_cluster_wide(network, &place, &mut faults);
        return faults;
    }
    let name = host::named(stem, place.clone()).or_note(&mut faults);
    cluster.place.get_or_insert_with(|| place.clone());
    cluster.hosts.push(Host { name, macs: Vec::new(), nics: BTreeMap::new(), role: None, network, place });
    faults
}
