//! Policies that meet on one host, as one state. Pure.
//!
//! NMState's lists of addresses, ports and servers are complete: what they omit is taken away. So two policies
//! agree when each of them still holds in the other's presence, and conflict otherwise; nobody wins
//! by being newer. Routes and rules add up.

mod conflict;
mod entries;
mod merge;
mod order;

use serde_json::{Map, Value};

pub use conflict::{Conflict, Side};
pub use order::{in_order, makes_any, needs};

use crate::policy::Policy;
use crate::state;
use merge::Merge;

/// The one state that all `policies` ask for together, or every path where two of them conflict.
/// The order in which the policies are given does not matter.
pub fn compose(policies: &[&Policy]) -> Result<Value, Vec<Conflict>> {
    let mut merge = Merge::default();
    for policy in in_order(policies) {
        merge.add(policy);
    }
    merge.finish()
}

/// The part of `state` that speaks of one interface: its entry, its routes.
pub fn about(state: &Value, interface: &str) -> Value {
    let mut part = Map::new();
    let named: Vec<Value> =
        state::interfaces(state).iter().filter(|i| state::name(i) == interface).cloned().collect();
    if !named.is_empty() {
        part.insert("interfaces".into(), named.into());
    }
    let routes = state::list(state, &["routes", "config"]);
    let leading: Vec<Value> =
        routes.iter().filter(|r| state::text(r, "next-hop-interface") == Some(interface)).cloned().collect();
    if !leading.is_empty() {
        part.insert("routes".into(), serde_json::json!({ "config": leading }));
    }
    Value::Object(part)
}

#[cfg(test)]
mod tests;
