//! NICs and the simple virtual devices.

use std::collections::BTreeMap;

use linesman_core::interface_kind::InterfaceKind;
use serde_json::json;

use super::routes::NextHopDevice;
use super::{Device, Work};
use crate::import::draft::{Section, mac, put, put_section};
use crate::import::fields::{Field, Fields};
use crate::import::report::Log;

/// What the device is called on the host; None, with a note, where a file does not say.
pub(super) fn name(device: &mut Device, log: &mut Log<'_>) -> Option<String> {
    let set = device.fields.text("set-name", log);
    if let Some(set) = &set {
        let why = format!("interfaces are not renamed; use a udev .link file to rename it to {}", set.value);
        log.note(set.place, device.fields.named("set-name"), why);
    }
    let set = set.map(|at| at.value);
    let Some(mut found) = device.fields.map("match", log) else {
        return set.or_else(|| Some(device.id.clone()));
    };
    let address = found.text("macaddress", log);
    let by_name = found.text("name", log);
    found.leave("interfaces can be matched only by name or MAC address", log);
    if let Some(address) = address {
        device.by_mac = mac(&address.value);
        if device.by_mac.is_none() {
            log.fault(
                address.place,
                format!("'{}' is not a MAC address", address.value),
                "write six pairs of digits, as in 02:00:00:00:00:01",
            );
        }
        return set.or_else(|| Some(device.id.clone()));
    }
    match (set, by_name) {
        (Some(set), _) => Some(set),
        (None, Some(name)) if !name.value.contains(['*', '?', '[']) => Some(name.value),
        (None, _) => {
            let why = "the match does not identify a single interface: omitted; use its name or MAC address";
            log.note(device.field.place, device.fields.path.clone(), why);
            None
        }
    }
}

pub(super) fn ethernet(fields: &mut Fields, interface: &mut Section, log: &mut Log<'_>) {
    if let Some(count) = fields.number::<u32>("virtual-function-count", log) {
        interface.insert("ethernet".into(), json!({ "sr-iov": { "total-vfs": count } }));
    }
}

impl Work<'_> {
    pub(super) fn veth(&mut self, fields: &mut Fields, interface: &mut Section) {
        if let Some(peer) = fields.text("peer", &mut self.log) {
            interface.insert("veth".into(), json!({ "peer": self.named(&peer.value) }));
        }
    }

    pub(super) fn vlan(&mut self, fields: &mut Fields, interface: &mut Section, field: &Field) {
        let mut vlan = Section::new();
        let (link, id) = (fields.text("link", &mut self.log), fields.number::<u16>("id", &mut self.log));
        if link.is_none() || id.is_none() {
            self.log.fault(
                field.place,
                format!("VLAN '{}' needs 'id' and 'link'", field.key),
                "write the tag as 'id' and the device below it as 'link'",
            );
        }
        put(&mut vlan, "base-iface", link.map(|at| self.named(&at.value)));
        put(&mut vlan, "id", id);
        put_section(interface, "vlan", vlan);
    }

    pub(super) fn vrf(&mut self, fields: &mut Fields, interface: &mut Section, field: &Field) {
        let table = fields.number::<u32>("table", &mut self.log);
        if table.is_none() {
            let message = format!("VRF '{}' needs 'table'", field.key);
            self.log.fault(field.place, message, "write the number of its routing table");
        }
        let ports = fields.texts("interfaces", &mut self.log);
        let ports: Vec<String> = ports.iter().map(|at| self.named(&at.value)).collect();
        let mut vrf = Section::new();
        vrf.insert("port".into(), ports.clone().into());
        put(&mut vrf, "route-table-id", table);
        put_section(interface, "vrf", vrf);
        let ports = NextHopDevice::Ports(self.ports_of(&ports));
        self.routes(fields, &ports, table);
    }
}

/// The table of each VRF's ports, by their ids.
pub(super) fn tables(devices: &[Device], log: &mut Log<'_>) -> BTreeMap<String, u32> {
    let mut tables = BTreeMap::new();
    for device in devices.iter().filter(|device| device.kind == Some(InterfaceKind::Vrf)) {
        let mut fields = device.fields.clone();
        if let Some(table) = fields.text("table", log).and_then(|at| at.value.parse().ok()) {
            tables.extend(fields.texts("interfaces", log).into_iter().map(|at| (at.value, table)));
        }
    }
    tables
}
