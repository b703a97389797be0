//! A row as read: typed values under the names of their columns.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::schema::{SchemaError, ValueError};
use crate::value::{Atom, Datum, Uuid};

type Result<T> = std::result::Result<T, SchemaError>;

/// The columns that all rows of a table share; sorted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    table: String,
    names: Vec<Arc<str>>,
}

impl Header {
    pub(crate) fn new(table: &str, names: impl Iterator<Item = Arc<str>>) -> Self {
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        Header { table: table.to_owned(), names }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|other| other.as_ref().cmp(name)).ok()
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    header: Arc<Header>,
    values: Vec<Datum>,
}

impl Row {
    pub(crate) fn new(header: Arc<Header>, values: Vec<Datum>) -> Self {
        Row { header, values }
    }

    pub(crate) fn values_mut(&mut self) -> &mut [Datum] {
        &mut self.values
    }

    /// None: this server's schema has no such column, or it was not asked for.
    pub fn get(&self, column: &str) -> Option<&Datum> {
        self.values.get(self.header.place(column)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Datum)> {
        self.header.names().zip(&self.values)
    }

    pub fn text(&self, column: &str) -> Result<&str> {
        self.typed(column, "one string", |datum| single(datum)?.as_str())
    }

    pub fn integer(&self, column: &str) -> Result<i64> {
        self.typed(column, "one integer", |datum| single(datum)?.as_integer())
    }

    pub fn real(&self, column: &str) -> Result<f64> {
        self.typed(column, "one real", |datum| single(datum)?.as_real())
    }

    pub fn boolean(&self, column: &str) -> Result<bool> {
        self.typed(column, "one boolean", |datum| single(datum)?.as_boolean())
    }

    pub fn uuid(&self, column: &str) -> Result<Uuid> {
        self.typed(column, "one uuid", |datum| single(datum)?.as_uuid())
    }

    pub fn optional_text(&self, column: &str) -> Result<Option<&str>> {
        self.optional(column, "string", Atom::as_str)
    }

    pub fn optional_integer(&self, column: &str) -> Result<Option<i64>> {
        self.optional(column, "integer", Atom::as_integer)
    }

    pub fn optional_boolean(&self, column: &str) -> Result<Option<bool>> {
        self.optional(column, "boolean", Atom::as_boolean)
    }

    pub fn optional_uuid(&self, column: &str) -> Result<Option<Uuid>> {
        self.optional(column, "uuid", Atom::as_uuid)
    }

    pub fn map(&self, column: &str) -> Result<&BTreeMap<Atom, Atom>> {
        self.typed(column, "a map", |datum| if let Datum::Map(pairs) = datum { Some(pairs) } else { None })
    }

    pub fn text_map(&self, column: &str) -> Result<BTreeMap<&str, &str>> {
        self.typed(column, "a map of strings", |datum| {
            let Datum::Map(pairs) = datum else { return None };
            pairs.iter().map(|(key, value)| Some((key.as_str()?, value.as_str()?))).collect()
        })
    }

    /// The atoms of a column that is no map.
    pub fn set(&self, column: &str) -> Result<Vec<&Atom>> {
        self.typed(column, "a set", atoms)
    }

    pub fn texts(&self, column: &str) -> Result<Vec<&str>> {
        self.typed(column, "a set of strings", |datum| atoms(datum)?.into_iter().map(Atom::as_str).collect())
    }

    /// The rows that a column refers to.
    pub fn uuids(&self, column: &str) -> Result<Vec<Uuid>> {
        self.typed(column, "a set of uuids", |datum| atoms(datum)?.into_iter().map(Atom::as_uuid).collect())
    }

    fn optional<'a, T>(
        &'a self,
        column: &str,
        kind: &str,
        read: impl Fn(&'a Atom) -> Option<T>,
    ) -> Result<Option<T>> {
        self.typed(column, &format!("one {kind} or none"), |datum| match atoms(datum)?.as_slice() {
            [] => Some(None),
            [only] => read(only).map(Some),
            _ => None,
        })
    }

    fn typed<'a, T>(
        &'a self,
        column: &str,
        wanted: &str,
        read: impl FnOnce(&'a Datum) -> Option<T>,
    ) -> Result<T> {
        let Some(datum) = self.get(column) else {
            return Err(SchemaError::NoColumn {
                table: self.header.table.clone(),
                column: column.to_owned(),
            });
        };
        read(datum).ok_or_else(|| SchemaError::Value {
            table: self.header.table.clone(),
            column: column.to_owned(),
            source: ValueError(format!("asked for {wanted}, but it holds {datum:?}")),
        })
    }
}

fn single(datum: &Datum) -> Option<&Atom> {
    if let Datum::Atom(atom) = datum { Some(atom) } else { None }
}

fn atoms(datum: &Datum) -> Option<Vec<&Atom>> {
    match datum {
        Datum::Atom(atom) => Some(vec![atom]),
        Datum::Set(atoms) => Some(atoms.iter().collect()),
        Datum::Map(_) => None,
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}
