//! The rows of the database as far as somebody configures them, by the names people give them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use linesman_ovsdb::{Op, Result};

use super::table::select;
use super::{Ovsdb, Row, Table};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OvsKeys {
    pub global: RowKeys,
    pub bridges: BTreeMap<String, BridgeKeys>,
    pub ports: BTreeMap<String, RowKeys>,
    pub interfaces: BTreeMap<String, InterfaceKeys>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowKeys {
    /// Distinguishes a row that was kept from one that was made anew under the same name.
    pub uuid: String,
    pub external_ids: BTreeMap<String, String>,
    pub other_config: BTreeMap<String, String>,
    /// The other columns that somebody configures, as they travel. Snapshots of older versions have none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Value>,
    /// A bridge's ports, a port's interfaces.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub members: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BridgeKeys {
    #[serde(flatten)]
    pub row: RowKeys,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub protocols: BTreeSet<String>,
    /// For the record only: NetworkManager writes it from the bridge's profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_mode: Option<String>,
    /// For the record only: NetworkManager writes it from the bridge's profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datapath_type: Option<String>,
    /// Rows that live and die with the bridge: its controllers, its exporters of flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<Dependent>,
    /// Columns with rows that die with the bridge and cannot be made again: they refer to others.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub irreplaceable: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependent {
    pub column: String,
    pub table: Table,
    pub row: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceKeys {
    #[serde(flatten)]
    pub row: RowKeys,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ofport_request: Option<i64>,
    /// What ovs-vswitchd made of it; -1 where it failed. Snapshots of older versions have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ofport: Option<i64>,
}

/// What somebody configures in each table; the rest is what ovs-vswitchd reports, or written separately.
const BRIDGE: [&str; 6] =
    ["datapath_type", "fail_mode", "stp_enable", "rstp_enable", "mcast_snooping_enable", "flood_vlans"];
const PORT: [&str; 13] = [
    "tag",
    "trunks",
    "cvlans",
    "vlan_mode",
    "qos",
    "mac",
    "bond_mode",
    "lacp",
    "bond_updelay",
    "bond_downdelay",
    "bond_fake_iface",
    "fake_bridge",
    "protected",
];
const INTERFACE: [&str; 11] = [
    "type",
    "options",
    "mac",
    "mtu_request",
    "bfd",
    "lldp",
    "cfm_mpid",
    "ingress_policing_rate",
    "ingress_policing_burst",
    "ingress_policing_kpkts_rate",
    "ingress_policing_kpkts_burst",
];
/// Columns of a bridge whose rows go with it.
const ATTACHED: [(&str, Table); 4] = [
    ("controller", Table::Controller),
    ("netflow", Table::NetFlow),
    ("sflow", Table::SFlow),
    ("ipfix", Table::Ipfix),
];
const IRREPLACEABLE: [&str; 3] = ["mirrors", "flow_tables", "auto_attach"];
/// What a controller reports of itself.
const REPORTED: [&str; 5] = ["_uuid", "_version", "is_connected", "role", "status"];

const TABLES: [Table; 8] = [
    Table::OpenVSwitch,
    Table::Interface,
    Table::Port,
    Table::Controller,
    Table::NetFlow,
    Table::SFlow,
    Table::Ipfix,
    Table::Bridge,
];

impl OvsKeys {
    /// Reads all tables in one transaction, so that they fit each other.
    pub async fn read(ovsdb: &mut Ovsdb) -> Result<Self> {
        let ops: Vec<Op> = TABLES.iter().map(|table| select(*table, &[])).collect();
        let answers = ovsdb.transact(&ops).await?;
        let mut keys = OvsKeys::default();
        let mut known = Known::default();
        for (table, answer) in TABLES.iter().zip(&answers) {
            for row in Ovsdb::rows(*table, Some(answer)) {
                keys.take(*table, &row, &mut known)?;
            }
        }
        Ok(keys)
    }

    /// Rows come after those that they refer to.
    fn take(&mut self, table: Table, row: &Row, known: &mut Known) -> Result<()> {
        let uuid = row.uuid()?;
        match table {
            Table::OpenVSwitch => self.global = RowKeys::of(row, &[])?,
            Table::Bridge => {
                let keys =
                    RowKeys { members: known.names(&row.references("ports")?), ..RowKeys::of(row, &BRIDGE)? };
                self.bridges.insert(row.text("name")?, BridgeKeys::of(row, keys, known)?);
            }
            Table::Port => {
                let members = known.names(&row.references("interfaces")?);
                self.ports.insert(row.text("name")?, RowKeys { members, ..RowKeys::of(row, &PORT)? });
                known.names.insert(uuid, row.text("name")?);
            }
            Table::Interface => {
                let keys = InterfaceKeys::of(row, RowKeys::of(row, &INTERFACE)?)?;
                self.interfaces.insert(row.text("name")?, keys);
                known.names.insert(uuid, row.text("name")?);
            }
            Table::Controller | Table::NetFlow | Table::SFlow | Table::Ipfix => {
                let mut columns = row.columns().clone();
                columns.retain(|column, _| !REPORTED.contains(&column.as_str()));
                known.dependents.insert(uuid, columns);
            }
        }
        Ok(())
    }

    /// The rows of one table by name; `Open_vSwitch` has a single one without.
    pub fn rows(&self, table: Table) -> Vec<(&str, &RowKeys)> {
        match table {
            Table::OpenVSwitch => vec![("", &self.global)],
            Table::Bridge => self.bridges.iter().map(|(name, keys)| (name.as_str(), &keys.row)).collect(),
            Table::Port => self.ports.iter().map(|(name, keys)| (name.as_str(), keys)).collect(),
            Table::Interface => {
                self.interfaces.iter().map(|(name, keys)| (name.as_str(), &keys.row)).collect()
            }
            Table::Controller | Table::NetFlow | Table::SFlow | Table::Ipfix => Vec::new(),
        }
    }

    pub fn row(&self, table: Table, name: &str) -> Option<&RowKeys> {
        match table {
            Table::OpenVSwitch => Some(&self.global),
            Table::Bridge => self.bridges.get(name).map(|keys| &keys.row),
            Table::Port => self.ports.get(name),
            Table::Interface => self.interfaces.get(name).map(|keys| &keys.row),
            Table::Controller | Table::NetFlow | Table::SFlow | Table::Ipfix => None,
        }
    }
}

/// Rows that others refer to, by their UUIDs.
#[derive(Default)]
struct Known {
    names: BTreeMap<String, String>,
    dependents: BTreeMap<String, Map<String, Value>>,
}

impl Known {
    fn names(&self, uuids: &[String]) -> BTreeSet<String> {
        uuids.iter().filter_map(|uuid| self.names.get(uuid)).cloned().collect()
    }
}

impl RowKeys {
    fn of(row: &Row, columns: &[&str]) -> Result<Self> {
        let value = |column: &&str| Some(((*column).to_owned(), row.raw(column)?.clone()));
        Ok(Self {
            uuid: row.uuid()?,
            external_ids: row.map("external_ids")?,
            other_config: row.map("other_config")?,
            columns: columns.iter().filter_map(value).collect(),
            members: BTreeSet::new(),
        })
    }

    /// NetworkManager marks the rows that it makes.
    pub fn is_networkmanagers(&self) -> bool {
        self.external_ids.keys().any(|key| key.starts_with("NM."))
    }

    pub fn is_same_row(&self, other: &Self) -> bool {
        self.uuid == other.uuid
    }
}

impl BridgeKeys {
    fn of(row: &Row, keys: RowKeys, known: &Known) -> Result<Self> {
        let mut dependents = Vec::new();
        for (column, table) in ATTACHED {
            let rows = row.references(column)?;
            let rows = rows.iter().filter_map(|uuid| known.dependents.get(uuid)).cloned();
            dependents.extend(rows.map(|row| Dependent { column: column.to_owned(), table, row }));
        }
        let filled = |column: &&str| row.raw(column).is_some_and(|value| !is_empty(value));
        Ok(Self {
            row: keys,
            protocols: row.texts("protocols")?,
            fail_mode: row.optional_text("fail_mode")?,
            datapath_type: row.optional_text("datapath_type")?,
            dependents,
            irreplaceable: IRREPLACEABLE.iter().filter(|c| filled(c)).map(|c| (*c).to_owned()).collect(),
        })
    }
}

/// Whether a column holds nothing, or what the database puts into a new row.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(parts) => matches!(parts.get(1), Some(Value::Array(members)) if members.is_empty()),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Bool(yes) => !yes,
        _ => value.is_null(),
    }
}

impl InterfaceKeys {
    fn of(row: &Row, keys: RowKeys) -> Result<Self> {
        let (ofport_request, ofport) =
            (row.optional_integer("ofport_request")?, row.optional_integer("ofport")?);
        Ok(Self { row: keys, ofport_request, ofport })
    }
}
