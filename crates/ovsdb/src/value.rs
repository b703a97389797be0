//! Values: atoms, and the sets and maps of them that columns hold.

mod atom;
mod datum;
mod uuid;

pub use atom::{Atom, AtomKind, Real};
pub use datum::Datum;
pub use uuid::{NotUuid, Uuid};
