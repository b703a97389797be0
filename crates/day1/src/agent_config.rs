//! An agent-config: `hosts[]` with `hostname`, `interfaces[].macAddress` and `networkConfig`.

use std::collections::BTreeMap;

use linesman_core::codes::MISSING_FIELD;
use linesman_core::mac_address::MacAddress;

use crate::cluster::Cluster;
use crate::cursor::Cursor;
use crate::fault::{Fault, OrNote};
use crate::host::{Fields, Host, Network};

const KEYS: [&str; 5] = ["hostname", "role", "interfaces", "rootDeviceHints", "networkConfig"];

pub fn read(file: &Cursor<'_>, cluster: &mut Cluster) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Some(hosts) = file.get("hosts") else { return faults };
    cluster.place.get_or_insert_with(|| hosts.place());
    let items = hosts.items().or_note(&mut faults).unwrap_or_default();
    items.iter().for_each(|item| entry(item, cluster, &mut faults));
    faults
}

fn entry(item: &Cursor<'_>, cluster: &mut Cluster, faults: &mut Vec<Fault>) {
    if item.must_be_mapping().or_note(faults).is_none() {
        return;
    }
    faults.extend(item.misspelt_keys(&KEYS));
    let network = Network::read(item.get("networkConfig"), faults);
    let macs = macs(item, faults);
    let hint = "add 'hostname:', or 'interfaces:' with the MAC address of a NIC";
    let fields = Fields { name: item.get("hostname"), macs, nics: nics(item), hint };
    let host = Host::read(item, &fields, network, faults);
    cluster.hosts.push(host);
}

fn macs<'a>(item: &Cursor<'a>, faults: &mut Vec<Fault>) -> Vec<Cursor<'a>> {
    let Some(list) = item.get("interfaces") else { return Vec::new() };
    let nics = list.items().or_note(faults).unwrap_or_default();
    let mac = |nic: &Cursor<'a>| {
        let hint = "add 'macAddress:', by which the host is recognised";
        nic.get("macAddress")
            .ok_or_else(|| nic.place().fault(MISSING_FIELD, "this NIC has no MAC address", hint))
    };
    nics.iter().filter_map(|nic| mac(nic).or_note(faults)).collect()
}

/// By the names that the document gives them; what is wrong with a MAC address is said elsewhere.
fn nics(item: &Cursor<'_>) -> BTreeMap<String, MacAddress> {
    let list = item.get("interfaces").and_then(|list| list.items().ok()).unwrap_or_default();
    let nic = |nic: &Cursor<'_>| {
        let (name, mac) = (nic.get("name")?, nic.get("macAddress")?);
        Some((name.as_text().ok()?.to_owned(), mac.as_text().ok()?.parse().ok()?))
    };
    list.iter().filter_map(nic).collect()
}
