//! Policies that contradict others.

use std::collections::BTreeMap;

use super::Ledger;
use crate::compose::{Conflict, compose};
use crate::policy::Policy;

pub type Refusals = BTreeMap<String, Vec<Conflict>>;

/// Which policies are refused because of which contradictions, on a host with this ledger.
pub fn refusals(policies: &[Policy], ledger: &Ledger) -> Refusals {
    let stands = |name: &str| {
        let policy = policies.iter().find(|p| p.name == name);
        policy.is_some_and(|p| ledger.get(name).is_some_and(|e| e.is_kept() && e.policy == *p))
    };
    refused(&policies.iter().collect::<Vec<_>>(), stands)
}

/// What stands already stays; of two that are both new neither is taken, since nobody can tell which one was meant.
pub fn refused(policies: &[&Policy], stands: impl Fn(&str) -> bool) -> Refusals {
    let mut refused = Refusals::new();
    let mut left: Vec<&Policy> = policies.to_vec();
    while let Err(conflicts) = compose(&left) {
        let before = refused.len();
        for conflict in conflicts {
            let sides = [conflict.one.policy.clone(), conflict.other.policy.clone()];
            let newcomer = sides.iter().any(|name| !stands(name));
            for name in sides.into_iter().filter(|name| !newcomer || !stands(name)) {
                refused.entry(name).or_default().push(conflict.clone());
            }
        }
        left.retain(|policy| !refused.contains_key(&policy.name));
        if refused.len() == before {
            break;
        }
    }
    refused
}
