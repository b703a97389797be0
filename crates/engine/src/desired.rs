//! From a document to the state that nmstate will be asked for.

use linesman_core::plan::{Plan, Subject};
use linesman_core::secrets;
use nmstate::{NetworkPolicy, NetworkState};
use serde_json::{Value, json};

use crate::{Error, Result};

/// nmstate's opinion on a state, as `check` wants it.
pub fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(|_| ()).map_err(|e| e.to_string())
}

/// The state in nmstate's own spelling, so that it can be compared with what nmstate reports.
pub fn canonical(state: &Value) -> Result<Value> {
    let typed: NetworkState =
        serde_json::from_value(state.clone()).map_err(|e| Error::Invalid(e.to_string()))?;
    serde_json::to_value(&typed).map_err(|e| Error::Invalid(e.to_string()))
}

/// Fills a document's captures in from what the host looks like now.
pub fn resolve(state: &Value, capture: Option<&Value>, observed: &Value) -> Result<Value> {
    let Some(capture) = capture else { return canonical(state) };
    let invalid = |e: &dyn std::fmt::Display| Error::Invalid(format!("captures: {e}"));
    let mut policy: NetworkPolicy =
        serde_json::from_value(json!({ "capture": capture, "desiredState": state }))
            .map_err(|e| invalid(&e))?;
    policy.current = Some(serde_json::from_value(observed.clone()).map_err(|e| invalid(&e))?);
    let resolved = NetworkState::try_from(policy).map_err(|e| invalid(&e))?;
    serde_json::to_value(&resolved).map_err(|e| invalid(&e))
}

/// Of the crate that is linked; `tests::the_version_is_that_of_the_lock_file` holds it.
pub const NMSTATE_VERSION: &str = "2.2.62";

/// What nmstate calls the features that a state uses.
pub fn features(state: &Value) -> Vec<String> {
    let Ok(state) = serde_json::from_value::<NetworkState>(state.clone()) else { return Vec::new() };
    let Ok(found) = state.statistic(&NetworkState::default()) else { return Vec::new() };
    let words = found.features.iter().filter_map(|feature| serde_json::to_value(feature).ok());
    words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

/// The interfaces that a state names.
pub fn interfaces(state: &Value) -> impl Iterator<Item = String> {
    let list = state["interfaces"].as_array().into_iter().flatten();
    list.filter_map(|interface| interface["name"].as_str().map(str::to_string))
}

/// What nmstate is asked for: of the interfaces only those that change.
///
/// It writes and activates the profile of every interface that a state names, needed or not; what holds
/// already is left out, and with that left alone.
pub fn changed_only(desired: &Value, plan: &Plan) -> Value {
    let changes = |name: &Value| {
        plan.changes
            .iter()
            .any(|c| matches!(&c.subject, Subject::Interface { name: n, .. } if name == n.as_str()))
    };
    let mut state = desired.clone();
    if let Some(interfaces) = state.get_mut("interfaces").and_then(Value::as_array_mut) {
        interfaces.retain(|i| changes(&i["name"]));
    }
    state
}

/// What nmstate would refuse, asked before anything is touched.
pub fn refuse_early(desired: &Value, observed: &Value) -> Result<()> {
    let parse = |v: &Value| {
        serde_json::from_value::<NetworkState>(v.clone()).map_err(|e| Error::Invalid(e.to_string()))
    };
    let diff = parse(desired)?.gen_diff(&parse(observed)?);
    diff.map(|_| ()).map_err(|e| Error::Invalid(secrets::redacted(e.msg(), desired)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::plan::{Change, ChangeKind};

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        let line = format!("name = \"nmstate\"\nversion = \"{NMSTATE_VERSION}\"");
        assert!(lock.contains(&line), "{line}");
    }

    #[test]
    fn features_have_names() {
        let state = json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up" }],
            "hostname": { "config": "n1" } });
        assert!(!features(&state).is_empty());
    }

    #[test]
    fn interfaces_that_hold_are_left_out() {
        let desired =
            json!({ "interfaces": [{ "name": "eth0" }, { "name": "br1" }], "routes": { "config": [] } });
        let subject = Subject::Interface { name: "br1".into(), kind: "linux-bridge".into() };
        let plan = Plan {
            changes: vec![Change { kind: ChangeKind::Add, subject, details: Vec::new() }],
            ..Plan::default()
        };
        assert_eq!(
            changed_only(&desired, &plan),
            json!({ "interfaces": [{ "name": "br1" }], "routes": { "config": [] } })
        );
    }
}
