//! A row of an answer, as it travels: snapshots keep columns of any version of the schema.

use std::collections::{BTreeMap, BTreeSet};

use linesman_ovsdb::{Error, Result, SchemaError, ValueError};
use serde_json::{Map, Value};

use super::table::Table;

/// A row of an answer.
#[derive(Debug, Clone)]
pub struct Row {
    pub(super) table: Table,
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
        let (table, column) = (self.table.as_str().to_owned(), column.to_owned());
        let source = ValueError::new(format!("unexpected value {value}"));
        Error::Schema(SchemaError::Value { table, column, source })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(columns: Value) -> Row {
        Row { table: Table::Interface, columns: columns.as_object().unwrap().clone() }
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
