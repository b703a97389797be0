//! Settings of Open vSwitch: keys of its database, log levels, and the resources of its units.
//!
//! `compose` and `decide` are pure; cases are folders under `crates/ovs/cases/settings`.

pub mod catalogue;
pub mod compose;
mod database;
pub mod decide;
pub mod document;
pub mod feed;
pub mod key;
pub mod ledger;
mod log_levels;
pub mod observed;
pub mod reconcile;
pub mod refusal;
pub mod restart;
pub mod source;
pub mod store;
mod unit_properties;
pub mod value;
pub mod version;

pub use feed::Feed;
pub use reconcile::{Host, Outcome, Settings};
pub use restart::{Restart, Turn};
pub use source::Documents;
