//! NMState's own types say which keys there are and which of them are secrets; `cases/schema/every-field.yaml` has
//! them all.

use linesman_core::check::check;
use linesman_core::codes::{UNKNOWN_FIELD, UNKNOWN_KEY};
use linesman_core::document::Document;
use linesman_core::path::{Path, PathStep};
use linesman_core::secrets::{HIDDEN, is_secret_place};
use nmstate::NetworkState;
use serde_json::{Map, Value};

const EVERY_FIELD: &str = include_str!("../cases/schema/every-field.yaml");
/// Mappings whose keys are the user's own.
const FREE: [&str; 3] = ["external_ids", "other_config", "feature"];

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn every_field() -> Value {
    Document::parse("every-field.yaml", EVERY_FIELD).expect("is a document").state
}

/// Every key of every mapping below `value`.
fn keys(value: &Value, path: &Path, found: &mut Vec<Path>) {
    match value {
        Value::Object(map) => {
            for (key, below) in map {
                let path = path.key(key);
                if !FREE.contains(&key.as_str()) {
                    keys(below, &path, found);
                }
                found.push(path);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| keys(item, &path.index(i), found))
        }
        _ => {}
    }
}

/// `value` with the key at the end of `path` spelt otherwise.
fn renamed(value: &Value, path: &[PathStep], name: &str) -> Value {
    match (value, path) {
        (Value::Object(map), [PathStep::Key(key)]) => {
            let rename =
                |(k, v): (&String, &Value)| (if k == key { name.into() } else { k.clone() }, v.clone());
            map.iter().map(rename).collect::<Map<_, _>>().into()
        }
        (Value::Object(map), [PathStep::Key(key), rest @ ..]) => {
            let enter = |(k, v): (&String, &Value)| {
                (k.clone(), if k == key { renamed(v, rest, name) } else { v.clone() })
            };
            map.iter().map(enter).collect::<Map<_, _>>().into()
        }
        (Value::Array(items), [PathStep::Index(index), rest @ ..]) => {
            let enter =
                |(i, v): (usize, &Value)| if i == *index { renamed(v, rest, name) } else { v.clone() };
            items.iter().enumerate().map(enter).collect()
        }
        (other, _) => other.clone(),
    }
}

/// What the check says about it, each as `CODE PATH: HINT`.
fn said(state: &Value) -> Vec<(String, Path, String)> {
    let document = Document::parse("broken", &state.to_string()).expect("is still JSON");
    let found = check(&document, &schema).into_iter();
    let plain = |d: linesman_core::diagnostic::Diagnostic| {
        (d.code.to_owned(), d.path.unwrap_or_default(), d.hint.unwrap_or_default())
    };
    found.map(plain).collect()
}

/// Each misspelt alone, with only its own section of the host, as the check is slow on all of it.
fn around(state: &Value, path: &Path) -> (Value, Path) {
    match path.steps() {
        [PathStep::Key(list), PathStep::Index(index), rest @ ..] if list == "interfaces" => {
            let alone = serde_json::json!({ "interfaces": [state["interfaces"][*index]] });
            let start = Path::root().key("interfaces").index(0);
            (alone, rest.iter().fold(start, |path, step| path.join(step.clone())))
        }
        [PathStep::Key(section), ..] => (serde_json::json!({ section: state[section] }), path.clone()),
        _ => (state.clone(), path.clone()),
    }
}

#[test]
fn the_document_with_every_field_is_right() {
    assert_eq!(said(&every_field()), Vec::new());
}

#[test]
fn every_key_that_is_misspelt_is_named_and_nothing_else() {
    let state = every_field();
    let mut all = Vec::new();
    keys(&state, &Path::root(), &mut all);
    assert!(all.len() > 350, "only {} keys", all.len());
    let mut wrong = Vec::new();
    for path in all {
        let (alone, path) = around(&state, &path);
        let (Some(parent), Some(PathStep::Key(key))) = (path.parent(), path.last()) else { continue };
        if matches!(parent.last(), Some(PathStep::Key(key)) if FREE.contains(&key.as_str())) {
            continue;
        }
        let slip = format!("{key}x");
        let found = said(&renamed(&alone, path.steps(), &slip));
        let place = parent.key(&slip);
        let named = found.iter().any(|(code, at, hint)| {
            [UNKNOWN_FIELD, UNKNOWN_KEY].contains(&code.as_str())
                && *at == place
                && hint.contains(key.as_str())
        });
        let beside = found.iter().find(|(_, at, _)| *at == parent);
        if !named || beside.is_some() {
            wrong.push(format!("{place}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_interface_without_a_type_is_checked_as_deeply() {
    let state = every_field();
    let mut missed = Vec::new();
    for interface in state["interfaces"].as_array().into_iter().flatten() {
        let mut interface = interface.clone();
        let fields = interface.as_object_mut().expect("an interface is a mapping");
        fields.remove("type");
        let sections = ["bridge", "link-aggregation", "vlan", "vxlan", "vrf", "macsec", "libreswan", "hsr"];
        let Some(section) = sections.iter().find(|section| fields.contains_key(**section)) else { continue };
        fields[*section]["optionz"] = 1.into();
        let place = Path::root().key("interfaces").index(0).key(*section).key("optionz");
        let found = said(&serde_json::json!({ "interfaces": [interface] }));
        if !found.iter().any(|(code, at, _)| code == UNKNOWN_FIELD && *at == place) {
            missed.push(format!("{place}: {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// The places of texts in `value`.
fn texts<'a>(value: &'a Value, path: &Path, found: &mut Vec<(Path, &'a str)>) {
    match value {
        Value::String(text) => found.push((path.clone(), text)),
        Value::Object(map) => map.iter().for_each(|(key, below)| texts(below, &path.key(key), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| texts(item, &path.index(i), found));
        }
        _ => {}
    }
}

#[test]
fn what_nmstate_hides_is_a_secret() {
    let mut typed: NetworkState = serde_json::from_value(every_field()).expect("is a state");
    typed.hide_secrets();
    let hidden = serde_json::to_value(&typed).expect("was a state");
    let mut places = Vec::new();
    texts(&hidden, &Path::root(), &mut places);
    places.retain(|(_, text)| *text == HIDDEN);
    assert_eq!(places.len(), 4, "{places:?}");
    let open: Vec<_> = places.iter().filter(|(path, _)| !is_secret_place(path)).collect();
    assert!(open.is_empty(), "{open:?}");
    assert!(!hidden.to_string().contains("hunter2"), "every secret of the document is one of NMState's");
}
