//! Reconciling the policies of a host: what is applied, and what to do next. Pure.
//!
//! load (IO) -> [`decide`] (pure) -> act (IO) -> report (IO), until there is nothing left to do.

mod contradict;
mod decide;
mod ledger;
mod refuse;
mod transitions;

pub use contradict::{Contradiction, contradictions};
pub use decide::{Next, Situation, decide};
pub use ledger::{CorrectionHistory, Entry, Ledger, PolicyState};
pub use refuse::{Refusals, refusals, refused};
pub use transitions::{TRANSITIONS, Transition};

#[cfg(test)]
mod tests;
