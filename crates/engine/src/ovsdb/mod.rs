//! Open vSwitch's database: a small client, and the keys that others keep in it.
//!
//! NetworkManager re-creates rows when it takes a port over, and its checkpoints do not cover what OVN, a CNI plugin or
//! an administrator wrote into them. [`OvsKeys`] remembers those keys; [`restore_plan`] and [`carry_plan`] bring them back.

mod client;
mod frame;
mod keys;
mod op;
mod plan;

use std::{io, path::PathBuf, time::Duration};

pub use client::{Applied, DEFAULT_SOCKET, Ovsdb};
pub use keys::{BridgeKeys, InterfaceKeys, OvsKeys, RowKeys};
pub use op::{Column, Condition, Mutation, Op, Row, Table};
pub use plan::{KeyPath, Scope, carry_plan, missing_rows, remove_plan, restore_plan};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot reach the Open vSwitch database at {path}: {source}; is ovsdb-server running?")]
    Connect { path: PathBuf, source: io::Error },
    #[error("the connection to the Open vSwitch database at {path} broke: {source}")]
    Broken { path: PathBuf, source: io::Error },
    #[error("the Open vSwitch database at {path} gave no answer within {limit:?}")]
    Silent { path: PathBuf, limit: Duration },
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
