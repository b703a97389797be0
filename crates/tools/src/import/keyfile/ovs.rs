//! Open vSwitch: three profiles (bridge, port, interface) become a bridge with a list of ports, and an interface.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::bridge::{range, vlan_filter};
use super::names::Names;
use super::profile::Profile;
use crate::import::draft::{Section, put, put_section};
use crate::import::fields::{At, Content};
use crate::import::report::Log;

/// Ports and their members, until all profiles have been seen.
#[derive(Default)]
pub(super) struct Bridges {
    ports: Vec<Port>,
    /// Members by the port's UUID or name.
    members: BTreeMap<String, Vec<String>>,
}

struct Port {
    name: String,
    uuid: Option<String>,
    bridge: Option<At<String>>,
    bond: Section,
    vlan: Option<Value>,
}

impl Bridges {
    pub fn port(&mut self, profile: &mut Profile, log: &mut Log<'_>) {
        profile.section("connection").take("port-type");
        profile.section("connection").take("slave-type");
        let name = profile.interface.clone().unwrap_or_else(|| profile.id.clone());
        let bond = bond(profile, log);
        let vlan = vlan(profile, log);
        self.ports.push(Port {
            name,
            uuid: profile.uuid.clone(),
            bridge: profile.controller.clone(),
            bond,
            vlan,
        });
    }

    pub fn member(&mut self, port: &str, interface: &str) {
        self.members.entry(port.to_owned()).or_default().push(interface.to_owned());
    }

    pub fn fill(mut self, interfaces: &mut [Section], names: &Names, log: &mut Log<'_>) {
        let mut of_bridge: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for port in std::mem::take(&mut self.ports) {
            let Some(bridge) = port.bridge.clone() else { continue };
            let owner = names.controller(&bridge.value).map_or(bridge.value.clone(), |owner| owner.name);
            if !names.is_known(&bridge.value) {
                let why = format!("no imported profile creates the bridge {owner}; import it as well");
                log.note(bridge.place, "connection.controller", why);
            }
            of_bridge.entry(owner).or_default().push(self.entry(port));
        }
        for bridge in
            interfaces.iter_mut().filter(|interface| interface.get("type") == Some(&json!("ovs-bridge")))
        {
            let name = bridge.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut ports = of_bridge.remove(&name).unwrap_or_default();
            ports.sort_by_key(|port| port["name"].as_str().unwrap_or_default().to_owned());
            let section = bridge.entry("bridge").or_insert_with(|| json!({}));
            section["port"] = ports.into();
        }
    }

    /// A port with one member goes by the member's name; one with several is a bond.
    fn entry(&mut self, port: Port) -> Value {
        let by_uuid = port.uuid.as_ref().and_then(|uuid| self.members.remove(uuid)).unwrap_or_default();
        let by_name = self.members.remove(&port.name).unwrap_or_default();
        let mut members: Vec<String> = by_uuid.into_iter().chain(by_name).collect();
        members.sort();
        let mut entry = Section::new();
        let is_bond = members.len() > 1 || port.bond.contains_key("mode");
        let name = if is_bond { None } else { members.first().cloned() };
        entry.insert("name".into(), name.unwrap_or(port.name).into());
        if is_bond {
            let mut bond = port.bond;
            let list: Vec<Value> = members.into_iter().map(|name| json!({ "name": name })).collect();
            bond.entry("mode").or_insert("active-backup".into());
            bond.insert("port".into(), list.into());
            entry.insert("link-aggregation".into(), Value::Object(bond));
        }
        put(&mut entry, "vlan", port.vlan);
        Value::Object(entry)
    }
}

fn bond(profile: &mut Profile, log: &mut Log<'_>) -> Section {
    let section = profile.section("ovs-port");
    let lacp = section.value("lacp", log);
    let mode = section.value("bond-mode", log);
    let mut bond = Section::new();
    put(&mut bond, "mode", mode.or_else(|| lacp.filter(|lacp| lacp == "active").map(|_| "lacp".to_owned())));
    put(&mut bond, "bond-updelay", section.positive("bond-updelay", log));
    put(&mut bond, "bond-downdelay", section.positive("bond-downdelay", log));
    bond
}

fn vlan(profile: &mut Profile, log: &mut Log<'_>) -> Option<Value> {
    let section = profile.section("ovs-port");
    let tag = section.number::<u16>("tag", log);
    let mode = section.value("vlan-mode", log);
    let trunks = section.text("trunks", log).map_or_else(Vec::new, |at| {
        at.value.split([',', ';']).map(str::trim).filter(|text| !text.is_empty()).filter_map(range).collect()
    });
    match (mode.as_deref(), tag) {
        (None | Some(""), None) if trunks.is_empty() => None,
        (Some("access"), tag) => Some(json!({ "mode": "access", "tag": tag.unwrap_or(0) })),
        (Some("trunk"), _) => Some(vlan_filter(None, &trunks)),
        (_, tag) => Some(vlan_filter(tag, &trunks)),
    }
}

pub(super) fn bridge(profile: &mut Profile, interface: &mut Section, log: &mut Log<'_>) {
    let section = profile.section("ovs-bridge");
    let mut options = Section::new();
    if let Some(stp) = section.flag("stp-enable", log) {
        options.insert("stp".into(), json!({ "enabled": stp }));
    }
    put(&mut options, "rstp", section.flag("rstp-enable", log));
    put(&mut options, "mcast-snooping-enable", section.flag("mcast-snooping-enable", log));
    put(&mut options, "fail-mode", section.value("fail-mode", log));
    put(&mut options, "datapath", section.value("datapath-type", log));
    let mut bridge = Section::new();
    put_section(&mut bridge, "options", options);
    interface.insert("bridge".into(), Value::Object(bridge));
    // A bridge has no addresses of its own: NetworkManager ignores these, and so does the import.
    for family in ["ipv4", "ipv6"] {
        profile.section(family).take("method");
    }
}

pub(super) fn interface(profile: &mut Profile, interface: &mut Section, log: &mut Log<'_>) {
    if let Some(peer) = profile.section("ovs-patch").text("peer", log) {
        interface.insert("patch".into(), json!({ "peer": peer.value }));
    }
    let section = profile.section("ovs-dpdk");
    let mut dpdk = Section::new();
    put(&mut dpdk, "devargs", section.value("devargs", log));
    put(&mut dpdk, "rx-queue", section.positive("n-rxq", log));
    put(&mut dpdk, "n_rxq_desc", section.positive("n-rxq-desc", log));
    put(&mut dpdk, "n_txq_desc", section.positive("n-txq-desc", log));
    put_section(interface, "dpdk", dpdk);
}

/// Keys in the database that a profile sets.
pub(super) fn database(profile: &mut Profile, interface: &mut Section) {
    let mut keys = Section::new();
    for (section, column) in [("ovs-external-ids", "external_ids"), ("ovs-other-config", "other_config")] {
        let mut values = Section::new();
        let fields = profile
            .section(section)
            .take_all(|key| key.starts_with("data.") && key != "data.NM.connection.uuid");
        for field in fields {
            if let (Some(key), Content::Text(value)) = (field.key.strip_prefix("data."), field.content) {
                values.insert(key.to_owned(), value.into());
            }
        }
        put_section(&mut keys, column, values);
    }
    put_section(interface, "ovs-db", keys);
}
