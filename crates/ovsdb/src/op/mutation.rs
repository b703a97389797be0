//! Changes of single columns that build on what is in them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::value::Datum;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Mutation(Value);

impl Mutation {
    /// Numbers: `+=`.
    pub fn add(column: &str, number: impl Into<Value>) -> Self {
        Mutation(json!([column, "+=", number.into()]))
    }

    /// Numbers: `-=`.
    pub fn subtract(column: &str, number: impl Into<Value>) -> Self {
        Mutation(json!([column, "-=", number.into()]))
    }

    /// Adds elements to a set or pairs to a map. A key that exists keeps its value: delete it first to alter it.
    pub fn insert(column: &str, value: impl Into<Value>) -> Self {
        Mutation(json!([column, "insert", value.into()]))
    }

    /// Takes elements from a set; from a map, pairs (a map) or keys (a set).
    pub fn delete(column: &str, value: impl Into<Value>) -> Self {
        Mutation(json!([column, "delete", value.into()]))
    }

    pub fn insert_keys<'a>(column: &str, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::insert(column, Datum::map(pairs))
    }

    pub fn delete_keys<'a>(column: &str, keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self::delete(column, Datum::set(keys))
    }
}
