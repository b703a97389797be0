//! What can go wrong between here and the database.

use std::io;
use std::time::Duration;

use crate::op::{ErrorCode, TransactionError};
use crate::remote::Remote;
use crate::schema::SchemaError;
use crate::tls::TlsError;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error("no remote to connect to; name at least one, such as unix:/run/openvswitch/db.sock")]
    NoRemote,
    #[error("the client needs a tokio runtime with IO and time; start it inside one")]
    NoRuntime,
    #[error("cannot reach the database at {remote}: {source}; is ovsdb-server running there?")]
    Connect { remote: Remote, source: Io },
    #[error("no TLS connection to {remote}: {source}")]
    Tls { remote: Remote, source: TlsError },
    #[error("the connection to {remote} broke: {source}")]
    Broken { remote: Remote, source: Io },
    #[error("{remote} gave no answer to {what} within {limit:?}; it may hang or be overloaded")]
    NoAnswer { remote: Remote, what: String, limit: Duration },
    #[error("{remote} sent nothing for {silence:?}, not even an answer to an echo; it was given up")]
    Dead { remote: Remote, silence: Duration },
    #[error("{remote} sent something that is not OVSDB: {what}; does another service listen there?")]
    NotOvsdb { remote: Remote, what: String },
    #[error("{remote} would not do: {reason}")]
    Unsuitable { remote: Remote, reason: Unsuitable },
    /// Of calls that were on their way: whether a transaction was committed is unknown.
    #[error("the connection was lost before {what} was answered; look whether it was done, then repeat it")]
    Interrupted { what: String },
    #[error("no connection to the database within {limit:?}{}", last.as_deref().map(|last| format!("; the last attempt: {last}")).unwrap_or_default())]
    NotConnected { limit: Duration, last: Option<Box<Error>> },
    #[error("the database refused {method}: {code}{}", if details.is_empty() { String::new() } else { format!(" ({details})") })]
    Refused { method: String, code: ErrorCode, details: String },
    #[error("the database refused the transaction: {0}")]
    Transaction(TransactionError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error("this client asked for lock {0} already; use the handle that it has")]
    LockInUse(String),
    #[error("the client has ended")]
    Stopped,
}

/// Why a server that answers is left again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    #[error("it has no database {0}")]
    NoDatabase(String),
    #[error("it is not connected to its cluster")]
    Disconnected,
    #[error("it is not the leader of its cluster")]
    NotLeader,
    #[error("its data is stale: it is at index {index}, and {seen} has been seen")]
    Stale { index: i64, seen: i64 },
}

/// An [`io::Error`] that can be shown twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Io {
    pub kind: io::ErrorKind,
    text: String,
}

impl From<io::Error> for Io {
    fn from(error: io::Error) -> Self {
        Io { kind: error.kind(), text: error.to_string() }
    }
}

impl From<io::ErrorKind> for Io {
    fn from(kind: io::ErrorKind) -> Self {
        io::Error::from(kind).into()
    }
}

impl Error {
    /// The database answered, and said no: to repeat it as it is makes no sense.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Error::Refused { .. } | Error::Transaction(_))
    }

    /// What the database called it.
    pub fn code(&self) -> Option<&ErrorCode> {
        match self {
            Error::Refused { code, .. } => Some(code),
            Error::Transaction(error) => Some(&error.code),
            _ => None,
        }
    }
}
