//! What a change by hand sets that an applied policy would set back.

use std::fmt;

use serde_json::Value;

use super::Ledger;
use crate::compose::{Conflict, compose};
use crate::path::Path;
use crate::policy::{Drift, Options, Policy};

/// A policy with `drift: Correct` declares something else.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    pub policy: String,
    pub path: Path,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the agent will correct this: policy {} sets {}; edit the policy, or run `linesman freeze` first",
            self.policy, self.path
        )
    }
}

/// The first contradiction of each policy of the ledger to a state that is to be applied by hand.
pub fn contradictions(state: &Value, ledger: &Ledger) -> Vec<Contradiction> {
    // No policy can have this name.
    let by_hand =
        Policy { name: String::new(), state: state.clone(), capture: None, options: Options::default() };
    let corrects = |policy: &Policy| {
        let entry = ledger.get(&policy.name);
        policy.options.drift == Drift::Correct && entry.is_some_and(super::Entry::is_applied)
    };
    let first = |policy: Policy| -> Option<Contradiction> {
        let Conflict { path, .. } = compose(&[&policy, &by_hand]).err()?.into_iter().next()?;
        Some(Contradiction { policy: policy.name, path })
    };
    ledger.applied().into_iter().filter(corrects).filter_map(first).collect()
}
