//! What became of a transaction.

use std::fmt;

use serde_json::{Map, Value};

use super::Op;
use crate::row::Row;
use crate::schema::{SchemaError, TableSchema};
use crate::value::{Atom, Uuid};

/// What one operation of a transaction that was committed has to say.
#[derive(Debug, Clone, PartialEq)]
pub enum OpResult {
    /// `select`.
    Rows(Vec<Map<String, Value>>),
    /// How many rows `update`, `mutate` or `delete` met.
    Count(u64),
    /// The new row of `insert`.
    Inserted(Uuid),
    Done,
}

impl OpResult {
    /// The rows as the schema types them; none for other operations than `select`.
    pub fn decode(&self, table: &TableSchema) -> Result<Vec<Row>, SchemaError> {
        self.rows().iter().map(|row| table.decode_row(row)).collect()
    }

    pub fn rows(&self) -> &[Map<String, Value>] {
        if let OpResult::Rows(rows) = self { rows } else { &[] }
    }

    pub fn count(&self) -> Option<u64> {
        if let OpResult::Count(count) = self { Some(*count) } else { None }
    }

    pub fn inserted(&self) -> Option<Uuid> {
        if let OpResult::Inserted(uuid) = self { Some(*uuid) } else { None }
    }

    fn parse(value: &Value) -> Self {
        if let Some(rows) = value.get("rows").and_then(Value::as_array) {
            return OpResult::Rows(rows.iter().filter_map(Value::as_object).cloned().collect());
        }
        if let Some(count) = value.get("count").and_then(Value::as_u64) {
            return OpResult::Count(count);
        }
        match value.get("uuid").and_then(Atom::from_json) {
            Some(Atom::Uuid(uuid)) => OpResult::Inserted(uuid),
            _ => OpResult::Done,
        }
    }
}

/// Why nothing of a transaction was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionError {
    pub at: Failed,
    pub code: ErrorCode,
    pub details: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// Counted from zero.
    Operation { index: usize, what: String },
    /// Every operation for itself was fine.
    Commit,
}

impl fmt::Display for TransactionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Failed::Operation { index, what } => write!(formatter, "operation {index} ({what}): ")?,
            Failed::Commit => write!(formatter, "commit: ")?,
        }
        write!(formatter, "{}", self.code)?;
        if self.details.is_empty() { Ok(()) } else { write!(formatter, " ({})", self.details) }
    }
}

macro_rules! codes {
    ($($name:ident = $text:literal,)*) => {
        /// The database's own words for what went wrong.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum ErrorCode {
            $($name,)*
            Other(String),
        }

        impl ErrorCode {
            pub fn parse(text: &str) -> Self {
                match text {
                    $($text => ErrorCode::$name,)*
                    other => ErrorCode::Other(other.to_owned()),
                }
            }

            pub fn as_str(&self) -> &str {
                match self {
                    $(ErrorCode::$name => $text,)*
                    ErrorCode::Other(text) => text,
                }
            }
        }
    };
}

codes! {
    Aborted = "aborted",
    Canceled = "canceled",
    ClusterError = "cluster error",
    ConstraintViolation = "constraint violation",
    DomainError = "domain error",
    DuplicateUuid = "duplicate uuid",
    DuplicateUuidName = "duplicate uuid-name",
    InternalError = "internal error",
    IoError = "I/O error",
    NotAllowed = "not allowed",
    NotOwner = "not owner",
    NotSupported = "not supported",
    OvsdbError = "ovsdb error",
    PermissionError = "permission error",
    RangeError = "range error",
    ReferentialIntegrity = "referential integrity violation",
    ResourcesExhausted = "resources exhausted",
    SyntaxError = "syntax error",
    TimedOut = "timed out",
    UnknownColumn = "unknown column",
    UnknownDatabase = "unknown database",
    UnknownMethod = "unknown method",
    UnknownTable = "unknown table",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The answer to `transact`: one element for each operation (null after one that failed), and one more if the commit failed.
pub(crate) fn results(ops: &[Op], answers: &[Value]) -> Result<Vec<OpResult>, TransactionError> {
    for (index, answer) in answers.iter().enumerate() {
        if let Some(code) = answer.get("error").and_then(Value::as_str) {
            let at = match ops.get(index) {
                Some(op) => Failed::Operation { index, what: title(op) },
                None => Failed::Commit,
            };
            return Err(TransactionError { at, code: ErrorCode::parse(code), details: details(answer) });
        }
    }
    if answers.len() < ops.len() || answers.iter().any(Value::is_null) {
        let details = format!("{} answers for {} operations", answers.len(), ops.len());
        return Err(TransactionError {
            at: Failed::Commit,
            code: ErrorCode::Other("incomplete answer".into()),
            details,
        });
    }
    Ok(answers.iter().map(OpResult::parse).collect())
}

fn details(answer: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    answer.get("details").filter(|details| !details.is_null()).map(plain).unwrap_or_default()
}

fn title(op: &Op) -> String {
    let (verb, table) = match op {
        Op::Select { table, .. } => ("select", table),
        Op::Insert { table, .. } => ("insert", table),
        Op::Update { table, .. } => ("update", table),
        Op::Mutate { table, .. } => ("mutate", table),
        Op::Delete { table, .. } => ("delete", table),
        Op::Wait { table, .. } => ("wait", table),
        Op::Assert { lock } => return format!("assert {lock}"),
        Op::Comment { .. } => return "comment".to_owned(),
        Op::Commit { .. } => return "commit".to_owned(),
        Op::Abort => return "abort".to_owned(),
    };
    format!("{verb} {table}")
}
