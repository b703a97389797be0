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
pub mod import;
mod index;
pub mod inverse;
pub mod keep;
pub mod keyfile;
pub mod observation;
pub mod path;
pub mod plan;
pub mod policy;
mod reach;
pub mod rollout;
pub mod secrets;
mod state;
pub mod topology;
pub mod verify;
pub mod version;
pub mod why;
