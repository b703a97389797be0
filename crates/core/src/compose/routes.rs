//! Which routes and rules of two policies conflict.

use serde_json::Value;

use crate::state;

pub(super) fn key(section: &str, entry: &Value) -> String {
    format!("{section} {entry}")
}

/// What to call it in a message.
pub(super) fn title(entry: &Value) -> String {
    let destination = state::text(entry, "destination").map(str::to_owned);
    destination
        .or_else(|| entry.get("priority").map(Value::to_string))
        .or_else(|| state::text(entry, "next-hop-interface").map(str::to_owned))
        .unwrap_or_else(|| "any".into())
}

pub(super) fn conflict(section: &str, one: &Value, other: &Value) -> bool {
    if state::is_absent(one) != state::is_absent(other) {
        let (gone, wanted) = if state::is_absent(one) { (one, other) } else { (other, one) };
        return takes_away(gone, wanted);
    }
    section == "routes" && !state::is_absent(one) && same_place(one, other) && !shares_load(one, other)
}

/// An absent entry takes away everything that has the properties it names.
fn takes_away(gone: &Value, wanted: &Value) -> bool {
    let named =
        gone.as_object().into_iter().flatten().filter(|(key, value)| *key != "state" && !value.is_null());
    named.into_iter().all(|(key, value)| wanted.get(key) == Some(value))
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
