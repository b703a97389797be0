//! What of Open vSwitch's database has a part here, by name; and operations that name it.

use linesman_ovsdb::{Condition, Function, Mutation, Name, Op};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Table {
    #[serde(rename = "Open_vSwitch")]
    OpenVSwitch,
    Bridge,
    Port,
    Interface,
    Controller,
    NetFlow,
    #[serde(rename = "sFlow")]
    SFlow,
    #[serde(rename = "IPFIX")]
    Ipfix,
}

impl Table {
    pub fn as_str(self) -> &'static str {
        match self {
            Table::OpenVSwitch => "Open_vSwitch",
            Table::Bridge => "Bridge",
            Table::Port => "Port",
            Table::Interface => "Interface",
            Table::Controller => "Controller",
            Table::NetFlow => "NetFlow",
            Table::SFlow => "sFlow",
            Table::Ipfix => "IPFIX",
        }
    }
}

/// The columns of keys that several parties write into, each its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    ExternalIds,
    OtherConfig,
}

impl Column {
    pub fn as_str(self) -> &'static str {
        match self {
            Column::ExternalIds => "external_ids",
            Column::OtherConfig => "other_config",
        }
    }
}

impl From<Table> for Name {
    fn from(table: Table) -> Name {
        table.as_str().into()
    }
}

/// Rows that refer to another row in that column.
pub(super) fn refers(column: &str, uuid: &str) -> Condition {
    Condition::column(column, Function::Includes, json!(["uuid", uuid]))
}

/// A row that nobody refers to any more goes by itself.
pub(super) fn drop_reference(column: &str, uuid: &str) -> Mutation {
    Mutation::delete(column, json!(["uuid", uuid]))
}

/// A reference to a row that the same transaction inserts.
pub(super) fn inserted(name: &str) -> Value {
    json!(["named-uuid", name])
}

/// Refers to a row that an insertion of the same transaction makes under this name.
pub(super) fn add_inserted(column: &str, name: &str) -> Mutation {
    Mutation::insert(column, inserted(name))
}

/// All rows.
pub(super) fn select(table: Table, columns: &[&'static str]) -> Op {
    Op::select(table, Condition::all(), columns.iter().copied())
}
