//! Keeping the policies of a host: what stands, and what to do next. Pure.
//!
//! load (IO) -> [`decide`] (pure) -> act (IO) -> report (IO), until there is nothing left to do.

mod decide;
mod ledger;
mod refuse;
mod ways;

pub use decide::{Next, Situation, decide};
pub use ledger::{Entry, Fight, Ledger, Standing};
pub use refuse::{Refusals, refusals, refused};
pub use ways::{WAYS, Way};

#[cfg(test)]
mod tests;
