//! Global keys of the Open vSwitch database and OVN's bridge mappings, each on its own: their neighbours are others'.

use serde_json::{Map, Value, json};

use crate::path::PathStep;
use crate::plan::{Change, Detail};

pub(super) fn undo(change: &Change, back: &mut Map<String, Value>) {
    for Detail { path, got, .. } in &change.details {
        match path.steps() {
            // A null takes the key away.
            [PathStep::Key(section), PathStep::Key(column), PathStep::Key(key)] if section == "ovs-db" => {
                back.entry("ovs-db").or_insert_with(|| json!({}))[column][key] = got.clone();
            }
            [PathStep::Key(section), PathStep::Key(_), PathStep::Item(localnet), ..] if section == "ovn" => {
                let mapping = match got {
                    Value::Null => json!({ "localnet": localnet, "state": "absent" }),
                    bridge => json!({ "localnet": localnet, "bridge": bridge }),
                };
                let section = back.entry("ovn").or_insert_with(|| json!({ "bridge-mappings": [] }));
                section["bridge-mappings"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|all| all.push(mapping.clone()));
            }
            _ => {}
        }
    }
}

/// What the older revert says, and what only the newer one says.
pub(super) fn add(section: &str, older: &mut Value, newer: &Value) {
    for (column, values) in newer.as_object().into_iter().flatten() {
        for (key, value) in entries(section, values) {
            if !has(section, &older[column], &key) {
                put(section, &mut older[column], &key, value);
            }
        }
    }
}

/// The revert without what `kept` declares; null if nothing is left.
pub(super) fn without(section: &str, back: &Value, kept: &Value) -> Value {
    let mut left = json!({});
    for (column, values) in back.as_object().into_iter().flatten() {
        for (key, value) in entries(section, values) {
            if !has(section, &kept[column], &key) {
                put(section, &mut left[column], &key, value);
            }
        }
    }
    if left.as_object().is_some_and(Map::is_empty) { Value::Null } else { left }
}

fn entries(section: &str, values: &Value) -> Vec<(String, Value)> {
    if section == "ovs-db" {
        let pairs = values.as_object().into_iter().flatten();
        return pairs.map(|(key, value)| (key.clone(), value.clone())).collect();
    }
    let all = values.as_array().into_iter().flatten();
    all.map(|entry| (entry["localnet"].as_str().unwrap_or_default().to_owned(), entry.clone())).collect()
}

fn has(section: &str, values: &Value, key: &str) -> bool {
    entries(section, values).iter().any(|(known, _)| known == key)
}

fn put(section: &str, values: &mut Value, key: &str, value: Value) {
    if section == "ovs-db" {
        values[key] = value;
        return;
    }
    if values.is_null() {
        *values = json!([]);
    }
    values.as_array_mut().into_iter().for_each(|all| all.push(value.clone()));
}
