//! What builds on what.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::policy::Policy;
use crate::state;

/// Policies so that each comes after those it builds on; among the rest by priority, then by name.
/// Those that build on each other in a circle keep that last order: they only work together anyway.
pub fn in_order<'a>(policies: &[&'a Policy]) -> Vec<&'a Policy> {
    let mut waiting: Vec<&Policy> = policies.to_vec();
    waiting.sort_by(|a, b| (-a.options.priority, &a.name).cmp(&(-b.options.priority, &b.name)));
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let below: Vec<BTreeSet<usize>> = (0..waiting.len()).map(|at| below(&waiting, at)).collect();
        // Nothing below it but what has it below itself: nothing at all, or its own circle.
        let ready = (0..waiting.len()).find(|at| below[*at].iter().all(|other| below[*other].contains(at)));
        ordered.push(waiting.remove(ready.unwrap_or(0)));
    }
    ordered
}

/// Everything that a policy builds on, however many others are in between.
fn below(policies: &[&Policy], start: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut next = vec![start];
    while let Some(here) = next.pop() {
        let needed = needs(&policies[here].state);
        for (at, other) in policies.iter().enumerate() {
            if at != here && makes_any(&other.state, &needed) && found.insert(at) {
                next.push(at);
            }
        }
    }
    found
}

/// Interfaces that a state refers to and does not declare itself: ports, bases, ways out of routes.
pub fn needs(state: &Value) -> BTreeSet<String> {
    let interfaces = state::interfaces(state);
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for interface in interfaces.iter().filter(|i| !state::is_absent(i)) {
        named.extend(state::ports(interface).unwrap_or_default());
        named.extend(state::base(interface).map(|(_, base)| base));
        named.extend(state::text(interface, "controller").filter(|c| !c.is_empty()));
    }
    let routes = state::list(state, &["routes", "config"]);
    named.extend(
        routes.iter().filter(|r| !state::is_absent(r)).filter_map(|r| state::text(r, "next-hop-interface")),
    );
    let own = |name: &&str| interfaces.iter().any(|i| state::name(i) == *name);
    named.into_iter().filter(|name| !own(name)).map(str::to_owned).collect()
}

/// Whether `state` declares any of the interfaces `names`.
pub fn makes_any(state: &Value, names: &BTreeSet<String>) -> bool {
    state::interfaces(state).iter().any(|i| !state::is_absent(i) && names.contains(state::name(i)))
}
