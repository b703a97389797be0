//! The keys in the database, by the names people give the rows.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use linesman_ovsdb::{Op, Ovsdb, Result, Row, Table};

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
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceKeys {
    #[serde(flatten)]
    pub row: RowKeys,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ofport_request: Option<i64>,
}

const TABLES: [(Table, &[&str]); 4] = [
    (Table::OpenVSwitch, &["_uuid", "external_ids", "other_config"]),
    (
        Table::Bridge,
        &["_uuid", "name", "external_ids", "other_config", "protocols", "fail_mode", "datapath_type"],
    ),
    (Table::Port, &["_uuid", "name", "external_ids", "other_config"]),
    (Table::Interface, &["_uuid", "name", "external_ids", "other_config", "ofport_request"]),
];

impl OvsKeys {
    /// Reads all four tables in one transaction, so that they fit each other.
    pub async fn read(ovsdb: &mut Ovsdb) -> Result<Self> {
        let ops: Vec<Op> = TABLES.iter().map(|(table, columns)| Op::select(*table, columns)).collect();
        let answers = ovsdb.transact(&ops).await?;
        let mut keys = OvsKeys::default();
        for ((table, _), answer) in TABLES.iter().zip(&answers) {
            for row in ovsdb.rows(*table, Some(answer))? {
                keys.take(*table, &row)?;
            }
        }
        Ok(keys)
    }

    fn take(&mut self, table: Table, row: &Row) -> Result<()> {
        let keys = RowKeys::of(row)?;
        match table {
            Table::OpenVSwitch => self.global = keys,
            Table::Bridge => drop(self.bridges.insert(row.text("name")?, BridgeKeys::of(row, keys)?)),
            Table::Port => drop(self.ports.insert(row.text("name")?, keys)),
            Table::Interface => {
                drop(self.interfaces.insert(row.text("name")?, InterfaceKeys::of(row, keys)?))
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
        }
    }

    pub fn row(&self, table: Table, name: &str) -> Option<&RowKeys> {
        match table {
            Table::OpenVSwitch => Some(&self.global),
            Table::Bridge => self.bridges.get(name).map(|keys| &keys.row),
            Table::Port => self.ports.get(name),
            Table::Interface => self.interfaces.get(name).map(|keys| &keys.row),
        }
    }
}

impl RowKeys {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            uuid: row.uuid()?,
            external_ids: row.map("external_ids")?,
            other_config: row.map("other_config")?,
        })
    }
}

impl BridgeKeys {
    fn of(row: &Row, keys: RowKeys) -> Result<Self> {
        Ok(Self {
            row: keys,
            protocols: row.texts("protocols")?,
            fail_mode: row.optional_text("fail_mode")?,
            datapath_type: row.optional_text("datapath_type")?,
        })
    }
}

impl InterfaceKeys {
    fn of(row: &Row, keys: RowKeys) -> Result<Self> {
        Ok(Self { row: keys, ofport_request: row.optional_integer("ofport_request")? })
    }
}
