//! Which tables and columns a replica has.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::op::{Condition, Name};
use crate::row::Header;
use crate::schema::{Schema, TableSchema};

/// What to replicate. Tables and columns that the server's schema lacks are left out; the snapshot's schema says which.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    tables: Option<Vec<TableMonitor>>,
}

#[derive(Debug, Clone)]
pub struct TableMonitor {
    table: Name,
    columns: Option<Vec<Name>>,
    condition: Condition,
}

impl Monitor {
    /// No tables yet.
    pub fn new() -> Self {
        Monitor { tables: Some(Vec::new()) }
    }

    /// Every table with every column.
    pub fn all() -> Self {
        Monitor { tables: None }
    }

    #[must_use]
    pub fn table(mut self, table: TableMonitor) -> Self {
        self.tables.get_or_insert_default().push(table);
        self
    }

    /// The request for a server with this schema, and what its rows look like then.
    pub(crate) fn plan(&self, schema: &Schema) -> Plan {
        let mut plan = Plan { headers: BTreeMap::new(), request: Map::new() };
        match &self.tables {
            None => schema.tables.values().for_each(|table| plan.add(table, None, &Condition::all())),
            Some(tables) => {
                for wanted in tables {
                    if let Some(table) = schema.tables.get(wanted.table.as_ref()) {
                        plan.add(table, wanted.columns.as_deref(), &wanted.condition);
                    }
                }
            }
        }
        plan
    }
}

impl TableMonitor {
    /// All rows with all columns.
    pub fn new(table: impl Into<Name>) -> Self {
        TableMonitor { table: table.into(), columns: None, condition: Condition::all() }
    }

    #[must_use]
    pub fn columns<C: Into<Name>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Only rows that it meets.
    #[must_use]
    pub fn condition(mut self, condition: Condition) -> Self {
        self.condition = condition;
        self
    }
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) headers: BTreeMap<Arc<str>, Arc<Header>>,
    pub(crate) request: Map<String, Value>,
}

impl Plan {
    fn add(&mut self, table: &TableSchema, columns: Option<&[Name]>, condition: &Condition) {
        let wanted =
            |name: &&String| columns.is_none_or(|columns| columns.iter().any(|column| column == *name));
        let names: Vec<&String> = table.columns.keys().filter(wanted).collect();
        let header = Header::new(&table.name, names.iter().map(|name| Arc::from(name.as_str())));
        let mut request = json!({"columns": names});
        if !condition.is_all() {
            request["where"] = json!(condition);
        }
        self.headers.insert(Arc::from(table.name.as_str()), Arc::new(header));
        self.request.insert(table.name.clone(), json!([request]));
    }
}
