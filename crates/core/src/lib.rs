//! Decisions about the network of a host: documents, plans, verification. Pure.

pub mod check;
pub mod codes;
pub mod compare;
pub mod compose;
pub mod diagnostic;
pub mod doctor;
pub mod document;
pub mod facts;
pub mod finding;
pub mod impact;
mod index;
pub mod interface_kind;
pub mod inverse;
pub mod keyfile;
pub mod observation;
pub mod outcome;
pub mod path;
pub mod plan;
pub mod policy;
pub mod probe;
mod reach;
pub mod reconcile;
pub mod secrets;
pub mod state;
pub mod verify;
pub mod version;
pub mod why;
