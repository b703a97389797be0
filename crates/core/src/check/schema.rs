//! Finds the place of what a typed parse dislikes.
//!
//! The parse says what is wrong but not where. So parts are left out one at a time: the part without which the
//! error disappears, or becomes another one, is invalid.

use serde_json::{Map, Value, json};

use super::interfaces::BASE_KEYS;
use super::{MAX_DIAGNOSTICS, Schema, schema_errors, view};
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::{Path, PathStep};

pub(super) fn diagnose(state: &Value, schema: Schema<'_>) -> Vec<Diagnostic> {
    let prepared = prepare(state, schema);
    let invalid_fields = Locator { schema, found: Vec::new() }.run(&prepared);
    let known = invalid_fields.into_iter().filter(|invalid| !waits_for_capture(invalid, state));
    known.map(|invalid| schema_errors::explain(&invalid.error, &invalid.path, state)).collect()
}

/// Where `refuses` finds its fault with a state that has been resolved, by the names of interfaces: their order is not the document's.
pub(super) fn faults(state: &Value, refuses: Schema<'_>) -> Vec<(Path, String)> {
    let found = Locator { schema: refuses, found: Vec::new() }.run(state);
    found.into_iter().map(|fault| (by_name(&fault.path, state), fault.error)).collect()
}

fn by_name(path: &Path, state: &Value) -> Path {
    match path.steps() {
        [PathStep::Key(list), PathStep::Index(index), below @ ..] if list == "interfaces" => {
            let interface = Path::interface(state["interfaces"][index]["name"].as_str().unwrap_or_default());
            below.iter().fold(interface, |path, step| path.join(step.clone()))
        }
        _ => path.clone(),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct InvalidField {
    path: Path,
    error: String,
}

struct Locator<'a> {
    schema: Schema<'a>,
    found: Vec<InvalidField>,
}

impl Locator<'_> {
    fn run(mut self, state: &Value) -> Vec<InvalidField> {
        let Some(error) = self.error(state) else { return Vec::new() };
        for (key, value) in state.as_object().into_iter().flatten() {
            let path = Path::root().key(key);
            self.search(json!({ key: value }), &path, &path);
        }
        if self.found.is_empty() {
            self.report(&Path::root(), error);
        }
        self.found
    }

    fn error(&self, state: &Value) -> Option<String> {
        (self.schema)(state).err()
    }

    fn report(&mut self, path: &Path, error: String) {
        self.found.push(InvalidField { path: path.clone(), error });
    }

    /// Reports what is wrong at or below `at` in `probe`; `place` is the same place in the whole document.
    fn search(&mut self, mut probe: Value, at: &Path, place: &Path) {
        while self.found.len() < MAX_DIAGNOSTICS {
            let Some(error) = self.error(&probe) else { return };
            if self.error(&without(&probe, at)).as_ref() == Some(&error) {
                return;
            }
            let invalid = match at.find(&probe) {
                Some(Value::Array(items)) if !items.is_empty() => {
                    return self.search_items(&probe, items, at, place, error);
                }
                Some(Value::Object(map)) => self.guilty_key(&probe, map.keys(), at, &error),
                _ => None,
            };
            let Some((key, narrowed)) = invalid else { return self.report(place, error) };
            self.search(narrowed, &at.key(&key), &place.key(&key));
            probe = without(&probe, &at.key(&key));
            if self.error(&probe) == Some(missing(&key)) {
                return;
            }
        }
    }

    /// Items of a list do not depend on each other, so each is looked at alone.
    fn search_items(&mut self, probe: &Value, items: &[Value], at: &Path, place: &Path, error: String) {
        let empty = replaced(probe, at, json!([]));
        let unrelated = self.error(&empty);
        let before = self.found.len();
        for (index, item) in items.iter().enumerate() {
            if self.found.len() >= MAX_DIAGNOSTICS {
                return;
            }
            let alone = replaced(&empty, at, json!([item]));
            let complaint = self.error(&alone);
            if complaint.is_some() && complaint != unrelated {
                self.search(alone, &at.index(0), &place.index(index));
            }
        }
        if self.found.len() == before {
            self.report(place, error);
        }
    }

    /// The key of the invalid field, and the probe in which it is the only one with this error.
    fn guilty_key<'k>(
        &self,
        probe: &Value,
        keys: impl Iterator<Item = &'k String> + Clone,
        at: &Path,
        error: &str,
    ) -> Option<(String, Value)> {
        let removable = keys.clone().filter(|key| !is_identity(key));
        let mut suspect = None;
        for key in removable.clone().chain(keys.filter(|key| *key == "name")) {
            match evidence(self.error(&without(probe, &at.key(key))).as_deref(), error, key) {
                Evidence::Clear => return Some((key.clone(), probe.clone())),
                Evidence::Weak => suspect = suspect.or(Some(key)),
                Evidence::None => {}
            }
        }
        match suspect {
            Some(key) => Some((key.clone(), probe.clone())),
            None => self.last_with_same_error(probe, removable, at, error),
        }
    }

    /// Two invalid_fields with the same complaint hide each other; leaving out one after the other uncovers the last.
    fn last_with_same_error<'k>(
        &self,
        probe: &Value,
        keys: impl Iterator<Item = &'k String>,
        at: &Path,
        error: &str,
    ) -> Option<(String, Value)> {
        let mut narrowed = probe.clone();
        for key in keys {
            let next = without(&narrowed, &at.key(key));
            let complaint = self.error(&next);
            if complaint.as_deref() == Some(error) {
                narrowed = next;
            } else if matches!(evidence(complaint.as_deref(), error, key), Evidence::Clear) {
                return Some((key.clone(), narrowed));
            }
        }
        None
    }
}

/// What leaving out a key shows about it.
enum Evidence {
    Clear,
    /// The complaint is another one, but only that the key itself is missed.
    Weak,
    None,
}

fn evidence(complaint: Option<&str>, error: &str, key: &str) -> Evidence {
    match complaint {
        None => Evidence::Clear,
        Some(complaint) if complaint == error => Evidence::None,
        // That a needed key is missed is no sign at all when another one was missed before.
        Some(complaint) if complaint == missing(key) && error.starts_with("missing field") => Evidence::None,
        Some(complaint) if complaint == missing(key) => Evidence::Weak,
        Some(_) => Evidence::Clear,
    }
}

fn missing(key: &str) -> String {
    format!("missing field `{key}`")
}

/// Without these the parse would be of another thing.
fn is_identity(key: &str) -> bool {
    matches!(key, "name" | "type")
}

fn without(root: &Value, path: &Path) -> Value {
    let mut root = root.clone();
    let Some((last, parents)) = path.steps().split_last() else { return Value::Null };
    match (parent_mut(&mut root, parents), last) {
        (Some(Value::Object(map)), PathStep::Key(key)) => {
            map.shift_remove(key);
        }
        (Some(Value::Array(items)), PathStep::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
    root
}

fn replaced(root: &Value, path: &Path, value: Value) -> Value {
    let mut root = root.clone();
    if let Some(place) = parent_mut(&mut root, path.steps()) {
        *place = value;
    }
    root
}

fn parent_mut<'a>(root: &'a mut Value, steps: &[PathStep]) -> Option<&'a mut Value> {
    steps.iter().try_fold(root, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(index) => value.get_mut(*index),
        PathStep::Item(_) => None,
    })
}

/// What of the state can be parsed already: captures are not resolved yet, and an interface without a type has only
/// what every interface has.
fn prepare(state: &Value, schema: Schema<'_>) -> Value {
    let mut state = settled(state);
    for interface in state.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(map) = interface.as_object_mut() else { continue };
        if matches!(map.get("type").and_then(Value::as_str), None | Some("unknown"))
            && !is_wrong_type(map.get("type"))
        {
            let kind = likely_kind(map, schema);
            map.retain(|key, _| is_field(key, &kind));
            map.insert("type".to_owned(), json!(kind.as_str()));
        }
    }
    state
}

fn is_field(key: &str, kind: &InterfaceKind) -> bool {
    BASE_KEYS.contains(&key) || kind.sections().contains(&key)
}

/// Without a type, the sections say what an interface is. Several types call theirs `bridge`: the one that fits.
fn likely_kind(interface: &Map<String, Value>, schema: Schema<'_>) -> InterfaceKind {
    let sections: Vec<&str> =
        interface.keys().map(String::as_str).filter(|key| !BASE_KEYS.contains(key)).collect();
    if sections.is_empty() {
        return InterfaceKind::Ethernet;
    }
    let has_all = |kind: &&InterfaceKind| sections.iter().all(|key| kind.sections().contains(key));
    let likely: Vec<&InterfaceKind> = InterfaceKind::ALL.iter().filter(has_all).collect();
    let fits = |kind: &&&InterfaceKind| {
        let mut interface = interface.clone();
        interface.insert("type".to_owned(), json!(kind.as_str()));
        schema(&json!({ "interfaces": [interface] })).is_ok()
    };
    let fitting = likely.iter().find(fits).or(likely.first());
    fitting.map_or(InterfaceKind::Ethernet, |kind| (*kind).clone())
}

fn is_wrong_type(kind: Option<&Value>) -> bool {
    kind.is_some_and(|kind| !kind.is_string() && !kind.is_null())
}

/// The state without values that wait for a capture. Names get a stand-in, or nothing could be parsed at all.
fn settled(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter_map(|(key, value)| match value.as_str() {
                Some(text) if view::is_template(text) => {
                    (key == "name").then(|| (key.clone(), json!("captured")))
                }
                _ => Some((key.clone(), settled(value))),
            });
            kept.collect()
        }
        // Positions have to stay, so a captured item of a list stays as it is.
        Value::Array(items) => items.iter().map(settled).collect(),
        other => other.clone(),
    }
}

/// What is missing, or of the wrong type, may be what a capture will fill in.
fn waits_for_capture(invalid: &InvalidField, state: &Value) -> bool {
    let captured = |path: &Path| path.find(state).and_then(Value::as_str).is_some_and(view::is_template);
    let field = invalid.error.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    captured(&invalid.path) || field.is_some_and(|field| captured(&invalid.path.key(field)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Complains like a parser: about the first thing, without a place.
    fn toy(state: &Value) -> Result<(), String> {
        fn visit(value: &Value) -> Result<(), String> {
            match value {
                Value::String(text) if text.starts_with("bad") => Err(format!("dislikes {text}")),
                Value::Object(map) => {
                    map.values().try_for_each(visit)?;
                    let needed: &[&str] = if map.contains_key("type") { &["a", "b"] } else { &[] };
                    needed.iter().find(|key| !map.contains_key(**key)).map_or(Ok(()), |key| Err(missing(key)))
                }
                Value::Array(items) => items.iter().try_for_each(visit),
                _ => Ok(()),
            }
        }
        visit(state)
    }

    fn reported(state: Value) -> Vec<String> {
        let found = Locator { schema: &toy, found: Vec::new() }.run(&state);
        found.iter().map(|invalid| format!("{}: {}", invalid.path, invalid.error)).collect()
    }

    #[test]
    fn finds_a_culprit_deep_down() {
        assert_eq!(reported(json!({"x": [1, {"y": {"z": "bad"}}]})), ["x[1].y.z: dislikes bad"]);
    }

    #[test]
    fn a_fault_is_found_by_the_name_of_its_interface() {
        let state =
            json!({"interfaces": [{"name": "a"}, {"name": "b", "bridge": {"port": [{"name": "bad"}]}}]});
        let found = faults(&state, &toy);
        let found: Vec<String> = found.iter().map(|(path, why)| format!("{path}: {why}")).collect();
        assert_eq!(found, ["interfaces[b].bridge.port[0].name: dislikes bad"]);
    }

    #[test]
    fn finds_several_with_the_same_error() {
        let state = json!({"x": {"p": "bad", "q": 1, "r": {"s": "bad"}}, "y": ["bad", "good", "bad"]});
        let mut found = reported(state);
        found.sort();
        assert_eq!(
            found,
            ["x.p: dislikes bad", "x.r.s: dislikes bad", "y[0]: dislikes bad", "y[2]: dislikes bad"]
        );
    }

    #[test]
    fn reports_what_lacks_a_field() {
        let state = json!({"x": [{"type": "t", "a": 1}, {"type": "t", "a": 1, "b": 2}]});
        assert_eq!(reported(state), ["x[0]: missing field `b`"]);
        assert_eq!(reported(json!({"x": {"type": "t", "a": 1, "b": "bad"}})), ["x.b: dislikes bad"]);
    }

    #[test]
    fn stops_after_enough() {
        let state = json!({ "x": vec!["bad"; 500] });
        assert_eq!(reported(state).len(), MAX_DIAGNOSTICS);
    }

    #[test]
    fn a_state_that_is_liked_has_no_culprits() {
        assert!(reported(json!({"x": [1, 2]})).is_empty());
    }
}
