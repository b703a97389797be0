//! What the database says of bridges, ports and interfaces.

use std::collections::BTreeMap;

use linesman_ovsdb::{Monitor, Row, Snapshot, TableMonitor, Uuid};

/// In order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseFacts {
    pub schema: String,
    pub ovs_version: Option<String>,
    pub datapath_types: Vec<String>,
    pub bridges: Vec<BridgeFacts>,
    pub next_cfg: i64,
    pub cur_cfg: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BridgeFacts {
    pub name: String,
    pub datapath_type: String,
    pub ports: usize,
    /// Interfaces that ovs-vswitchd cannot use, and what it says of them.
    pub errors: Vec<(String, String)>,
}

impl DatabaseFacts {
    /// What has to be monitored for it. Statistics are not: they change every few seconds.
    pub fn monitor() -> Monitor {
        Monitor::new()
            .table(TableMonitor::new("Open_vSwitch").columns([
                "bridges",
                "cur_cfg",
                "datapath_types",
                "next_cfg",
                "ovs_version",
                "other_config",
                "external_ids",
            ]))
            .table(TableMonitor::new("Bridge").columns(["name", "datapath_type", "ports"]))
            .table(TableMonitor::new("Port").columns(["name", "interfaces"]))
            .table(TableMonitor::new("Interface").columns(["name", "error"]))
    }

    /// None: nothing was received yet, or it is not of Open vSwitch.
    pub fn read(snapshot: &Snapshot) -> Option<Self> {
        let schema = snapshot.schema()?.version.clone();
        let (_, switch) = snapshot.table("Open_vSwitch")?.iter().next()?;
        let set = switch.set("datapath_types").unwrap_or_default();
        let mut datapath_types: Vec<String> = set.into_iter().map(|atom| atom.to_string()).collect();
        datapath_types.sort();
        let uuids = switch.uuids("bridges").unwrap_or_default();
        let mut bridges: Vec<BridgeFacts> =
            uuids.into_iter().filter_map(|uuid| bridge(snapshot, uuid)).collect();
        bridges.sort_by(|one, other| one.name.cmp(&other.name));
        Some(Self {
            schema,
            ovs_version: switch.optional_text("ovs_version").ok().flatten().map(str::to_owned),
            datapath_types,
            bridges,
            next_cfg: switch.integer("next_cfg").unwrap_or_default(),
            cur_cfg: switch.integer("cur_cfg").unwrap_or_default(),
        })
    }
}

fn row<'a>(snapshot: &'a Snapshot, table: &str, uuid: Uuid) -> Option<&'a Row> {
    snapshot.table(table)?.get(uuid).map(|row| &**row)
}

fn bridge(snapshot: &Snapshot, uuid: Uuid) -> Option<BridgeFacts> {
    let bridge = row(snapshot, "Bridge", uuid)?;
    let ports = bridge.uuids("ports").unwrap_or_default();
    let mut errors = BTreeMap::new();
    for port in &ports {
        let interfaces = row(snapshot, "Port", *port).and_then(|port| port.uuids("interfaces").ok());
        for interface in interfaces.into_iter().flatten() {
            let Some(interface) = row(snapshot, "Interface", interface) else { continue };
            if let (Ok(name), Ok(Some(error))) = (interface.text("name"), interface.optional_text("error")) {
                errors.insert(name.to_owned(), error.to_owned());
            }
        }
    }
    Some(BridgeFacts {
        name: bridge.text("name").ok()?.to_owned(),
        datapath_type: bridge.text("datapath_type").unwrap_or_default().to_owned(),
        ports: ports.len(),
        errors: errors.into_iter().collect(),
    })
}
