//! An install-config: `networking.hostConfig[]`, and what else it tells about hosts.

use std::collections::BTreeMap;

use crate::cluster::{Cluster, Expected};
use crate::cursor::Cursor;
use crate::fault::{Fault, OrNote};
use crate::host::{self, Fields, Host, Network};
use crate::host_file::CLUSTER_WIDE;
use crate::place::Written;

const KEYS: [&str; 4] = ["name", "macs", "role", "networkConfig"];

/// The network plugin that needs br-ex.
const OVN: &str = "OVNKubernetes";

pub fn read(file: &Cursor<'_>, cluster: &mut Cluster) -> Vec<Fault> {
    let mut faults = Vec::new();
    cluster.platform = platform(file);
    cluster.needs_br_ex = file
        .find(&["networking", "networkType"])
        .is_none_or(|plugin| plugin.node.as_str().is_none_or(|plugin| plugin == OVN));
    cluster.control_planes = replicas(file);
    if let Some(hosts) = file.find(&["platform", "baremetal", "hosts"]) {
        cluster.expected = expected(&hosts, &mut faults);
    }
    if let Some(hosts) = file.find(&["networking", "hostConfig"]) {
        cluster.place = Some(hosts.place());
        let items = hosts.items().or_note(&mut faults).unwrap_or_default();
        items.iter().for_each(|item| entry(item, cluster, &mut faults));
    }
    faults
}

fn platform(file: &Cursor<'_>) -> Option<Written<String>> {
    let platform = file.get("platform")?;
    let name = platform.node.entries()?.first()?.key.clone();
    let place = platform.get(&name).map_or_else(|| platform.place(), |named| named.place());
    Some(Written { value: name.clone(), text: name, place })
}

fn replicas(file: &Cursor<'_>) -> Option<u64> {
    file.find(&["controlPlane", "replicas"])?.node.to_value().as_u64()
}

/// The installer has rules of its own for this list; what it lacks here is not ours to say.
fn expected(hosts: &Cursor<'_>, faults: &mut Vec<Fault>) -> Vec<Expected> {
    let items = hosts.items().or_note(faults).unwrap_or_default();
    let expected = items.iter().filter_map(|item| {
        Some(Expected {
            name: host::host_name(&item.get("name")?).ok()?,
            boot_mac: item.get("bootMACAddress").and_then(|mac| host::mac_address(&mac).ok()),
            role: item.get("role").and_then(|role| host::role(&role).ok()),
        })
    });
    expected.collect()
}

fn entry(item: &Cursor<'_>, cluster: &mut Cluster, faults: &mut Vec<Fault>) {
    if item.must_be_mapping().or_note(faults).is_none() {
        return;
    }
    faults.extend(item.unknown_keys(&KEYS));
    let network = Network::read(item.get("networkConfig"), faults);
    let name = item.get("name");
    if name.as_ref().and_then(|name| name.node.as_str()) == Some(CLUSTER_WIDE) {
        return cluster.set_cluster_wide(network, &item.place(), faults);
    }
    let macs = item.get("macs").and_then(|macs| macs.items().or_note(faults)).unwrap_or_default();
    let hint = "add 'name:' or 'macs:'; 'name: cluster' is for every host without an entry of its own";
    let host = Host::read(item, &Fields { name, macs, nics: BTreeMap::new(), hint }, network, faults);
    cluster.hosts.push(host);
}
