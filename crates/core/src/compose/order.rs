//! What builds on what.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::policy::Policy;
use crate::state;

/// Policies so that each comes after those it builds on; among the rest by priority, then by name.
/// Those that build on each other in a circle keep that last order: they only work together anyway.
pub fn in_order<'a>(policies: &[&'a Policy]) -> Vec<&'a Policy> {
    let mut sorted: Vec<&Policy> = policies.to_vec();
    sorted.sort_by(|a, b| (-a.options.priority, &a.name).cmp(&(-b.options.priority, &b.name)));
    let mut waiting = Waiting { builds_on: builds_on(&sorted), left: (0..sorted.len()).collect() };
    let mut ordered = Vec::with_capacity(sorted.len());
    while let Some(next) = waiting.next() {
        waiting.left.remove(&next);
        ordered.push(sorted[next]);
    }
    ordered
}

/// By place: on which others a policy builds itself.
fn builds_on(policies: &[&Policy]) -> Vec<BTreeSet<usize>> {
    let mut makers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, policy) in policies.iter().enumerate() {
        for interface in state::interfaces(&policy.state).iter().filter(|i| !state::is_absent(i)) {
            makers.entry(state::name(interface)).or_default().push(at);
        }
    }
    let of = |(at, policy): (usize, &&Policy)| {
        let needed = needs(&policy.state);
        let makers = needed.iter().filter_map(|name| makers.get(name.as_str())).flatten();
        makers.copied().filter(|maker| *maker != at).collect()
    };
    policies.iter().enumerate().map(of).collect()
}

struct Waiting {
    builds_on: Vec<BTreeSet<usize>>,
    left: BTreeSet<usize>,
}

impl Waiting {
    /// The first one with nothing below it but what has it below itself: nothing at all, or its own circle.
    fn next(&self) -> Option<usize> {
        let is_ready = |at: &&usize| self.below(**at).iter().all(|other| self.below(*other).contains(*at));
        self.left.iter().find(is_ready).or(self.left.first()).copied()
    }

    /// Everything that a policy builds on and that is not in order yet, however many others are in between.
    fn below(&self, start: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut next = vec![start];
        while let Some(here) = next.pop() {
            let new = self.builds_on[here].iter().filter(|at| self.left.contains(at) && found.insert(**at));
            next.extend(new);
        }
        found
    }
}

/// Interfaces that a state refers to and does not declare itself: ports, bases, ways out of routes, bridges of OVN.
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
    let mappings = state::list(state, &["ovn", "bridge-mappings"]);
    named.extend(mappings.iter().filter(|m| !state::is_absent(m)).filter_map(|m| state::text(m, "bridge")));
    let own: BTreeSet<&str> = interfaces.iter().map(state::name).collect();
    named.difference(&own).map(|name| (*name).to_owned()).collect()
}

/// Whether `state` declares any of the interfaces `names`.
pub fn makes_any(state: &Value, names: &BTreeSet<String>) -> bool {
    state::interfaces(state).iter().any(|i| !state::is_absent(i) && names.contains(state::name(i)))
}
