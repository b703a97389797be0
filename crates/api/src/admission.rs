//! ValidatingAdmissionPolicies: who may write what. They need no webhook, so no outage of Linesman blocks a write.

mod bounded;

use serde_json::{Value, json};

use crate::conditions::NODE_OPEN_VSWITCH_READY;
use crate::finalizers;
use crate::kinds::{ENACTMENT, Kind, NODE_OPEN_VSWITCH, NODE_STATE, POLICY};
use crate::labels;
use crate::limits::LABEL;
use crate::names;

/// In a token that Kubernetes 1.30 or newer made for a Pod: the node on which the Pod runs.
const NODE_CLAIM: &str = "authentication.kubernetes.io/node-name";

/// Each policy with its binding; agent and operator have their service accounts in `namespace`.
pub fn all(namespace: &str) -> Vec<Value> {
    let policies = [
        nodes_write_their_own(namespace),
        keepers_write_their_own(namespace),
        operator_instructs(namespace),
        operator_reports(namespace),
        operator_keeps_policies(namespace),
        probes_are_known(),
        bounded::documents_are_bounded(),
        bounded::reports_are_bounded(namespace),
    ];
    policies
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
        rule(NODE_STATE, &states, &["CREATE", "UPDATE", "DELETE"]),
        rule(ENACTMENT, &enactments, &["CREATE", "UPDATE", "DELETE"]),
    ]);
    spec["matchConditions"] =
        json!([{ "name": "an-agent-writes", "expression": account(namespace, names::AGENT) }]);
    spec["variables"] = json!([
        node_of_the_token(),
        { "name": "subject", "expression": SUBJECT },
        { "name": "labelled", "expression": format!("has(variables.subject.metadata.labels) && \
            '{label}' in variables.subject.metadata.labels ? variables.subject.metadata.labels['{label}'] : ''") },
        { "name": "owned", "expression": "has(variables.subject.metadata.ownerReferences) && \
            variables.subject.metadata.ownerReferences.exists(owner, owner.kind == 'Node' && owner.name == variables.node)" },
        // The label of a node with a long name is not its name (`labels::node_value`).
        { "name": "own", "expression": format!("size(variables.node) <= {LABEL} ? variables.labelled == variables.node : variables.owned") },
    ]);
    spec["validations"] = json!([
        validation(
            "variables.node != ''",
            "the token of the agent does not name its node; Kubernetes 1.30 or newer is required"
        ),
        validation(
            &format!(
                "request.resource.resource != '{}' || variables.subject.metadata.name == variables.node",
                NODE_STATE.plural
            ),
            "an agent may write only the NodeNetworkState of its own node"
        ),
        validation(
            &format!("request.resource.resource != '{}' || variables.own", ENACTMENT.plural),
            "an agent may write only the enactments of its own node"
        ),
        validation(
            &format!(
                "request.resource.resource != '{}' || has(request.subResource) && request.subResource == 'status'",
                ENACTMENT.plural
            ),
            "an agent may write only the status of an enactment; the operator creates, changes and deletes enactments"
        ),
    ]);
    policy("linesman-nodes-write-their-own", spec)
}

/// The object before the request, or the one that is created.
const SUBJECT: &str = "request.operation == 'CREATE' ? object : oldObject";

fn node_of_the_token() -> Value {
    let expression = format!(
        "has(request.userInfo.extra) && '{NODE_CLAIM}' in request.userInfo.extra ? request.userInfo.extra['{NODE_CLAIM}'][0] : ''"
    );
    json!({ "name": "node", "expression": expression })
}

/// The keeper of Open vSwitch writes its NodeOpenVSwitch, and of its own Node one condition and one taint.
fn keepers_write_their_own(namespace: &str) -> Value {
    let own = [NODE_OPEN_VSWITCH.plural.into(), format!("{}/status", NODE_OPEN_VSWITCH.plural)];
    let nodes = json!({ "apiGroups": [""], "apiVersions": ["v1"], "resources": ["nodes", "nodes/status"],
                        "operations": ["CREATE", "UPDATE", "DELETE"] });
    let mut spec = guard(&[rule(NODE_OPEN_VSWITCH, &own, &["CREATE", "UPDATE", "DELETE"]), nodes]);
    spec["matchConditions"] =
        json!([{ "name": "a-keeper-writes", "expression": account(namespace, names::KEEPER) }]);
    let of_nodes = |expression: &str| format!("request.resource.resource != 'nodes' || {expression}");
    let others = |object: &str, list: &str, field: &str, own: &str| {
        format!("(has({object}.{list}) ? {object}.{list}.filter(it, it.{field} != '{own}') : [])")
    };
    let same = |list: &str, field: &str, own: &str| {
        format!("{} == {}", others("object", list, field, own), others("oldObject", list, field, own))
    };
    let unchanged = |object: &str| {
        format!(
            "(has(object.{object}) ? has(oldObject.{object}) && object.{object} == oldObject.{object} : !has(oldObject.{object}))"
        )
    };
    spec["variables"] = json!([node_of_the_token(), { "name": "subject", "expression": SUBJECT }]);
    let (ready, taint) = (NODE_OPEN_VSWITCH_READY, names::OVS_START_UP_TAINT);
    let status = [
        same("status.conditions", "type", ready),
        unchanged("status.capacity"),
        unchanged("status.allocatable"),
        unchanged("status.addresses"),
        unchanged("status.daemonEndpoints"),
        unchanged("status.nodeInfo"),
        unchanged("status.volumesAttached"),
        unchanged("status.volumesInUse"),
    ];
    let rest = [
        same("spec.taints", "key", taint),
        unchanged("metadata.labels"),
        unchanged("metadata.annotations"),
        unchanged("metadata.finalizers"),
        unchanged("metadata.ownerReferences"),
        unchanged("spec.unschedulable"),
        unchanged("spec.podCIDR"),
        unchanged("spec.providerID"),
        unchanged("spec.configSource"),
    ];
    let grown = format!(
        "!has(object.spec.taints) || !object.spec.taints.exists(it, it.key == '{taint}') || \
         has(oldObject.spec.taints) && oldObject.spec.taints.exists(it, it.key == '{taint}')"
    );
    spec["validations"] = json!([
        validation(
            "variables.node != ''",
            "the token of the keeper does not name its node; Kubernetes 1.30 or newer is required"
        ),
        validation(
            "variables.subject.metadata.name == variables.node",
            "a keeper may write only the NodeOpenVSwitch and the Node of its own node"
        ),
        validation(
            &of_nodes("request.operation == 'UPDATE'"),
            "a keeper may neither create nor delete a Node"
        ),
        validation(
            &of_nodes(&format!("request.operation != 'UPDATE' || {}", status.join(" && "))),
            &format!("a keeper may change nothing in the status of its Node but the condition {ready}")
        ),
        validation(
            &of_nodes(&format!("request.operation != 'UPDATE' || {} && ({grown})", rest.join(" && "))),
            &format!("a keeper may change nothing of its Node but remove the taint {taint}")
        ),
    ]);
    policy("linesman-keepers-write-their-own", spec)
}

fn operator_instructs(namespace: &str) -> Value {
    let mut spec = guard(&[rule(ENACTMENT, &[ENACTMENT.plural.into()], &["CREATE", "UPDATE"])]);
    spec["matchConditions"] = json!([{ "name": "not-the-operator", "expression": format!("!({})", account(namespace, names::OPERATOR)) }]);
    spec["validations"] = json!([validation(
        "request.operation == 'CREATE' ? !has(object.spec) : \
         (has(object.spec) ? has(oldObject.spec) && object.spec == oldObject.spec : !has(oldObject.spec))",
        "only the Linesman operator may write the spec of an enactment; edit the policy instead",
    )]);
    policy("linesman-operator-instructs", spec)
}

fn operator_reports(namespace: &str) -> Value {
    let mut spec = guard(&[rule(POLICY, &[format!("{}/status", POLICY.plural)], &["UPDATE"])]);
    spec["validations"] = json!([validation(
        &account(namespace, names::OPERATOR),
        "only the Linesman operator may write the status of a policy",
    )]);
    policy("linesman-operator-reports", spec)
}

/// RBAC has no right for finalizers alone.
fn operator_keeps_policies(namespace: &str) -> Value {
    let mut spec = guard(&[rule(POLICY, &[POLICY.plural.into()], &["CREATE", "UPDATE", "DELETE"])]);
    spec["matchConditions"] =
        json!([{ "name": "the-operator-writes", "expression": account(namespace, names::OPERATOR) }]);
    let own = finalizers::REVERT;
    let others = |object: &str| {
        format!(
            "(has({object}.metadata.finalizers) ? {object}.metadata.finalizers.filter(name, name != '{own}') : [])"
        )
    };
    let same = |field: &str| {
        format!(
            "(has(object.metadata.{field}) ? has(oldObject.metadata.{field}) && object.metadata.{field} == oldObject.metadata.{field} : \
             !has(oldObject.metadata.{field}))"
        )
    };
    spec["validations"] = json!([validation(
        // With the content, the generation changes.
        &format!(
            "request.operation == 'UPDATE' && object.metadata.generation == oldObject.metadata.generation && {} && {} && {} && {} == {}",
            same("labels"),
            same("annotations"),
            same("ownerReferences"),
            others("object"),
            others("oldObject"),
        ),
        &format!("the operator may change nothing of a policy but its status and the finalizer {own}"),
    )]);
    policy("linesman-operator-keeps-policies", spec)
}

/// As a regular expression, what a probe can be (`linesman_core::probe`). An IPv6 address and a URL are read in full by
/// the agent only, which refuses the policy if they are wrong.
fn probe_pattern() -> String {
    const BYTE: &str = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
    const V6: &str = "[0-9A-Fa-f]*:[0-9A-Fa-f:.]+";
    const LABEL: &str = "[A-Za-z0-9_-]{1,63}";
    const PORT: &str =
        "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
    const INTERFACE: &str = "%[^],/:% ]{1,15}";
    let v4 = format!("({BYTE}[.]){{3}}{BYTE}");
    let name = format!("({LABEL}[.])*{LABEL}[.]?");
    let host = format!("({LABEL}[.])*[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*[.]?");
    let timeout = format!("(,timeout={DURATION})?");
    format!(
        "^((gateway(:v[46])?|apiServer|nodeReady|tcp:({v4}|{host}|\\[{V6}({INTERFACE})?\\]):{PORT}|ping:({v4}|{V6})({INTERFACE})?){timeout}|\
         dns(:{name})?(,(timeout={DURATION}|server=({v4}|{V6})))*|https?://[^/?#].*)$"
    )
}

/// Up to a minute.
const DURATION: &str = "0*(([0-9]{1,4}([.][0-9]+)?|[1-5][0-9]{4}([.][0-9]+)?|60000)ms|([0-9]([.][0-9]+)?|[1-5][0-9]([.][0-9]+)?|60)s?|\
                        (0([.][0-9]+)?|1)m)";

/// A schema cannot say that a probe is a string or a mapping, and its CEL rules cannot look into such a value.
fn probes_are_known() -> Value {
    let mut spec = guard(&[rule(POLICY, &[POLICY.plural.into()], &["CREATE", "UPDATE"])]);
    spec["matchConditions"] =
        json!([{ "name": "names-probes", "expression": "has(object.spec) && has(object.spec.probes)" }]);
    // In a CEL string a backslash is written twice.
    let pattern = probe_pattern().replace('\\', "\\\\");
    // Through `dyn`: the API server would check types against a schema that has none here.
    let texts = "variables.probes.map(p, type(p) == string ? p : \
                 type(p) == map && 'probe' in p && type(p.probe) == string ? p.probe : dyn(''))";
    spec["variables"] = json!([
        { "name": "probes", "expression": "dyn(object.spec.probes)" },
        { "name": "texts", "expression": texts },
        { "name": "unknown", "expression": format!("variables.texts.filter(text, !text.matches('{pattern}'))") },
    ]);
    let forms = "a probe must be gateway, gateway:v6, dns, dns:NAME, apiServer, nodeReady, tcp:HOST:PORT, http(s)://… or ping:ADDRESS, \
                 optionally followed by ',timeout=5s', of at most 60s; the long form is {probe: …, timeout: 5s}";
    let mut spelt = validation("size(variables.unknown) == 0", forms);
    spelt["messageExpression"] =
        format!("'spec.probes: \"' + string(variables.unknown[0]) + '\": {}'", forms.replace('\'', "\\'"))
            .into();
    let mut keys = validation(
        "variables.probes.all(p, type(p) != map || p.all(key, key in ['probe', 'timeout']))",
        "a probe in the long form may have only the keys probe and timeout",
    );
    let mut timeouts = validation(
        &format!(
            "variables.texts.all(text, !text.contains(',timeout=') || text.matches(',timeout={DURATION}(,|$)')) && \
             variables.probes.all(p, type(p) != map || !('timeout' in p) || type(p.timeout) == int && p.timeout > 0 && p.timeout <= 60 || \
             type(p.timeout) == string && p.timeout.matches('^{DURATION}$'))"
        ),
        "the timeout of a probe must be a duration such as 500ms, 5s or 1m, of at most 60s",
    );
    let mut once = validation(
        "variables.probes.all(p, type(p) != map || !('timeout' in p) || !('probe' in p) || type(p.probe) != string || \
         !p.probe.contains(',timeout='))",
        "the timeout of a probe must be given only once",
    );
    for one in [&mut spelt, &mut keys, &mut timeouts, &mut once] {
        one["reason"] = "Invalid".into();
    }
    spec["validations"] = json!([spelt, keys, timeouts, once]);
    policy("linesman-probes-are-known", spec)
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

fn rule(kind: Kind, resources: &[String], operations: &[&str]) -> Value {
    json!({ "apiGroups": [kind.group], "apiVersions": kind.versions, "resources": resources, "operations": operations })
}

fn validation(expression: &str, message: &str) -> Value {
    json!({ "expression": expression, "message": message, "reason": "Forbidden" })
}
