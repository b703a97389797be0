//! Which rows an operation or a monitor is about.

use serde::Serialize;
use serde_json::{Value, json};

use crate::value::Uuid;

/// All of its parts hold; without parts, every row is meant.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct Condition(Vec<Value>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Sets and maps: the column has all of these.
    Includes,
    /// Sets and maps: the column has none of these.
    Excludes,
}

impl Function {
    pub fn as_str(self) -> &'static str {
        match self {
            Function::Equal => "==",
            Function::NotEqual => "!=",
            Function::Less => "<",
            Function::LessOrEqual => "<=",
            Function::Greater => ">",
            Function::GreaterOrEqual => ">=",
            Function::Includes => "includes",
            Function::Excludes => "excludes",
        }
    }
}

impl Condition {
    pub fn all() -> Self {
        Condition::default()
    }

    pub fn column(column: &str, function: Function, value: impl Into<Value>) -> Self {
        Condition::all().and(column, function, value)
    }

    pub fn and(mut self, column: &str, function: Function, value: impl Into<Value>) -> Self {
        self.0.push(json!([column, function.as_str(), value.into()]));
        self
    }

    /// The row with that UUID.
    pub fn uuid(uuid: Uuid) -> Self {
        Condition::column("_uuid", Function::Equal, uuid)
    }

    /// Rows with that name, in tables that have a column `name`.
    pub fn named(name: &str) -> Self {
        Condition::column("name", Function::Equal, name)
    }

    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }
}
