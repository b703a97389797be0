//! Ways back of several changes by one policy, and beside other policies.

use serde_json::{Map, Value, json};

use super::database;
use crate::state::{self, is_same_interface};

const IDENTITY: [&str; 3] = ["name", "type", "state"];

/// What reverts two changes of one policy, `older` first: what the older one says is what the host was
/// before the policy came.
pub fn younger(older: &Value, newer: &Value) -> Value {
    let mut back = older.as_object().cloned().unwrap_or_default();
    for (key, value) in newer.as_object().into_iter().flatten() {
        match (key.as_str(), back.get_mut(key)) {
            (_, None) => {
                back.insert(key.clone(), value.clone());
            }
            ("interfaces", Some(known)) => add_interfaces(known, value),
            ("routes" | "route-rules", Some(known)) => add_entries(known, value),
            ("ovs-db" | "ovn", Some(known)) => database::add(key, known, value),
            _ => {}
        }
    }
    Value::Object(back)
}

fn add_interfaces(known: &mut Value, newer: &Value) {
    let Some(known) = known.as_array_mut() else { return };
    for interface in newer.as_array().into_iter().flatten() {
        match known.iter_mut().find(|k| is_same_interface(k, interface)) {
            None => known.push(interface.clone()),
            Some(found) if state::is_absent(found) => {}
            Some(found) => {
                for (key, value) in interface.as_object().into_iter().flatten() {
                    match (found.get_mut(key), key.as_str()) {
                        (None, _) => found[key] = value.clone(),
                        (Some(known), "ovs-db") => database::add("ovs-db", known, value),
                        _ => {}
                    }
                }
            }
        }
    }
}

fn add_entries(known: &mut Value, newer: &Value) {
    let Some(known) = known.get_mut("config").and_then(Value::as_array_mut) else { return };
    for entry in state::list(newer, &["config"]) {
        if !known.iter().any(|k| but_for_state(k) == but_for_state(entry)) {
            known.push(entry.clone());
        }
    }
}

fn but_for_state(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(map) = entry.as_object_mut() {
        map.shift_remove("state");
    }
    entry
}

/// The revert state without what the policies that stay ask for (`kept`: their composition).
pub fn without(back: &Value, kept: &Value) -> Value {
    let mut left = Map::new();
    for (key, value) in back.as_object().into_iter().flatten() {
        let value = match key.as_str() {
            "interfaces" => {
                let kept = state::interfaces(kept);
                let entries = value.as_array().into_iter().flatten();
                Value::Array(entries.filter_map(|i| interface_without(i, kept)).collect())
            }
            "routes" | "route-rules" => {
                let kept: Vec<Value> =
                    state::list(kept, &[key, "config"]).iter().map(but_for_state).collect();
                let entries = state::list(value, &["config"]);
                let entries: Vec<&Value> =
                    entries.iter().filter(|e| !kept.contains(&but_for_state(e))).collect();
                if entries.is_empty() { Value::Null } else { json!({ "config": entries }) }
            }
            "ovs-db" | "ovn" => database::without(key, value, &kept[key]),
            _ if kept.get(key).is_some() => Value::Null,
            _ => value.clone(),
        };
        if !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()) {
            left.insert(key.clone(), value);
        }
    }
    Value::Object(left)
}

fn interface_without(interface: &Value, kept: &[Value]) -> Option<Value> {
    let Some(claimed) = kept.iter().find(|k| is_same_interface(k, interface)) else {
        return Some(interface.clone());
    };
    if state::is_absent(interface) {
        return None;
    }
    let mut left = interface.clone();
    let map = left.as_object_mut()?;
    map.retain(|key, _| IDENTITY.contains(&key.as_str()) || claimed.get(key).is_none_or(Value::is_null));
    (map.len() > map.keys().filter(|key| IDENTITY.contains(&key.as_str())).count()).then_some(left)
}
