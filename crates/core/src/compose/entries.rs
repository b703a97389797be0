//! Routes and rules of several policies, and which of them conflict.

use serde_json::Value;

use super::conflict::{Conflict, Side};
use crate::compare::{route, rule};
use crate::path::Path;
use crate::state;

/// A route or a rule, and the policies that declare it.
#[derive(Debug)]
pub(super) struct Entry {
    pub value: Value,
    pub policies: Vec<String>,
}

/// Every entry that conflicts with an earlier one.
pub(super) fn conflicts(section: &str, entries: &[Entry]) -> Vec<Conflict> {
    let with_earlier = |(at, entry): (usize, &Entry)| {
        let (one, other, earlier) = entries.iter().take(at).find_map(|earlier| {
            let (one, other) = conflict(section, earlier, entry)?;
            Some((one, other, earlier))
        })?;
        Some(Conflict {
            path: Path::root().key(section).key("config").item(title(&entry.value)),
            one: Side { policy: one.to_owned(), wants: earlier.value.clone() },
            other: Side { policy: other.to_owned(), wants: entry.value.clone() },
        })
    };
    entries.iter().enumerate().filter_map(with_earlier).collect()
}

/// What to call it in a message.
fn title(entry: &Value) -> String {
    let destination = state::text(entry, "destination").map(str::to_owned);
    destination
        .or_else(|| entry.get("priority").map(Value::to_string))
        .or_else(|| state::text(entry, "next-hop-interface").map(str::to_owned))
        .unwrap_or_else(|| "any".into())
}

/// The policies of `one` and of `other` that contradict each other. A policy never contradicts itself: as in NMState,
/// what it wants absent is removed first, and what it adds is there afterwards.
fn conflict<'a>(section: &str, one: &'a Entry, other: &'a Entry) -> Option<(&'a str, &'a str)> {
    let absent = |entry: &Entry| state::is_absent(&entry.value);
    match (absent(one), absent(other)) {
        (true, true) => None,
        (true, false) => removed(section, one, other),
        (false, true) => removed(section, other, one).map(|(one, other)| (other, one)),
        (false, false) => {
            let overlap = section == "routes" && same_place(&one.value, &other.value);
            let both = (one.missing_in(other)?, other.missing_in(one)?);
            (overlap && !shares_load(&one.value, &other.value)).then_some(both)
        }
    }
}

/// Who removes with `gone` what somebody adds with `wanted`; nobody, if all who remove it add it as well.
fn removed<'a>(section: &str, gone: &'a Entry, wanted: &'a Entry) -> Option<(&'a str, &'a str)> {
    let matches = match section {
        "routes" => route::matches(&gone.value, &wanted.value),
        _ => rule::matches(&gone.value, &wanted.value),
    };
    let remover = gone.missing_in(wanted).filter(|_| matches)?;
    Some((remover, wanted.policies.first()?))
}

impl Entry {
    /// The first policy that declares this entry, but not the other.
    fn missing_in(&self, other: &Self) -> Option<&str> {
        self.policies.iter().find(|policy| !other.policies.contains(policy)).map(String::as_str)
    }
}

/// The kernel distinguishes routes by destination, table and metric.
fn same_place(one: &Value, other: &Value) -> bool {
    let destination = |r: &Value| state::text(r, "destination").and_then(state::network);
    let number = |r: &Value, key: &str, default: i64| {
        r.get(key).and_then(Value::as_i64).filter(|n| *n >= 0).unwrap_or(default)
    };
    destination(one).is_some()
        && destination(one) == destination(other)
        && number(one, "table-id", 254) == number(other, "table-id", 254)
        && number(one, "metric", -1) == number(other, "metric", -1)
}

/// Routes with weights are meant to coexist.
fn shares_load(one: &Value, other: &Value) -> bool {
    one.get("weight").is_some_and(|w| !w.is_null()) && other.get("weight").is_some_and(|w| !w.is_null())
}
