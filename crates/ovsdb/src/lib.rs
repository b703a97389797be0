//! A client of Open vSwitch's database (RFC 7047).

mod client;
mod frame;
mod op;

use std::{io, path::PathBuf, time::Duration};

pub use client::{Applied, DEFAULT_SOCKET, Ovsdb};
pub use op::{Column, Condition, Mutation, Op, Row, Table, inserted};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot reach the Open vSwitch database at {path}: {source}; is ovsdb-server running?")]
    Connect { path: PathBuf, source: io::Error },
    #[error("the connection to the Open vSwitch database at {path} broke: {source}")]
    Broken { path: PathBuf, source: io::Error },
    #[error("the Open vSwitch database at {path} gave no answer within {limit:?}")]
    NoAnswer { path: PathBuf, limit: Duration },
    #[error(
        "the connection to the Open vSwitch database at {path} was given up after an earlier failure; connect again"
    )]
    GivenUp { path: PathBuf },
    #[error("the Open vSwitch database at {path} sent something that is not OVSDB: {what}")]
    NotOvsdb { path: PathBuf, what: String },
    #[error("the Open vSwitch database refused the request: {error}{details}")]
    Refused { error: String, details: String },
    #[error("a row of the Open vSwitch table {table} has an unexpected {column}: {value}")]
    Shape { table: &'static str, column: &'static str, value: String },
}

pub type Result<T> = std::result::Result<T, Error>;
