//! Reads `<table-updates2>`: what happened to which row. In `modify`, sets and maps travel as differences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Rows, Snapshot};
use crate::row::{Header, Row};
use crate::schema::{ColumnType, Schema, TableSchema};
use crate::value::{Atom, Datum, Uuid};

#[derive(Debug)]
pub(super) struct Changes(Vec<TableChanges>);

/// The next row of each that changed; none: it is gone.
type TableChanges = (Arc<str>, Vec<(Uuid, Option<Arc<Row>>)>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an update of {place} {what}")]
pub(crate) struct Malformed {
    place: String,
    what: String,
}

fn malformed(place: impl Into<String>, what: impl Into<String>) -> Malformed {
    Malformed { place: place.into(), what: what.into() }
}

impl Snapshot {
    /// Cannot fail half way: everything was read before.
    pub(super) fn commit(&mut self, changes: Changes) {
        for (table, rows) in changes.0 {
            let Some(own) = self.tables.get_mut(&table) else { continue };
            let own = Arc::make_mut(own);
            for (uuid, row) in rows {
                match row {
                    Some(row) => drop(own.rows.insert(uuid, row)),
                    None => drop(own.rows.remove(&uuid)),
                }
            }
        }
    }
}

pub(super) fn read(schema: &Schema, current: &Snapshot, updates: &Value) -> Result<Changes, Malformed> {
    let updates = updates.as_object().ok_or_else(|| malformed("the database", "is no object"))?;
    let mut changes = Vec::with_capacity(updates.len());
    for (table, rows) in updates {
        let unknown = || malformed(table, "is for a table that is not monitored");
        let (name, own) = current.tables.get_key_value(table.as_str()).ok_or_else(unknown)?;
        let reader = TableReader::new(schema.tables.get(table).ok_or_else(unknown)?, own)?;
        let rows = rows.as_object().ok_or_else(|| malformed(table, "is no object"))?;
        let mut next = Vec::with_capacity(rows.len());
        for (uuid, update) in rows {
            let uuid = uuid.parse().map_err(|error| malformed(table, format!("has a bad key: {error}")))?;
            next.push((uuid, reader.row(uuid, update)?));
        }
        changes.push((name.clone(), next));
    }
    Ok(Changes(changes))
}

struct TableReader<'a> {
    schema: &'a TableSchema,
    header: &'a Arc<Header>,
    types: Vec<&'a ColumnType>,
    now: &'a BTreeMap<Uuid, Arc<Row>>,
}

impl<'a> TableReader<'a> {
    fn new(schema: &'a TableSchema, rows: &'a Rows) -> Result<Self, Malformed> {
        let ty = |name| schema.column_or_own(name).map(|column| &column.ty);
        let types = rows.header.names().map(ty).collect::<Result<_, _>>();
        let types = types.map_err(|error| malformed(&schema.name, error.to_string()))?;
        Ok(TableReader { schema, header: &rows.header, types, now: &rows.rows })
    }

    fn row(&self, uuid: Uuid, update: &Value) -> Result<Option<Arc<Row>>, Malformed> {
        let malformed = |what: &str| malformed(format!("{} {uuid}", self.schema.name), what);
        let (kind, columns) = update
            .as_object()
            .and_then(|update| update.iter().next())
            .ok_or_else(|| malformed("says nothing"))?;
        let columns = || columns.as_object().ok_or_else(|| malformed("has no columns"));
        match kind.as_str() {
            "delete" => Ok(None),
            "initial" | "insert" => {
                let values = self.types.iter().map(|ty| ty.default_datum()).collect();
                self.with(Row::new(self.header.clone(), values), columns()?, |_, _, value| value)
            }
            "modify" => {
                let row = self.now.get(&uuid).ok_or_else(|| malformed("modifies a row that is not there"))?;
                self.with(Row::clone(row), columns()?, modified)
            }
            other => Err(malformed(&format!("is of the unknown kind {other:?}"))),
        }
    }

    fn with(
        &self,
        mut row: Row,
        columns: &Map<String, Value>,
        merge: impl Fn(&ColumnType, Datum, Datum) -> Datum,
    ) -> Result<Option<Arc<Row>>, Malformed> {
        for (column, value) in columns {
            let unknown = || malformed(&self.schema.name, format!("has the unknown column {column}"));
            let place = self.header.place(column).ok_or_else(unknown)?;
            let ty = *self.types.get(place).ok_or_else(unknown)?;
            let value = ty.decode(value).map_err(|error| {
                malformed(format!("{}.{column}", self.schema.name), format!("cannot be read: {error}"))
            })?;
            if let Some(own) = row.values_mut().get_mut(place) {
                let former = std::mem::replace(own, Datum::Set(BTreeSet::new()));
                *own = merge(ty, former, value);
            }
        }
        Ok(Some(Arc::new(row)))
    }
}

/// The value after a `modify`.
fn modified(ty: &ColumnType, former: Datum, value: Datum) -> Datum {
    match (former, value) {
        (Datum::Set(former), Datum::Set(difference)) if ty.travels_as_difference() => {
            Datum::Set(&former ^ &difference)
        }
        (Datum::Map(former), Datum::Map(difference)) if ty.travels_as_difference() => {
            Datum::Map(map_modified(former, difference))
        }
        (_, value) => value,
    }
}

/// A key with the value that it has already is one that was removed.
fn map_modified(mut map: BTreeMap<Atom, Atom>, difference: BTreeMap<Atom, Atom>) -> BTreeMap<Atom, Atom> {
    for (key, value) in difference {
        if map.get(&key) == Some(&value) {
            map.remove(&key);
        } else {
            map.insert(key, value);
        }
    }
    map
}
