//! A database's schema: which tables and columns it has, and what they may hold (RFC 7047, section 3.2).

mod base;
mod column;
mod parse;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::row::{Header, Row};
pub use base::{BaseType, Bounds, Reference};
pub use column::{ColumnType, ValueError};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schema {
    pub name: String,
    pub version: String,
    pub checksum: Option<String>,
    pub tables: BTreeMap<String, TableSchema>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableSchema {
    pub name: String,
    pub columns: BTreeMap<String, ColumnSchema>,
    pub max_rows: Option<u64>,
    /// Rows stay although nobody refers to them.
    pub is_root: bool,
    /// Columns that together must be unique.
    pub indexes: Vec<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSchema {
    pub ty: ColumnType,
    /// Not written to disk.
    pub ephemeral: bool,
    /// May be changed once the row exists.
    pub mutable: bool,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum SchemaError {
    #[error("the schema is malformed at {place}: {what}; the server's ovsdb-server may be broken or too new")]
    Malformed { place: String, what: String },
    #[error("database {database} {version} has no table {table}; another version of the schema may have it")]
    NoTable { database: String, version: String, table: String },
    #[error("table {table} has no column {column}; another version of the schema may have it")]
    NoColumn { table: String, column: String },
    #[error("column {column} of table {table}: {source}")]
    Value { table: String, column: String, source: ValueError },
}

impl Schema {
    /// From the answer to `get_schema`, or from a schema file.
    pub fn parse(schema: &Value) -> Result<Self, SchemaError> {
        parse::schema(schema)
    }

    pub fn table(&self, name: &str) -> Result<&TableSchema, SchemaError> {
        self.tables.get(name).ok_or_else(|| SchemaError::NoTable {
            database: self.name.clone(),
            version: self.version.clone(),
            table: name.to_owned(),
        })
    }
}

impl TableSchema {
    pub fn column(&self, name: &str) -> Result<&ColumnSchema, SchemaError> {
        self.columns
            .get(name)
            .ok_or_else(|| SchemaError::NoColumn { table: self.name.clone(), column: name.to_owned() })
    }

    /// A row of an answer. Columns that it lacks are lacking; unknown ones are refused.
    pub fn decode_row(&self, row: &Map<String, Value>) -> Result<Row, SchemaError> {
        let names = row.keys().map(|name| Arc::from(name.as_str()));
        let header = Arc::new(Header::new(&self.name, names));
        let values = header.names().map(|name| self.decode(name, row.get(name).unwrap_or(&Value::Null)));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Ok(Row::new(header, values))
    }

    fn decode(&self, column: &str, value: &Value) -> Result<crate::Datum, SchemaError> {
        let ty = &self.column_or_own(column)?.ty;
        ty.decode(value).map_err(|source| self.refused(column, source))
    }

    pub(crate) fn refused(&self, column: &str, source: ValueError) -> SchemaError {
        SchemaError::Value { table: self.name.clone(), column: column.to_owned(), source }
    }

    /// `_uuid` and `_version` are in every table and in no schema.
    pub(crate) fn column_or_own(&self, name: &str) -> Result<&ColumnSchema, SchemaError> {
        if name == "_uuid" || name == "_version" { Ok(ColumnSchema::own()) } else { self.column(name) }
    }
}

impl ColumnSchema {
    fn own() -> &'static Self {
        static OWN: ColumnSchema = ColumnSchema { ty: ColumnType::UUID, ephemeral: false, mutable: false };
        &OWN
    }
}

#[cfg(test)]
mod tests;
