//! Settings of Open vSwitch: keys of its database, log levels, and the resources of its units.
//!
//! `compose` and `decide` are pure; cases are folders under `crates/ovs/cases/settings`.

pub mod catalogue;
pub mod compose;
pub mod decide;
pub mod document;
pub mod key;
pub mod ledger;
pub mod observed;
pub mod refusal;
pub mod source;
pub mod value;
pub mod version;
