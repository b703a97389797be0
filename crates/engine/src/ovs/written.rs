//! What a change itself writes into the database, so that everything else is known to be others'. Pure.

use std::collections::{BTreeMap, BTreeSet};

use linesman_core::path::PathStep;
use linesman_core::plan::{ChangeKind, Plan, Subject};
use linesman_core::state::{interfaces, is_absent, list, name, text};
use serde_json::Value;

use super::plan::{COLUMNS, KeyPath, NAMED};
use super::table::{Column, Table};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The value that each key is given; none: it is taken away.
    keys: BTreeMap<KeyPath, Option<String>>,
    /// Columns in which what the document does not name is taken away.
    whole: BTreeSet<(Table, String, Column)>,
    /// OVN's mappings, of which several share one key.
    localnets: BTreeSet<String>,
    /// Ports that the plan takes out of their bridge.
    expelled: BTreeSet<String>,
}

impl Written {
    pub fn of(desired: &Value, plan: &Plan) -> Self {
        let mut written = Self { expelled: expelled(plan), ..Self::default() };
        written.global(&desired["ovs-db"]);
        let mappings = list(desired, &["ovn", "bridge-mappings"]);
        written.localnets.extend(mappings.iter().filter_map(|m| text(m, "localnet")).map(str::to_owned));
        for interface in interfaces(desired) {
            written.row(name(interface), &interface["ovs-db"]);
            for port in list(interface, &["bridge", "port"]) {
                written.row(name(port), &port["link-aggregation"]["ovs-db"]);
            }
        }
        written
    }

    /// An empty map empties its column; so do both, where neither is named.
    fn global(&mut self, database: &Value) {
        let Some(columns) = database.as_object() else { return };
        for column in COLUMNS {
            let keys = columns.get(column.as_str()).and_then(Value::as_object);
            self.declare(Table::OpenVSwitch, "", column, database);
            if columns.is_empty() || keys.is_some_and(serde_json::Map::is_empty) {
                self.whole.insert((Table::OpenVSwitch, String::new(), column));
            }
        }
    }

    /// NMState writes the whole column of an interface. Which of the three rows of that name has it depends on the type.
    fn row(&mut self, row: &str, database: &Value) {
        for column in COLUMNS.into_iter().filter(|column| database[column.as_str()].is_object()) {
            for table in NAMED {
                self.declare(table, row, column, database);
                self.whole.insert((table, row.to_owned(), column));
            }
        }
    }

    fn declare(&mut self, table: Table, row: &str, column: Column, database: &Value) {
        let plain = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        for (key, value) in database[column.as_str()].as_object().into_iter().flatten() {
            let path = KeyPath { table, row: row.to_owned(), column, key: key.clone() };
            self.keys.insert(path, plain(value));
        }
    }

    pub fn declares(&self, path: &KeyPath) -> bool {
        self.keys.contains_key(path)
    }

    /// Whether the change gave the key this value.
    pub(super) fn sets(&self, path: &KeyPath, value: &str) -> bool {
        self.keys.get(path).is_some_and(|written| written.as_deref() == Some(value))
    }

    /// Whether the change may have taken the key away.
    pub(super) fn removes(&self, path: &KeyPath) -> bool {
        self.keys.contains_key(path) || self.whole.contains(&(path.table, path.row.clone(), path.column))
    }

    pub(super) fn maps(&self, localnet: &str) -> bool {
        self.localnets.contains(localnet)
    }

    pub fn expels(&self, port: &str) -> bool {
        self.expelled.contains(port)
    }
}

fn expelled(plan: &Plan) -> BTreeSet<String> {
    let removed =
        plan.changes.iter().filter(|c| c.kind == ChangeKind::Remove).filter_map(|c| match &c.subject {
            Subject::Interface { name, .. } => Some(name.to_string()),
            _ => None,
        });
    let details = plan.changes.iter().flat_map(|change| &change.details);
    let left =
        details.filter(|detail| detail.want.is_null() || is_absent(&detail.want)).filter_map(|detail| {
            match detail.path.steps() {
                [.., PathStep::Key(list), PathStep::Item(port)] if list == "port" => Some(port.clone()),
                _ => None,
            }
        });
    removed.chain(left).collect()
}
