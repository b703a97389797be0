//! One policy after the other into one state; every conflict is kept with both names.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::conflict::{Conflict, Side};
use super::entries::{self, Entry};
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::policy::Policy;
use crate::secrets::shown;
use crate::state::{self, is_same_interface};

/// Lists whose order says nothing.
const SETS: [&str; 4] = ["address", "port", "ports-config", "trunk-tags"];

#[derive(Debug, Default)]
pub(super) struct Merge {
    state: Map<String, Value>,
    /// Who said it first, by the printed path of the leaf.
    authors: BTreeMap<String, String>,
    entries: BTreeMap<&'static str, Vec<Entry>>,
    conflicts: Vec<Conflict>,
}

impl Merge {
    pub fn add(&mut self, policy: &Policy) {
        for (key, value) in policy.state.as_object().into_iter().flatten() {
            match key.as_str() {
                "interfaces" => self.interfaces(policy, value),
                "routes" => self.entries(policy, "routes", value),
                "route-rules" => self.entries(policy, "route-rules", value),
                "description" => {}
                _ => {
                    let mut slot = self.state.remove(key);
                    self.value(policy, &Path::root().key(key), &mut slot, value);
                    self.state.insert(key.clone(), slot.unwrap_or_default());
                }
            }
        }
    }

    pub fn finish(mut self) -> Result<Value, Vec<Conflict>> {
        for (section, entries) in std::mem::take(&mut self.entries) {
            self.conflicts.extend(entries::conflicts(section, &entries));
            let config: Vec<Value> = entries.into_iter().map(|entry| entry.value).collect();
            self.state.insert(section.into(), json!({ "config": config }));
        }
        if self.conflicts.is_empty() { Ok(Value::Object(self.state)) } else { Err(self.conflicts) }
    }

    fn interfaces(&mut self, policy: &Policy, list: &Value) {
        let mut known = match self.state.remove("interfaces") {
            Some(Value::Array(known)) => known,
            _ => Vec::new(),
        };
        for interface in list.as_array().into_iter().flatten() {
            let path = Path::interface(state::name(interface));
            match known.iter_mut().find(|k| is_same_interface(k, interface)) {
                Some(found) => {
                    let interface = typed_like(interface, found);
                    let mut slot = Some(std::mem::take(found));
                    self.value(policy, &path, &mut slot, &interface);
                    *found = slot.unwrap_or_default();
                }
                None => {
                    let mut slot = None;
                    self.value(policy, &path, &mut slot, interface);
                    known.extend(slot);
                }
            }
        }
        self.state.insert("interfaces".into(), known.into());
    }

    /// Routes and rules of all policies, each once.
    fn entries(&mut self, policy: &Policy, section: &'static str, value: &Value) {
        let known = self.entries.entry(section).or_default();
        for value in state::list(value, &["config"]) {
            match known.iter_mut().find(|entry| entry.value == *value) {
                Some(entry) => entry.policies.push(policy.name.clone()),
                None => known.push(Entry { value: value.clone(), policies: vec![policy.name.clone()] }),
            }
        }
    }

    fn value(&mut self, policy: &Policy, path: &Path, slot: &mut Option<Value>, new: &Value) {
        match (slot.as_mut(), new) {
            (_, Value::Null) => {}
            (Some(Value::Object(old)), Value::Object(new)) => {
                for (key, value) in new {
                    let mut inner = old.get_mut(key).map(Value::take);
                    self.value(policy, &path.key(key), &mut inner, value);
                    old.insert(key.clone(), inner.unwrap_or_default());
                }
            }
            (None | Some(Value::Null), new) => {
                self.sign(policy, path, new);
                *slot = Some(new.clone());
            }
            (Some(old), new) if agree(path, old, new) => {}
            (Some(old), new) => self.conflicts.push(Conflict {
                path: path.clone(),
                one: Side { policy: self.author(path), wants: shown(path, old) },
                other: Side { policy: policy.name.clone(), wants: shown(path, new) },
            }),
        }
    }

    fn sign(&mut self, policy: &Policy, path: &Path, value: &Value) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| self.sign(policy, &path.key(key), value));
            }
            _ => {
                self.authors.insert(path.to_string(), policy.name.clone());
            }
        }
    }

    fn author(&self, path: &Path) -> String {
        let path = path.to_string();
        let inside = || self.authors.iter().find(|(known, _)| known.starts_with(&path)).map(|(_, who)| who);
        self.authors.get(&path).or_else(inside).cloned().unwrap_or_default()
    }
}

/// A document may leave the type of an interface open: that conflicts with nothing.
fn typed_like(interface: &Value, known: &Value) -> Value {
    let mut interface = interface.clone();
    let known = state::kind(known);
    let open = state::kind(&interface) == InterfaceKind::Unknown || known == InterfaceKind::Unknown;
    if (open || state::kind(&interface).is_same_device(&known))
        && known != InterfaceKind::Unknown
        && let Some(map) = interface.as_object_mut()
    {
        map.insert("type".into(), known.as_str().into());
    }
    interface
}

fn agree(path: &Path, old: &Value, new: &Value) -> bool {
    if old == new || (path.to_string().ends_with("].type") && old == "unknown") {
        return true;
    }
    let is_set = matches!(path.last(), Some(crate::path::PathStep::Key(key)) if SETS.contains(&key.as_str()));
    match (old, new) {
        (Value::Array(old), Value::Array(new)) if is_set => {
            old.len() == new.len() && old.iter().all(|item| new.contains(item))
        }
        _ => false,
    }
}
