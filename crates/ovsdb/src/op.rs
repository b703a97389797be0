//! OVSDB's operations and values as they travel (RFC 7047, sections 5.1 and 5.2).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Error, Result};

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

/// Which rows an operation is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Condition(Vec<Value>);

impl Condition {
    /// The only row of `Open_vSwitch`.
    pub fn all() -> Self {
        Condition(vec![])
    }

    pub fn named(name: &str) -> Self {
        Condition(vec![json!(["name", "==", name])])
    }

    /// Rows that refer to another row in that column.
    pub fn refers(column: &str, uuid: &str) -> Self {
        Condition(vec![json!([column, "includes", ["uuid", uuid]])])
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Mutation(Value);

impl Mutation {
    pub fn delete_keys<'a>(column: Column, keys: impl IntoIterator<Item = &'a str>) -> Self {
        let keys: Vec<&str> = keys.into_iter().collect();
        Mutation(json!([column.as_str(), "delete", ["set", keys]]))
    }

    /// A row that nobody refers to any more goes by itself.
    pub fn drop_reference(column: &str, uuid: &str) -> Self {
        Mutation(json!([column, "delete", ["uuid", uuid]]))
    }

    /// Refers to a row that an insertion of the same transaction makes under this name.
    pub fn add_inserted(column: &str, name: &str) -> Self {
        Mutation(json!([column, "insert", ["named-uuid", name]]))
    }

    pub fn add_one(column: &str) -> Self {
        Mutation(json!([column, "+=", 1]))
    }

    /// Adds keys. The database leaves a key that exists as it is: delete it first to alter it.
    pub fn insert_keys<'a>(column: Column, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let pairs: Vec<[&str; 2]> = pairs.into_iter().map(|(key, value)| [key, value]).collect();
        Mutation(json!([column.as_str(), "insert", ["map", pairs]]))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    Select {
        table: &'static str,
        #[serde(rename = "where")]
        condition: Condition,
        /// None: all of them, whatever the schema of this version has.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        columns: Vec<&'static str>,
    },
    Insert {
        table: &'static str,
        row: Map<String, Value>,
        /// By which the other operations of the same transaction refer to the new row.
        #[serde(rename = "uuid-name")]
        name: String,
    },
    Mutate {
        table: &'static str,
        #[serde(rename = "where")]
        condition: Condition,
        mutations: Vec<Mutation>,
    },
    Update {
        table: &'static str,
        #[serde(rename = "where")]
        condition: Condition,
        row: Map<String, Value>,
    },
}

impl Op {
    pub fn select(table: Table, columns: &[&'static str]) -> Self {
        Op::Select { table: table.as_str(), condition: Condition::all(), columns: columns.to_vec() }
    }
}

/// A reference to a row that the same transaction inserts.
pub fn inserted(name: &str) -> Value {
    json!(["named-uuid", name])
}

/// A row of an answer.
#[derive(Debug, Clone)]
pub struct Row {
    pub(super) table: &'static str,
    pub(super) columns: Map<String, Value>,
}

impl Row {
    pub fn text(&self, column: &'static str) -> Result<String> {
        self.value(column)?.as_str().map(str::to_owned).ok_or_else(|| self.unexpected(column))
    }

    pub fn uuid(&self) -> Result<String> {
        match self.value("_uuid")?.as_array().map(Vec::as_slice) {
            Some([Value::String(tag), Value::String(uuid)]) if tag == "uuid" => Ok(uuid.clone()),
            _ => Err(self.unexpected("_uuid")),
        }
    }

    /// As it travels; absent where this version's schema has no such column.
    pub fn raw(&self, column: &str) -> Option<&Value> {
        self.columns.get(column)
    }

    pub fn columns(&self) -> &Map<String, Value> {
        &self.columns
    }

    /// The rows that a column refers to.
    pub fn references(&self, column: &'static str) -> Result<Vec<String>> {
        let uuid = |value: &Value| match value.as_array().map(Vec::as_slice) {
            Some([Value::String(tag), Value::String(uuid)]) if tag == "uuid" => Some(uuid.clone()),
            _ => None,
        };
        match self.value(column)?.as_array().map(Vec::as_slice) {
            Some([Value::String(tag), Value::Array(members)]) if tag == "set" => {
                members.iter().map(uuid).collect::<Option<_>>().ok_or_else(|| self.unexpected(column))
            }
            _ => uuid(self.value(column)?).map(|one| vec![one]).ok_or_else(|| self.unexpected(column)),
        }
    }

    pub fn map(&self, column: &'static str) -> Result<BTreeMap<String, String>> {
        let pairs = match self.value(column)?.as_array().map(Vec::as_slice) {
            Some([Value::String(tag), Value::Array(pairs)]) if tag == "map" => pairs,
            _ => return Err(self.unexpected(column)),
        };
        let pair =
            |pair: &Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()));
        pairs.iter().map(pair).collect::<Option<_>>().ok_or_else(|| self.unexpected(column))
    }

    pub fn number(&self, column: &'static str) -> Result<i64> {
        self.value(column)?.as_i64().ok_or_else(|| self.unexpected(column))
    }

    pub fn texts(&self, column: &'static str) -> Result<BTreeSet<String>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.set(column)?.iter().map(text).collect::<Option<_>>().ok_or_else(|| self.unexpected(column))
    }

    pub fn optional_text(&self, column: &'static str) -> Result<Option<String>> {
        Ok(self.texts(column)?.pop_first().filter(|text| !text.is_empty()))
    }

    pub fn optional_integer(&self, column: &'static str) -> Result<Option<i64>> {
        match self.set(column)?.first() {
            None => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| self.unexpected(column)),
        }
    }

    /// The database writes a set of exactly one element as that element.
    fn set(&self, column: &'static str) -> Result<Vec<Value>> {
        Ok(match self.value(column)? {
            Value::Array(parts) => match parts.as_slice() {
                [Value::String(tag), Value::Array(members)] if tag == "set" => members.clone(),
                _ => return Err(self.unexpected(column)),
            },
            single => vec![single.clone()],
        })
    }

    fn value(&self, column: &'static str) -> Result<&Value> {
        self.columns.get(column).ok_or_else(|| self.unexpected(column))
    }

    fn unexpected(&self, column: &'static str) -> Error {
        let value = self.columns.get(column).map_or("nothing".to_owned(), Value::to_string);
        Error::Shape { table: self.table, column, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: Value) -> Row {
        Row { table: "Interface", columns: columns.as_object().unwrap().clone() }
    }

    #[test]
    fn operations_travel_as_the_rfc_writes_them() {
        let op = Op::Mutate {
            table: Table::Bridge.as_str(),
            condition: Condition::named("br-ex"),
            mutations: vec![
                Mutation::delete_keys(Column::OtherConfig, ["a"]),
                Mutation::insert_keys(Column::OtherConfig, [("a", "1")]),
            ],
        };
        let expected = json!({
            "op": "mutate",
            "table": "Bridge",
            "where": [["name", "==", "br-ex"]],
            "mutations": [
                ["other_config", "delete", ["set", ["a"]]],
                ["other_config", "insert", ["map", [["a", "1"]]]],
            ],
        });
        assert_eq!(serde_json::to_value(op).unwrap(), expected);
    }

    #[test]
    fn a_set_of_one_is_that_one() {
        let single = row(json!({"ofport_request": 7, "protocols": "OpenFlow13"}));
        assert_eq!(single.optional_integer("ofport_request").unwrap(), Some(7));
        assert_eq!(single.texts("protocols").unwrap(), BTreeSet::from(["OpenFlow13".to_owned()]));
        let several =
            row(json!({"ofport_request": ["set", []], "protocols": ["set", ["OpenFlow10", "OpenFlow13"]]}));
        assert_eq!(several.optional_integer("ofport_request").unwrap(), None);
        assert_eq!(several.texts("protocols").unwrap().len(), 2);
    }

    #[test]
    fn a_value_of_another_shape_is_named() {
        let odd = row(json!({"external_ids": ["map", [["key", 3]]]}));
        let error = odd.map("external_ids").unwrap_err().to_string();
        assert!(error.contains("Interface") && error.contains("external_ids"), "{error}");
        assert!(odd.uuid().is_err());
    }
}
