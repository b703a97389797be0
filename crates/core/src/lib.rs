//! Decisions about the network of a host: documents, plans, verification. Pure.

pub mod compare;
pub mod facts;
pub mod path;
mod state;
pub mod verify;
