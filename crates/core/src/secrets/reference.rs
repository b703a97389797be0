//! Secrets that a document only points to: `password: {secretKeyRef: {name: NAME, key: KEY}}`. What they say is filled in on the node,
//! for one transaction, and written down nowhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{MASK, is_secret};
use crate::path::{Path, PathStep};

/// What nmstate shows in place of a password; it never differs from anything.
pub const HIDDEN: &str = "<_password_hid_by_nmstate>";

/// A key of a Secret in the agents' own namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub name: String,
    pub key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pointer {
    secret_key_ref: Reference,
}

fn reference(value: &Value) -> Option<Reference> {
    value.as_object()?;
    serde_json::from_value::<Pointer>(value.clone()).ok().map(|pointer| pointer.secret_key_ref)
}

/// All that a state points to, with the first place of each.
pub fn references(state: &Value) -> BTreeMap<Reference, Path> {
    let mut found = BTreeMap::new();
    visit(state, &Path::root(), &mut |value, path| {
        if let Some(reference) = reference(value) {
            found.entry(reference).or_insert_with(|| path.named(state));
        }
    });
    found
}

/// The first secret that stands in clear. Where a key lies in a file, the file's name is none.
pub fn in_clear(state: &Value) -> Option<Path> {
    let mut first = None;
    visit(state, &Path::root(), &mut |value, path| {
        if first.is_none() && reference(value).is_none() && is_clear(value) && !names_file(path, value) {
            first = Some(path.named(state));
        }
    });
    first
}

/// Every secret text that stands in clear.
fn clear_texts(state: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    visit(state, &Path::root(), &mut |value, path| {
        let text = value.as_str().filter(|_| is_clear(value) && !names_file(path, value));
        found.extend(text.map(str::to_owned));
    });
    found
}

fn is_clear(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !["", MASK, HIDDEN].contains(&text.as_str()),
        _ => true,
    }
}

/// NMState's `private-key` of 802.1X is the name of a file, whatever is written there; a key that somebody put there
/// instead has several lines, or no slash in front. No other secret is ever kept in a file of that name.
fn names_file(path: &Path, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let is_key = matches!(path.steps(), [.., PathStep::Key(section), PathStep::Key(key)]
        if section == "802.1x" && key == "private-key");
    is_key && !text.contains('\n') && (text.starts_with('/') || text.starts_with("file:"))
}

/// Every value of a key that is a secret.
fn visit(value: &Value, path: &Path, see: &mut dyn FnMut(&Value, &Path)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = path.key(key);
                if is_secret(key) { see(value, &path) } else { visit(value, &path, see) }
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(item, &path.index(index), see));
        }
        _ => {}
    }
}

/// The state with what is a reference left open: it can be parsed and compared, and holds no secret that was filled in.
pub fn left_open(state: &Value) -> Value {
    let mut state = state.clone();
    replace(&mut state, &mut |value| reference(value).map(|_| HIDDEN.into()));
    state
}

/// Anything that is written down on the node, without its secrets.
pub fn hide(value: &mut Value) {
    hide_below(value, &Path::root());
}

fn hide_below(value: &mut Value, path: &Path) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                let path = path.key(key);
                if is_secret(key) && value.is_string() {
                    if is_clear(value) && !names_file(&path, value) {
                        *value = HIDDEN.into();
                    }
                } else {
                    hide_below(value, &path);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide_below(item, path)),
        _ => {}
    }
}

fn replace(value: &mut Value, with: &mut dyn FnMut(&Value) -> Option<Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                match is_secret(key).then(|| with(value)).flatten() {
                    Some(new) => *value = new,
                    None => replace(value, with),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, with)),
        _ => {}
    }
}

/// Why a Secret of the cluster, `NAMESPACE/NAME`, does not give a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("Secrets cannot be looked up here")]
    NoCluster,
    #[error("there is no Secret {secret}")]
    NotFound { secret: String },
    #[error("the Secret {secret} cannot be read: {reason}")]
    Unreadable { secret: String, reason: String },
    #[error("the Secret {secret} has no key {key}")]
    NoKey { secret: String, key: String },
    #[error("the Secret {secret}: {key} is no text")]
    NotText { secret: String, key: String },
    #[error("the Secret {secret}: {key} is longer than {limit} bytes")]
    TooLong { secret: String, key: String, limit: usize },
}

/// A reference that cannot be filled in. The place has no colon behind it: what follows the name of a secret is masked wherever
/// it is shown.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source}, needed at desiredState.{place}")]
pub struct MissingSecret {
    place: Path,
    source: LookupError,
}

/// What references say; or why that is not known. Lives no longer than a transaction.
#[derive(Default)]
pub struct Secrets(pub BTreeMap<Reference, Result<String, LookupError>>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Secrets {
    /// The state with every reference filled in, or what is missing and where it is needed.
    pub fn fill(&self, state: &Value) -> Result<Value, MissingSecret> {
        if let Some(missing) = self.missing(state) {
            return Err(missing);
        }
        let mut state = state.clone();
        replace(&mut state, &mut |value| {
            let known = self.0.get(&reference(value)?)?;
            known.as_ref().ok().map(|text| text.as_str().into())
        });
        Ok(state)
    }

    /// The first reference that cannot be filled in.
    pub fn missing(&self, state: &Value) -> Option<MissingSecret> {
        references(state).into_iter().find_map(|(reference, place)| match self.0.get(&reference) {
            Some(Ok(_)) => None,
            Some(Err(source)) => Some(MissingSecret { place, source: source.clone() }),
            None => Some(MissingSecret { place, source: LookupError::NoCluster }),
        })
    }

    /// Takes the clear text out of what others said about the change.
    pub fn redact(&self, value: &mut Value) {
        redact(value, &self.0.values().flatten().cloned().collect());
    }
}

/// What others said about `state`, without the secrets that stand in it in clear.
pub fn redacted(text: &str, state: &Value) -> String {
    let mut text = Value::from(text);
    // Nearly every text contains something as short as that by chance.
    const SHORT: usize = 4;
    redact(&mut text, &clear_texts(state).into_iter().filter(|secret| secret.len() >= SHORT).collect());
    text.as_str().unwrap_or_default().to_owned()
}

fn redact(value: &mut Value, known: &BTreeSet<String>) {
    match value {
        Value::String(text) => {
            for secret in known.iter().filter(|secret| !secret.is_empty()) {
                *text = text.replace(secret.as_str(), MASK);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, known)),
        Value::Object(fields) => fields.values_mut().for_each(|value| redact(value, known)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
