//! Decisions about the network of a host: documents, plans, verification. Pure.

pub mod check;
pub mod codes;
pub mod diagnostic;
pub mod document;
pub mod path;
