//! What a column may hold (`<type>`), and the way from JSON to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::base::BaseType;
use crate::value::{Atom, AtomKind, Datum};

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    pub key: BaseType,
    /// Of a map.
    pub value: Option<BaseType>,
    /// How many atoms or pairs: 0 or 1 at least.
    pub min: u64,
    /// None: as many as one likes.
    pub max: Option<u64>,
}

/// A value that the column cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub(crate) String);

impl ValueError {
    pub fn new(what: impl Into<String>) -> Self {
        ValueError(what.into())
    }
}

impl ColumnType {
    pub(crate) const UUID: ColumnType =
        ColumnType { key: BaseType::of(AtomKind::Uuid), value: None, min: 1, max: Some(1) };

    pub fn is_map(&self) -> bool {
        self.value.is_some()
    }

    /// Exactly one atom.
    pub fn is_scalar(&self) -> bool {
        self.value.is_none() && self.min == 1 && self.max == Some(1)
    }

    /// One atom or none.
    pub fn is_optional(&self) -> bool {
        self.value.is_none() && self.min == 0 && self.max == Some(1)
    }

    /// In an update, the difference to the former value travels instead of the new one.
    pub(crate) fn travels_as_difference(&self) -> bool {
        self.max != Some(1)
    }

    /// What a column holds that nobody has written.
    pub fn default_datum(&self) -> Datum {
        let key = self.key.kind.default_atom();
        match &self.value {
            None if self.is_scalar() => Datum::Atom(key),
            None if self.min == 0 => Datum::Set(BTreeSet::new()),
            None => Datum::Set(BTreeSet::from([key])),
            Some(_) if self.min == 0 => Datum::Map(BTreeMap::new()),
            Some(value) => Datum::Map(BTreeMap::from([(key, value.kind.default_atom())])),
        }
    }

    /// What the server sent. Only its form is judged: ranges and counts are the server's business, and a difference
    /// has other counts than a value.
    pub fn decode(&self, value: &Value) -> Result<Datum, ValueError> {
        self.decoded(value).ok_or_else(|| {
            let mut text = value.to_string();
            if let Some((end, _)) = text.char_indices().nth(120) {
                text.truncate(end);
                text.push('…');
            }
            ValueError(format!("expected {self}, got {text}"))
        })
    }

    fn decoded(&self, value: &Value) -> Option<Datum> {
        if let Some(held) = &self.value {
            return pairs_of(value)?
                .iter()
                .map(|pair| pair_of(pair, &self.key, held))
                .collect::<Option<_>>()
                .map(Datum::Map);
        }
        let atom = |value| self.key.kind.decode(value);
        match value.as_array().map(Vec::as_slice) {
            Some([Value::String(tag), Value::Array(atoms)]) if tag == "set" => match atoms.as_slice() {
                [only] if self.is_scalar() => atom(only).map(Datum::Atom),
                _ if self.is_scalar() => None,
                _ => atoms.iter().map(atom).collect::<Option<_>>().map(Datum::Set),
            },
            _ if self.is_scalar() => atom(value).map(Datum::Atom),
            _ => Some(Datum::Set(BTreeSet::from([atom(value)?]))),
        }
    }

    /// Whether the database would take the value: kinds, choices, ranges and counts.
    pub fn check(&self, datum: &Datum) -> Result<(), ValueError> {
        let count = u64::try_from(datum.len()).unwrap_or(u64::MAX);
        if count < self.min || self.max.is_some_and(|max| count > max) {
            return Err(ValueError(format!("expected {self}, got {count} of them")));
        }
        let key = |atom: &Atom| self.key.check(atom).map_err(ValueError);
        match (datum, &self.value) {
            (Datum::Map(pairs), Some(held)) => pairs.iter().try_for_each(|(atom, value)| {
                key(atom)?;
                held.check(value).map_err(|what| ValueError(format!("{what} (of key {atom})")))
            }),
            (Datum::Atom(atom), None) => key(atom),
            (Datum::Set(atoms), None) => atoms.iter().try_for_each(key),
            (Datum::Map(_), None) => Err(ValueError(format!("expected {self}, got a map"))),
            (_, Some(_)) => Err(ValueError(format!("expected {self}, got no map"))),
        }
    }
}

fn pairs_of(value: &Value) -> Option<&[Value]> {
    match value.as_array()?.as_slice() {
        [Value::String(tag), Value::Array(pairs)] if tag == "map" => Some(pairs),
        _ => None,
    }
}

fn pair_of(pair: &Value, key: &BaseType, value: &BaseType) -> Option<(Atom, Atom)> {
    match pair.as_array()?.as_slice() {
        [first, second] => Some((key.kind.decode(first)?, value.kind.decode(second)?)),
        _ => None,
    }
}

impl std::fmt::Display for ColumnType {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.kind.as_str();
        match (&self.value, self.min, self.max) {
            (None, 1, Some(1)) => write!(formatter, "one {key}"),
            (None, 0, Some(1)) => write!(formatter, "one {key} or none"),
            (None, min, None) => write!(formatter, "a set of {min} or more of {key}"),
            (None, min, Some(max)) => write!(formatter, "a set of {min} to {max} of {key}"),
            (Some(value), min, None) => {
                write!(formatter, "a map of {min} or more from {key} to {}", value.kind.as_str())
            }
            (Some(value), min, Some(max)) => {
                write!(formatter, "a map of {min} to {max} from {key} to {}", value.kind.as_str())
            }
        }
    }
}
