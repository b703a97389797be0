//! Decisions about the network of a host: documents, plans, verification. Pure.

pub mod check;
pub mod codes;
pub mod compare;
pub mod compose;
pub mod diagnostic;
pub mod document;
pub mod facts;
pub mod finding;
pub mod impact;
mod index;
pub mod inverse;
pub mod keep;
pub mod observation;
pub mod path;
pub mod plan;
pub mod policy;
mod reach;
mod state;
pub mod topology;
pub mod verify;
pub mod why;
