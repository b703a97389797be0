//! Limits of size, number and depth. The schema cannot set them: what NMState documents contain is not in it.

use serde_json::{Value, json};

use super::{account, guard, policy, rule, validation};
use crate::kinds::{ENACTMENT, NODE_STATE, POLICY};
use crate::limits::{DOCUMENT_DEPTH, DOCUMENT_SIZE, INTERFACES, POLICY_SIZE, STATE_SIZE};
use crate::names;

/// Documents of a policy. A policy that was accepted before there were limits can still be deleted and get its finalizer
/// removed: only a new generation is checked.
pub fn documents_are_bounded() -> Value {
    let mut spec = guard(&[rule(POLICY, &[POLICY.plural.into()], &["CREATE", "UPDATE"])]);
    spec["matchConditions"] = json!([
        { "name": "has-documents", "expression": "has(object.spec) && (has(object.spec.desiredState) || has(object.spec.hosts))" },
        { "name": "is-new", "expression": "request.operation == 'CREATE' || object.metadata.generation != oldObject.metadata.generation" },
    ]);
    spec["variables"] = json!([
        { "name": "own", "expression": "has(object.spec.desiredState) ? [dyn(object.spec.desiredState)] : []" },
        { "name": "hosts", "expression": "has(object.spec.hosts) ? object.spec.hosts.map(host, dyn(host.desiredState)) : []" },
        { "name": "documents", "expression": "variables.own + variables.hosts" },
        { "name": "size", "expression": bytes("variables.documents") },
    ]);
    let interfaces =
        "!('interfaces' in document) || type(document.interfaces) != list || size(document.interfaces)";
    spec["validations"] = json!([
        invalid(
            &format!("variables.documents.all(document, {interfaces} <= {INTERFACES})"),
            &format!(
                "a desiredState must have at most {INTERFACES} interfaces; distribute them over several policies"
            ),
        ),
        invalid(
            &format!("variables.documents.all(document, {} <= {DOCUMENT_SIZE})", bytes("document")),
            &format!(
                "a desiredState must have at most {DOCUMENT_SIZE} bytes; distribute it over several policies"
            ),
        ),
        invalid(
            &format!("variables.size <= {POLICY_SIZE}"),
            &format!(
                "desiredState and hosts together must have at most {POLICY_SIZE} bytes; distribute them over several policies"
            ),
        ),
        invalid(
            &format!("variables.documents.all(document, {})", is_shallow("document", 0)),
            &format!(
                "a desiredState must be nested at most {DOCUMENT_DEPTH} levels deep; NMState needs about ten"
            ),
        ),
    ]);
    policy("linesman-documents-are-bounded", spec)
}

/// What agents report. The depth of a NodeNetworkState is not limited: a walk through the largest ones costs more than the API
/// server allows. Linesman reads it without recursion.
pub fn reports_are_bounded(namespace: &str) -> Value {
    let resources = |plural: &str| [plural.to_owned(), format!("{plural}/status")];
    let mut spec = guard(&[
        rule(NODE_STATE, &resources(NODE_STATE.plural), &["CREATE", "UPDATE"]),
        rule(ENACTMENT, &resources(ENACTMENT.plural), &["UPDATE"]),
    ]);
    spec["matchConditions"] = json!([
        { "name": "an-agent-writes", "expression": account(namespace, names::AGENT) },
        { "name": "has-a-status", "expression": "has(object.status)" },
    ]);
    let part = |field: &str| format!("'{field}' in variables.status ? variables.status.{field} : {{}}");
    spec["variables"] = json!([
        { "name": "status", "expression": "dyn(object.status)" },
        { "name": "current", "expression": part("currentState") },
        { "name": "applied", "expression": part("desiredState") },
        { "name": "captured", "expression": part("capturedStates") },
    ]);
    spec["validations"] = json!([
        invalid(
            &format!("{} <= {STATE_SIZE}", bytes("variables.current")),
            &format!("status.currentState must have at most {STATE_SIZE} bytes"),
        ),
        invalid(
            &format!("{} <= {DOCUMENT_SIZE}", bytes("variables.applied")),
            &format!("status.desiredState must have at most {DOCUMENT_SIZE} bytes"),
        ),
        invalid(
            &format!("{} <= {POLICY_SIZE}", bytes("variables.captured")),
            &format!("status.capturedStates must have at most {POLICY_SIZE} bytes"),
        ),
        invalid(
            &is_shallow("variables.applied", 0),
            &format!("status.desiredState must be nested at most {DOCUMENT_DEPTH} levels deep"),
        ),
    ]);
    policy("linesman-reports-are-bounded", spec)
}

/// Of a value as CEL prints it, which is about as long as its JSON. Not characters: etcd counts bytes.
fn bytes(value: &str) -> String {
    format!("size(bytes('%s'.format([{value}])))")
}

/// Whether a mapping or list has at most [`DOCUMENT_DEPTH`] levels. CEL has no recursion, so the levels are written out; a list
/// of one item gives the value of the next level a name.
fn is_shallow(value: &str, level: usize) -> String {
    if level == DOCUMENT_DEPTH {
        return "false".into();
    }
    let (key, below) = (format!("k{level}"), format!("v{level}"));
    let child = format!("(type({value}) == map ? {value}[{key}] : {key})");
    let rest = is_shallow(&below, level + 1);
    format!(
        "{value}.all({key}, type({child}) != map && type({child}) != list || [{child}].all({below}, {rest}))"
    )
}

fn invalid(expression: &str, message: &str) -> Value {
    let mut validation = validation(expression, message);
    validation["reason"] = "Invalid".into();
    validation
}
