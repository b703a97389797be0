//! Policies that conflict with others.

use std::collections::BTreeMap;

use super::Ledger;
use crate::compose::{Conflict, compose};
use crate::policy::Policy;

pub type Refusals = BTreeMap<String, Vec<Conflict>>;

/// Which policies are refused because of which conflicts, on a host with this ledger.
pub fn refusals(policies: &[Policy], ledger: &Ledger) -> Refusals {
    let applied = |name: &str| {
        let policy = policies.iter().find(|p| p.name == name);
        policy.is_some_and(|p| ledger.get(name).is_some_and(|e| e.is_applied() && e.policy == *p))
    };
    refused(&policies.iter().collect::<Vec<_>>(), applied)
}

/// An applied policy stays; of two new ones neither is accepted, since it is unknown which one was meant.
pub fn refused(policies: &[&Policy], applied: impl Fn(&str) -> bool) -> Refusals {
    let mut refused = Refusals::new();
    let mut left: Vec<&Policy> = policies.to_vec();
    while let Err(conflicts) = compose(&left) {
        let before = refused.len();
        for conflict in conflicts {
            let sides = [conflict.one.policy.clone(), conflict.other.policy.clone()];
            let newcomer = sides.iter().any(|name| !applied(name));
            for name in sides.into_iter().filter(|name| !newcomer || !applied(name)) {
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
