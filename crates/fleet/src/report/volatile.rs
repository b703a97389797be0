//! What changes by itself: a report that held it would be news every second.

use serde_json::Value;

/// Lifetimes of addresses and routes, timers and counters.
const KEYS: [&str; 7] = [
    "preferred-life-time",
    "valid-life-time",
    "gc-timer",
    "hello-timer",
    "topology-change-timer",
    "tcn-timer",
    "statistics",
];

pub fn settle(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !KEYS.contains(&key.as_str()));
            fields.values_mut().for_each(settle);
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        _ => {}
    }
}
