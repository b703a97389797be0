//! An agent in a cluster: which of its enactments it takes, and what it owes an answer for.
//!
//! An instruction is taken once. What tells a new one from old news is its release: the operator never writes one that ends
//! earlier than the one before. So a cluster that was restored from a backup cannot make a node do anything again.

mod answer;
mod orders;
mod take;

pub use answer::{begun, held, old_news, owed};
pub use orders::{Order, Orders, Planned};
pub use take::{Bound, Refused, Taken, fresh, policy, taken, try_again};
