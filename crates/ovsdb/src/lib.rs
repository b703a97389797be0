//! An async client of OVSDB, the database of Open vSwitch and OVN.
//!
//! It speaks RFC 7047 and the extensions that ovsdb-server has grown since: conditional monitors that go on where a lost
//! connection left off, clusters, and notice of changed schemas. [`unixctl`] is the other protocol of these daemons, that of
//! `ovs-appctl`.
//!
//! # A replica
//!
//! A [`Client`] keeps a connection. With a [`Monitor`] it also keeps a copy of tables in memory: a [`Snapshot`] is the
//! database between two transactions, never in the midst of one, also when a reconnect had to fetch everything again.
//!
//! ```no_run
//! use linesman_ovsdb::{Client, Monitor, Remote, TableMonitor};
//!
//! # async fn example() -> linesman_ovsdb::Result<()> {
//! let bridges = TableMonitor::new("Bridge").columns(["name", "external_ids"]);
//! let client = Client::builder([Remote::unix("/run/openvswitch/db.sock")], "Open_vSwitch")
//!     .monitor(Monitor::new().table(bridges))
//!     .connect()
//!     .await?;
//! if let Some(mut replica) = client.replica() {
//!     loop {
//!         let snapshot = replica.snapshot();
//!         for (uuid, row) in snapshot.table("Bridge").into_iter().flat_map(|rows| rows.iter()) {
//!             println!("{uuid} {} {:?}", row.text("name")?, row.text_map("external_ids")?);
//!         }
//!         replica.changed().await?;
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # Transactions
//!
//! ```no_run
//! use std::time::Duration;
//! use linesman_ovsdb::{Client, Columns, Condition, ErrorCode, Mutation, Op, Until};
//!
//! # async fn example(client: Client) -> linesman_ovsdb::Result<()> {
//! // Alters a key, unless somebody else altered it first.
//! let known = linesman_ovsdb::Datum::map([("owner", "me")]);
//! let guard = Columns::new().with("external_ids", known);
//! let ops = [
//!     Op::wait("Bridge", Condition::named("br0"), ["external_ids"], Until::Equal, [guard], Duration::ZERO),
//!     Op::mutate(
//!         "Bridge",
//!         Condition::named("br0"),
//!         [Mutation::delete_keys("external_ids", ["owner"]), Mutation::insert_keys("external_ids", [("owner", "you")])],
//!     ),
//! ];
//! match client.transact(&ops).await {
//!     Ok(results) => println!("{:?} rows", results[1].count()),
//!     Err(error) if error.code() == Some(&ErrorCode::TimedOut) => println!("somebody was faster"),
//!     Err(error) => return Err(error),
//! }
//! # Ok(()) }
//! ```
//!
//! # A cluster, over TLS
//!
//! ```no_run
//! use linesman_ovsdb::{Client, Membership, Op, Remote, Tls};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let remotes = Remote::list("ssl:db-0:6641,ssl:db-1:6641,ssl:db-2:6641")?;
//! let client = Client::builder(remotes, "OVN_Northbound")
//!     .tls(Tls::new("/certs/ca.crt").identity("/certs/tls.crt", "/certs/tls.key"))
//!     .membership(Membership::LeaderOnly)
//!     .start()?;
//! let mut lock = client.lock("only-one-writes")?;
//! lock.held().await?;
//! client.transact(&[Op::assert_lock(lock.name()), Op::comment("it is me")]).await?;
//! # Ok(()) }
//! ```

mod client;
mod cluster;
mod error;
mod frame;
#[doc(hidden)]
pub mod fuzz;
mod lock;
mod message;
mod monitor;
mod op;
mod remote;
mod replica;
mod row;
mod schema;
mod session;
mod status;
mod supervisor;
mod tls;
pub mod unixctl;
mod value;
mod wire;

pub use client::{Builder, Client};
pub use error::{Error, Io, Result, Unsuitable};
pub use lock::{Lock, LockState};
pub use monitor::{Monitor, TableMonitor};
pub use op::{
    Columns, Condition, ErrorCode, Failed, Function, Mutation, Name, Op, OpResult, TransactionError, Until,
};
pub use remote::{BadRemote, DEFAULT_PORT, Host, Remote};
pub use replica::{Replica, Rows, Snapshot};
pub use row::Row;
pub use schema::{
    BaseType, Bounds, ColumnSchema, ColumnType, Reference, Schema, SchemaError, TableSchema, ValueError,
};
pub use status::{Member, Membership, Model, State, Status};
pub use tls::{Tls, TlsError};
pub use value::{Atom, AtomKind, Datum, NotUuid, Real, Uuid};
