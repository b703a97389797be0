//! An agent in a cluster: which releases of its enactments it accepts, and which status it still has to publish.
//!
//! A release is accepted once. Its expiry distinguishes a new one from an outdated one: the operator never writes one
//! that expires earlier than the one before. So a cluster that was restored from a backup cannot make a node repeat anything.

mod accept;
mod releases;
mod status;

pub use accept::{Accepted, Bound, Unreadable, accepted, is_begun, is_new_release, make_due, policy};
pub use releases::{AcceptedRelease, AcceptedReleases, Planned, Validity};
pub use status::{frozen, lost_record, outdated, pending_status, started, unreadable, unrecorded};
