//! Operations of a transaction as they travel (RFC 7047, section 5.2).

mod condition;
mod mutation;
mod outcome;

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

pub use condition::{Condition, Function};
pub use mutation::Mutation;
pub(crate) use outcome::results;
pub use outcome::{ErrorCode, Failed, OpResult, TransactionError};

/// The name of a table or column.
pub type Name = Cow<'static, str>;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    Select {
        table: Name,
        #[serde(rename = "where")]
        condition: Condition,
        /// None: all of them, whatever the schema of this server has.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        columns: Vec<Name>,
    },
    Insert {
        table: Name,
        row: Columns,
        /// By which the other operations of the same transaction refer to the new row; an identifier.
        #[serde(rename = "uuid-name", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    Update {
        table: Name,
        #[serde(rename = "where")]
        condition: Condition,
        row: Columns,
    },
    Mutate {
        table: Name,
        #[serde(rename = "where")]
        condition: Condition,
        mutations: Vec<Mutation>,
    },
    Delete {
        table: Name,
        #[serde(rename = "where")]
        condition: Condition,
    },
    /// The transaction fails ([`ErrorCode::TimedOut`]) if the rows are not so when the milliseconds are over.
    Wait {
        table: Name,
        #[serde(rename = "where")]
        condition: Condition,
        columns: Vec<Name>,
        until: Until,
        rows: Vec<Columns>,
        timeout: u64,
    },
    /// The transaction fails ([`ErrorCode::NotOwner`]) unless this connection holds the lock.
    Assert { lock: String },
    /// For the log of the database.
    Comment { comment: String },
    /// The answer comes when it is on disk.
    Commit { durable: bool },
    /// The transaction fails ([`ErrorCode::Aborted`]); what it would do is known then.
    Abort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Until {
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
}

impl Op {
    /// No columns: all of them.
    pub fn select<C: Into<Name>>(
        table: impl Into<Name>,
        condition: Condition,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        Op::Select { table: table.into(), condition, columns: names(columns) }
    }

    pub fn insert(table: impl Into<Name>, row: Columns) -> Self {
        Op::Insert { table: table.into(), row, name: None }
    }

    /// Names the row of an insertion for the rest of the transaction.
    pub fn named(mut self, label: impl Into<String>) -> Self {
        if let Op::Insert { name, .. } = &mut self {
            *name = Some(label.into());
        }
        self
    }

    pub fn update(table: impl Into<Name>, condition: Condition, row: Columns) -> Self {
        Op::Update { table: table.into(), condition, row }
    }

    pub fn mutate(
        table: impl Into<Name>,
        condition: Condition,
        mutations: impl IntoIterator<Item = Mutation>,
    ) -> Self {
        Op::Mutate { table: table.into(), condition, mutations: mutations.into_iter().collect() }
    }

    pub fn delete(table: impl Into<Name>, condition: Condition) -> Self {
        Op::Delete { table: table.into(), condition }
    }

    /// That the rows which the condition meets have exactly these values. Zero: now, or fail.
    pub fn wait<C: Into<Name>>(
        table: impl Into<Name>,
        condition: Condition,
        columns: impl IntoIterator<Item = C>,
        until: Until,
        rows: impl IntoIterator<Item = Columns>,
        timeout: Duration,
    ) -> Self {
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let rows = rows.into_iter().collect();
        Op::Wait { table: table.into(), condition, columns: names(columns), until, rows, timeout }
    }

    pub fn assert_lock(lock: impl Into<String>) -> Self {
        Op::Assert { lock: lock.into() }
    }

    pub fn comment(comment: impl Into<String>) -> Self {
        Op::Comment { comment: comment.into() }
    }

    pub fn commit(durable: bool) -> Self {
        Op::Commit { durable }
    }
}

fn names<C: Into<Name>>(columns: impl IntoIterator<Item = C>) -> Vec<Name> {
    columns.into_iter().map(Into::into).collect()
}

/// Values of columns, as they travel: an atom is a JSON string, number or boolean; for references, sets and maps use
/// [`crate::Uuid`] and [`crate::Datum`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Columns(Map<String, Value>);

impl Columns {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with(mut self, column: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(column.into(), value.into());
        self
    }
}

impl From<Map<String, Value>> for Columns {
    fn from(columns: Map<String, Value>) -> Self {
        Columns(columns)
    }
}

impl std::ops::Deref for Columns {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        &self.0
    }
}

#[cfg(test)]
mod tests;
