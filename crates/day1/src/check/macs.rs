//! Each MAC address on one host: a host is recognised by it.

use std::collections::HashMap;

use linesman_core::codes::day1::MAC_TWICE;
use linesman_core::mac_address::MacAddress;
use linesman_core::path::Path;
use linesman_core::state::{interfaces, text};

use crate::cluster::Cluster;
use crate::configuration::Configuration;
use crate::fault::Fault;
use crate::host::Host;
use crate::place::Written;

struct Use<'a> {
    host: &'a Host,
    written: Written<MacAddress>,
    is_listed: bool,
}

pub fn twice(cluster: &Cluster) -> Vec<Fault> {
    let mut seen: HashMap<MacAddress, Use<'_>> = HashMap::new();
    let mut faults = Vec::new();
    for used in cluster.hosts.iter().flat_map(uses) {
        match seen.get(&used.written.value) {
            None => {
                seen.insert(used.written.value.clone(), used);
            }
            // A host may list the MAC address by which its document finds the NIC.
            Some(first) if std::ptr::eq(first.host, used.host) && !(first.is_listed && used.is_listed) => {}
            Some(first) => faults.push(shared(&used, first)),
        }
    }
    faults
}

fn uses(host: &Host) -> Vec<Use<'_>> {
    let listed = host.macs.iter().map(|mac| Use { host, written: mac.clone(), is_listed: true });
    let declared = host.network.configuration().map(declared).unwrap_or_default();
    listed.chain(declared.into_iter().map(|written| Use { host, written, is_listed: false })).collect()
}

/// Those that a document gives to interfaces, or finds them by.
fn declared(configuration: &Configuration) -> Vec<Written<MacAddress>> {
    let list = Path::root().key("interfaces");
    let with_mac = interfaces(configuration.state()).iter().enumerate().filter_map(|(index, interface)| {
        let written = text(interface, "mac-address")?;
        let place = configuration.place(&list.index(index).key("mac-address"));
        Some(Written { value: written.parse().ok()?, text: written.to_owned(), place })
    });
    // A bond and its port may have the same one.
    let mut own: Vec<Written<MacAddress>> = Vec::new();
    for mac in with_mac {
        if own.iter().all(|known| known.value != mac.value) {
            own.push(mac);
        }
    }
    own
}

fn shared(used: &Use<'_>, first: &Use<'_>) -> Fault {
    let (mac, line) = (&used.written.text, first.written.place.line());
    // Upper and lower case are one address, which is easily overlooked.
    let spelling = match first.written.text == *mac {
        true => String::new(),
        false => format!(", written as {}", first.written.text),
    };
    if std::ptr::eq(used.host, first.host) {
        let message = format!("the MAC address {mac} is already listed{line}{spelling}");
        return used.written.place.fault(MAC_TWICE, message, "keep one of the two");
    }
    let message = format!("the MAC address {mac} is also that of '{}'{line}{spelling}", first.host.title());
    used.written.place.fault(MAC_TWICE, message, "each NIC has its own MAC address; correct one of the two")
}
