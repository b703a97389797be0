//! ValidatingAdmissionPolicies: who may write what. They need no webhook, so nothing of ours stands in the way of a status.

use serde_json::{Value, json};

use crate::kinds::{ENACTMENT, GROUP, NODE_STATE, POLICY};
use crate::labels;
use crate::names;

/// In a token that Kubernetes 1.30 or newer made for a Pod: the node on which the Pod runs.
const NODE_CLAIM: &str = "authentication.kubernetes.io/node-name";

/// Each policy with its binding; agent and operator have their service accounts in `namespace`.
pub fn all(namespace: &str) -> Vec<Value> {
    [nodes_write_their_own(namespace), operator_instructs(namespace), operator_reports(namespace)]
        .into_iter()
        .flat_map(|policy| {
            let binding = binding(&policy);
            [policy, binding]
        })
        .collect()
}

fn account(namespace: &str, name: &str) -> String {
    format!("request.userInfo.username == 'system:serviceaccount:{namespace}:{name}'")
}

fn nodes_write_their_own(namespace: &str) -> Value {
    let states = [NODE_STATE.plural.into(), format!("{}/status", NODE_STATE.plural)];
    let enactments = [ENACTMENT.plural.into(), format!("{}/status", ENACTMENT.plural)];
    let label = labels::NODE;
    let mut spec = guard(&[
        rule(NODE_STATE.versions, &states, &["CREATE", "UPDATE", "DELETE"]),
        rule(ENACTMENT.versions, &enactments, &["CREATE", "UPDATE", "DELETE"]),
    ]);
    spec["matchConditions"] =
        json!([{ "name": "an-agent-writes", "expression": account(namespace, names::AGENT) }]);
    spec["variables"] = json!([
        { "name": "node", "expression": format!("has(request.userInfo.extra) && '{NODE_CLAIM}' in request.userInfo.extra ? \
            request.userInfo.extra['{NODE_CLAIM}'][0] : ''") },
        { "name": "subject", "expression": "request.operation == 'CREATE' ? object : oldObject" },
        { "name": "labelled", "expression": format!("has(variables.subject.metadata.labels) && \
            '{label}' in variables.subject.metadata.labels ? variables.subject.metadata.labels['{label}'] : ''") },
    ]);
    spec["validations"] = json!([
        validation(
            "variables.node != ''",
            "the agent's token does not say on which node it runs; Kubernetes 1.30 or newer writes that into the tokens of Pods"
        ),
        validation(
            &format!(
                "request.resource.resource != '{}' || variables.subject.metadata.name == variables.node",
                NODE_STATE.plural
            ),
            "an agent may write only the NodeNetworkState of its own node"
        ),
        validation(
            &format!(
                "request.resource.resource != '{}' || variables.labelled == variables.node",
                ENACTMENT.plural
            ),
            "an agent may write only enactments of its own node"
        ),
        validation(
            &format!(
                "request.resource.resource != '{}' || has(request.subResource) && request.subResource == 'status'",
                ENACTMENT.plural
            ),
            "an agent reports in the status of an enactment; making, changing and deleting it is the operator's"
        ),
    ]);
    policy("linesman-nodes-write-their-own", spec)
}

fn operator_instructs(namespace: &str) -> Value {
    let mut spec = guard(&[rule(ENACTMENT.versions, &[ENACTMENT.plural.into()], &["CREATE", "UPDATE"])]);
    spec["matchConditions"] = json!([{ "name": "not-the-operator", "expression": format!("!({})", account(namespace, names::OPERATOR)) }]);
    spec["validations"] = json!([validation(
        "request.operation == 'CREATE' ? !has(object.spec) : \
         (has(object.spec) ? has(oldObject.spec) && object.spec == oldObject.spec : !has(oldObject.spec))",
        "only Linesman's operator writes the spec of an enactment; edit the policy instead",
    )]);
    policy("linesman-operator-instructs", spec)
}

fn operator_reports(namespace: &str) -> Value {
    let mut spec = guard(&[rule(POLICY.versions, &[format!("{}/status", POLICY.plural)], &["UPDATE"])]);
    spec["validations"] = json!([validation(
        &account(namespace, names::OPERATOR),
        "only Linesman's operator writes the status of a policy",
    )]);
    policy("linesman-operator-reports", spec)
}

fn policy(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": { "name": name }, "spec": spec })
}

fn binding(policy: &Value) -> Value {
    let name = &policy["metadata"]["name"];
    json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": { "name": name }, "spec": { "policyName": name, "validationActions": ["Deny"] } })
}

fn guard(rules: &[Value]) -> Value {
    json!({ "failurePolicy": "Fail", "matchConstraints": { "resourceRules": rules } })
}

fn rule(versions: &[&str], resources: &[String], operations: &[&str]) -> Value {
    json!({ "apiGroups": [GROUP], "apiVersions": versions, "resources": resources, "operations": operations })
}

fn validation(expression: &str, message: &str) -> Value {
    json!({ "expression": expression, "message": message, "reason": "Forbidden" })
}
