//! Decisions about the network of a host: documents, plans, verification. Pure.

pub mod check;
pub mod codes;
pub mod compare;
pub mod diagnostic;
pub mod doctor;
pub mod document;
pub mod facts;
pub mod impact;
pub mod import;
mod index;
pub mod keyfile;
pub mod path;
pub mod plan;
mod reach;
pub mod secrets;
mod state;
pub mod verify;
pub mod version;
