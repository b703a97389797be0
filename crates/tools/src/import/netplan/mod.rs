//! Netplan files to a state document.

mod bonds;
mod bridges;
mod devices;
mod ip;
mod merge;
mod routes;
mod tunnels;

use std::collections::{BTreeMap, BTreeSet};

use linesman_core::interface_kind::InterfaceKind;

use super::Input;
use super::draft::{self, Draft, Section, mac, put};
use super::fields::{Content, Field, Fields};
use super::report::{ImportError, Imported, Log};

/// Netplan's sections of devices, and NMState's type for each; that of a tunnel depends on its mode.
const KINDS: &[(&str, Option<InterfaceKind>)] = &[
    ("ethernets", Some(InterfaceKind::Ethernet)),
    ("dummy-devices", Some(InterfaceKind::Dummy)),
    ("virtual-ethernets", Some(InterfaceKind::Veth)),
    ("bonds", Some(InterfaceKind::Bond)),
    ("vlans", Some(InterfaceKind::Vlan)),
    ("bridges", Some(InterfaceKind::LinuxBridge)),
    ("tunnels", None),
    ("vrfs", Some(InterfaceKind::Vrf)),
];

pub(super) fn import(inputs: &[Input]) -> Result<Imported, Vec<ImportError>> {
    let mut log = Log::new(inputs);
    let mut network = merge::files(inputs, &mut log);
    version(&mut network, &mut log);
    let mut devices = devices(&mut network, &mut log);
    let names =
        devices.iter_mut().map(|device| (device.id.clone(), devices::name(device, &mut log))).collect();
    let ports = ports(&devices);
    let tables = devices::tables(&devices, &mut log);
    let mut work = Work { names, ports, tables, draft: Draft::default(), log };
    for device in devices {
        work.translate(device);
    }
    let Work { draft, mut log, .. } = work;
    for field in &network.entries {
        log.note(field.place, format!("network.{}", field.key), "not imported");
    }
    log.finish(draft.finish())
}

/// One device as netplan has it.
struct Device {
    id: String,
    /// NMState's type; that of a tunnel depends on its mode.
    kind: Option<InterfaceKind>,
    fields: Fields,
    field: Field,
    /// Found by its MAC address rather than by name.
    by_mac: Option<String>,
}

struct Work<'i> {
    /// What the devices are called on the host, by netplan's ids.
    names: BTreeMap<String, Option<String>>,
    /// Ports of bonds and bridges: they have no addresses.
    ports: BTreeSet<String>,
    /// The routing tables of VRFs, by the ids of their ports.
    tables: BTreeMap<String, u32>,
    draft: Draft,
    log: Log<'i>,
}

fn version(network: &mut Fields, log: &mut Log<'_>) {
    if let Some(version) = network.text("version", log)
        && version.value != "2"
    {
        log.fault(
            version.place,
            format!("netplan version {} is not known", version.value),
            "write 'version: 2'",
        );
    }
    if let Some(renderer) = network.text("renderer", log)
        && renderer.value != "NetworkManager"
    {
        let why = "the document is for NetworkManager; remove the devices from systemd-networkd before you apply it";
        log.note(renderer.place, "network.renderer", why);
    }
}

fn devices(network: &mut Fields, log: &mut Log<'_>) -> Vec<Device> {
    let mut found = Vec::new();
    for (section, kind) in KINDS {
        let Some(devices) = network.map(section, log) else { continue };
        for field in devices.entries {
            match &field.content {
                Content::Map(fields) => {
                    let (id, fields) = (field.key.clone(), fields.clone());
                    found.push(Device { id, kind: kind.clone(), fields, field, by_mac: None });
                }
                Content::Empty => {
                    let fields = Fields { path: format!("{section}.{}", field.key), entries: Vec::new() };
                    let (id, kind) = (field.key.clone(), kind.clone());
                    found.push(Device { id, kind, fields, field, by_mac: None });
                }
                _ => log.fault(
                    field.place,
                    format!("'{}' should contain settings", field.key),
                    "write 'key: value' lines below it",
                ),
            }
        }
    }
    for section in ["wifis", "modems", "nm-devices"] {
        for field in network.map(section, log).map(|devices| devices.entries).unwrap_or_default() {
            let why = "devices of this kind are not imported, nor are their passwords";
            log.note(field.place, format!("{section}.{}", field.key), why);
        }
    }
    found
}

/// The ports of bonds and bridges.
fn ports(devices: &[Device]) -> BTreeSet<String> {
    let controllers = devices
        .iter()
        .filter(|device| matches!(device.kind, Some(InterfaceKind::Bond | InterfaceKind::LinuxBridge)));
    let listed =
        controllers.flat_map(|device| device.fields.entries.iter()).filter(|field| field.key == "interfaces");
    let items = listed.flat_map(|field| match &field.content {
        Content::List(items) => items.as_slice(),
        _ => &[],
    });
    items
        .filter_map(|item| match &item.content {
            Content::Text(id) => Some(id.clone()),
            _ => None,
        })
        .collect()
}

impl Work<'_> {
    fn translate(&mut self, device: Device) {
        let Some(name) = self.names.get(&device.id).cloned().flatten() else { return };
        let Device { id, kind, mut fields, field, by_mac } = device;
        let kind = match self.kind(kind, &mut fields) {
            Some(kind) => kind,
            None => return,
        };
        if kind == InterfaceKind::OvsBridge {
            let bridge = self.ovs_bridge(&mut fields, &name);
            self.draft.interfaces.push(bridge);
        }
        let mut interface = match kind {
            InterfaceKind::OvsBridge => draft::interface(&name, &InterfaceKind::OvsInterface),
            _ => draft::interface(&name, &kind),
        };
        if let Some(address) = by_mac {
            interface.insert("identifier".into(), "mac-address".into());
            interface.insert("mac-address".into(), address.into());
        }
        self.base(&mut fields, &mut interface);
        if self.ports.contains(&id) {
            self.without_addresses(&mut fields);
        } else {
            let table = self.tables.get(&id).copied();
            self.addresses(&mut fields, &name, table, &mut interface);
        }
        self.own(&kind, &mut fields, &mut interface, &field);
        self.leave(fields);
        self.draft.interfaces.push(interface);
    }

    /// NMState's type; None, with a note, for what is left out.
    fn kind(&mut self, kind: Option<InterfaceKind>, fields: &mut Fields) -> Option<InterfaceKind> {
        match (kind, fields.has("openvswitch")) {
            (None, _) => tunnels::kind(fields, &mut self.log),
            (Some(InterfaceKind::LinuxBridge), true) => Some(InterfaceKind::OvsBridge),
            (Some(InterfaceKind::Bond), true) => {
                let place = fields.take("openvswitch").map(|field| field.place)?;
                let why = "a bond of Open vSwitch is not imported; write it into the bridge's list of \
                    ports by hand";
                self.log.note(place, fields.path.clone(), why);
                None
            }
            (kind, _) => kind,
        }
    }

    fn base(&mut self, fields: &mut Fields, interface: &mut Section) {
        let log = &mut self.log;
        if let Some(address) = fields.text("macaddress", log) {
            match mac(&address.value) {
                Some(address) => drop(interface.insert("mac-address".into(), address.into())),
                None if matches!(address.value.as_str(), "permanent" | "preserve") => {}
                None => log.note(
                    address.place,
                    fields.named("macaddress"),
                    format!("'{}' is not imported, only addresses are", address.value),
                ),
            }
        }
        put(interface, "mtu", fields.number::<u64>("mtu", log));
        fields.take("renderer");
        if let Some(optional) = fields.take("optional")
            && matches!(&optional.content, Content::Text(text) if text == "true")
        {
            log.note(
                optional.place,
                fields.named("optional"),
                "NetworkManager does not wait for single interfaces at boot",
            );
        }
    }

    fn own(&mut self, kind: &InterfaceKind, fields: &mut Fields, interface: &mut Section, field: &Field) {
        match kind {
            InterfaceKind::Ethernet => devices::ethernet(fields, interface, &mut self.log),
            InterfaceKind::Veth => self.veth(fields, interface),
            InterfaceKind::Bond => self.bond(fields, interface),
            InterfaceKind::LinuxBridge => self.bridge(fields, interface),
            InterfaceKind::Vlan => self.vlan(fields, interface, field),
            InterfaceKind::Vrf => self.vrf(fields, interface, field),
            InterfaceKind::Vxlan => self.vxlan(fields, interface),
            InterfaceKind::IpTunnel => self.ip_tunnel(fields, interface),
            _ => {}
        }
    }

    /// The name on the host of what netplan calls `id`.
    fn named(&self, id: &str) -> String {
        self.names.get(id).cloned().flatten().unwrap_or_else(|| id.to_owned())
    }

    fn leave(&mut self, mut fields: Fields) {
        for field in fields
            .take_all(|key| matches!(key, "auth" | "access-points") || linesman_core::secrets::is_secret(key))
        {
            self.log.note(
                field.place,
                fields.named(&field.key),
                "credentials are not imported; set them on the host",
            );
        }
        fields.leave("not supported by NMState", &mut self.log);
    }
}
