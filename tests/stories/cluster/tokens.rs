//! What a stolen token can be used for: each row of the tables in docs/reference/security.md is a test.

use linesman_api::labels;
use linesman_lab::cluster::NAMESPACE;
use linesman_tests::api::{Api, accepted, conditions, enactment, node_state, policy, refused};
use serde_json::{Value, json};

const OWN_STATE: &str = "an agent may write only the NodeNetworkState of its own node";
const OWN_ENACTMENT: &str = "an agent may write only the enactments of its own node";
const OPERATORS: &str = "only the Linesman operator may write the spec of an enactment";
const REPORTS: &str = "only the Linesman operator may write the status of a policy";
const NO_NODE: &str = "the token of the agent does not name its node";

fn status() -> Value {
    json!({ "conditions": conditions(&["Available"], "Available", "SuccessfullyConfigured") })
}

/// A policy on two nodes, and the token of the first one's agent.
fn two_nodes(api: &Api, policy_name: &str) -> (String, [String; 2]) {
    let nodes = ["a", "b"].map(|letter| format!("{policy_name}-{letter}"));
    let [token, other] = [0, 1].map(|index| api.node(&nodes[index]));
    api.cluster.apply(&policy(policy_name, &json!({})).to_string()).unwrap();
    let operator = api.operator();
    for node in &nodes {
        accepted(&api.create(&operator, &enactment(node, policy_name)));
    }
    accepted(&api.create(&other, &node_state(&nodes[1])));
    (token, nodes)
}

#[test]
fn an_agent_may_write_the_objects_of_its_node() {
    let api = Api::shared();
    let (token, [node, _]) = two_nodes(&api, "own");
    accepted(&api.create(&token, &node_state(&node)));
    accepted(&api.report(&token, &format!("nns/{node}"), &json!({ "currentState": { "interfaces": [] } })));
    let force = json!({ "metadata": { "labels": { "nmstate.io/force-nns-refresh": "1" } } });
    accepted(&api.patch(&token, &format!("nns/{node}"), &force, &[]));
    accepted(&api.report(&token, &format!("nnce/{node}.own"), &status()));
    let field = format!("metadata.name={node}");
    accepted(&api.cluster.kubectl_as(&token, &["get", "nns", "--field-selector", &field], "").unwrap());
}

#[test]
fn a_stolen_token_cannot_write_objects_of_other_nodes() {
    let api = Api::shared();
    let (token, [node, other]) = two_nodes(&api, "stolen");
    let nobody = "stolen-nobody";
    refused(&api.create(&token, &node_state(nobody)), OWN_STATE);
    refused(&api.report(&token, &format!("nns/{other}"), &json!({ "currentState": {} })), OWN_STATE);
    let labels = json!({ "metadata": { "labels": { "x": "y" } } });
    refused(&api.patch(&token, &format!("nns/{other}"), &labels, &[]), OWN_STATE);
    refused(&api.report(&token, &format!("nnce/{other}.stolen"), &status()), OWN_ENACTMENT);
    assert!(api.object(&format!("nnce/{other}.stolen"))["status"].is_null());

    // Nor does it make somebody else's enactment its own, or its own somebody else's.
    let relabel =
        |to: &str| json!({ "metadata": { "labels": { "nmstate.io/node": to } }, "status": status() });
    let status_of = ["--subresource=status"];
    refused(&api.patch(&token, &format!("nnce/{other}.stolen"), &relabel(&node), &status_of), OWN_ENACTMENT);
    accepted(&api.patch(&token, &format!("nnce/{node}.stolen"), &relabel(&other), &status_of));
    assert_eq!(
        api.object(&format!("nnce/{node}.stolen"))["metadata"]["labels"]["nmstate.io/node"],
        node.as_str()
    );
}

fn make_secret(api: &Api, name: &str, namespace: &str) {
    let words = ["create", "secret", "generic", name, "--from-literal=password=x", "-n", namespace];
    api.cluster.run(&words).unwrap();
}

#[test]
fn a_stolen_token_of_an_agent_reads_no_secrets() {
    let api = Api::shared();
    let token = api.node("secretive");
    for namespace in [NAMESPACE, "default"] {
        make_secret(&api, "eap", namespace);
    }
    let ask = |words: &[&str]| api.cluster.kubectl_as(&token, words, "").unwrap();
    for words in [
        &["get", "secret", "eap", "-n", NAMESPACE][..],
        &["get", "secrets", "-n", NAMESPACE],
        &["get", "secret", "eap", "-n", "default"],
        &["get", "secrets", "--all-namespaces"],
        &["delete", "secret", "eap", "-n", NAMESPACE],
    ] {
        refused(&ask(words), "forbidden");
    }
}

#[test]
fn a_stolen_token_cannot_release_enactments() {
    let api = Api::shared();
    let (token, [node, _]) = two_nodes(&api, "instructs");
    let own = format!("nnce/{node}.instructs");
    let release = json!({ "spec": { "stage": "Released", "releaseExpires": "2099-01-01T00:00:00Z" } });
    refused(&api.patch(&token, &own, &release, &[]), "forbidden");
    // The status is written, the spec beside it is not.
    accepted(&api.patch(&token, &own, &release, &["--subresource=status"]));
    assert_eq!(api.object(&own)["spec"]["stage"], "Bound");
    refused(&api.create(&token, &enactment(&node, "made-up")), "forbidden");
    refused(&api.report(&token, "nncp/instructs", &status()), "forbidden");
    for what in [&["delete", &own, "--wait=false"][..], &["delete", "nncp", "instructs"], &["get", "secrets"]]
    {
        refused(&api.cluster.kubectl_as(&token, what, "").unwrap(), "forbidden");
    }
}

#[test]
fn a_token_without_a_node_claim_cannot_write() {
    let api = Api::shared();
    let (_, [node, _]) = two_nodes(&api, "nodeless");
    let token = api.cluster.token(NAMESPACE, "nmstate-handler").unwrap();
    refused(&api.create(&token, &node_state(&node)), NO_NODE);
    refused(&api.report(&token, &format!("nnce/{node}.nodeless"), &status()), NO_NODE);
}

/// Admission alone holds, whatever roles somebody has given the agents.
#[test]
fn an_agent_with_cluster_admin_is_still_restricted_to_its_node() {
    let api = Api::shared();
    let (_, [node, other]) = two_nodes(&api, "mighty");
    let config = mighty_agent(&api, &node);
    let kubectl =
        |words: &[&str], input: &Value| api.cluster.kubectl_with(&config, words, &input.to_string()).unwrap();
    let own = format!("nnce/{node}.mighty");
    let release = r#"{"spec":{"stage":"Released","releaseExpires":"2099-01-01T00:00:00Z"}}"#;
    let nothing = Value::Null;
    refused(&kubectl(&["patch", &own, "--type=merge", "-p", release], &nothing), "ValidatingAdmissionPolicy");
    refused(
        &kubectl(&["delete", &own, "--wait=false"], &nothing),
        "the operator creates, changes and deletes enactments",
    );
    refused(&kubectl(&["delete", "nns", &other], &nothing), OWN_STATE);
    refused(&kubectl(&["create", "-f", "-"], &enactment(&node, "made-up")), "ValidatingAdmissionPolicy");
    for kind in ["nncp", "nodenetworkconfigurationpolicies.v1beta1.nmstate.io"] {
        let patch = json!({ "status": status() }).to_string();
        let words = ["patch", kind, "mighty", "--subresource=status", "--type=merge", "-p", &patch];
        refused(&kubectl(&words, &nothing), REPORTS);
    }
}

#[test]
fn administrators_cannot_write_enactment_specs() {
    let api = Api::shared();
    let (_, [node, _]) = two_nodes(&api, "mistaken");
    let patch = r#"{"spec":{"stage":"Expired"}}"#;
    let own = format!("nnce/{node}.mistaken");
    refused(&api.cluster.kubectl(&["patch", &own, "--type=merge", "-p", patch]).unwrap(), OPERATORS);
    // But may clear up.
    accepted(&api.cluster.kubectl(&["label", &own, "seen=yes"]).unwrap());
    accepted(&api.cluster.kubectl(&["delete", &own]).unwrap());
}

/// The administrator in the guise of an agent: nothing is refused for want of a role.
fn mighty_agent(api: &Api, node: &str) -> std::path::PathBuf {
    let admin = std::fs::read_to_string(api.cluster.admin()).unwrap();
    let mut config: Value = serde_json::from_str(&admin).unwrap();
    let user = &mut config["users"][0]["user"];
    user["as"] = json!(format!("system:serviceaccount:{NAMESPACE}:nmstate-handler"));
    user["as-groups"] = json!(["system:masters"]);
    user["as-user-extra"] = json!({ "authentication.kubernetes.io/node-name": [node] });
    let path = api.cluster.admin().with_file_name(format!("mighty-{node}.kubeconfig"));
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

#[test]
fn an_agent_of_a_node_with_a_long_name_is_restricted_to_it() {
    let api = Api::shared();
    let nodes = ["a", "b"].map(|letter| format!("long-{}{letter}", "x".repeat(80)));
    let [token, _] = [0, 1].map(|index| api.node(&nodes[index]));
    let operator = api.operator();
    for node in &nodes {
        let mut object = enactment(node, "long");
        object["metadata"]["labels"]["nmstate.io/node"] = json!(labels::node_value(node));
        object["metadata"]["ownerReferences"] =
            json!([{ "apiVersion": "v1", "kind": "Node", "name": node, "uid": "0" }]);
        accepted(&api.create(&operator, &object));
    }
    accepted(&api.report(&token, &format!("nnce/{}.long", nodes[0]), &status()));
    refused(&api.report(&token, &format!("nnce/{}.long", nodes[1]), &status()), OWN_ENACTMENT);
}

#[test]
fn an_agent_cannot_report_more_than_is_read() {
    let api = Api::shared();
    let (token, [node, _]) = two_nodes(&api, "wordy");
    accepted(&api.create(&token, &node_state(&node)));
    let write = |kind: &str, name: &str, status: Value| {
        let object = json!({ "apiVersion": "nmstate.io/v1beta1", "kind": kind, "metadata": { "name": name }, "status": status });
        let words = ["replace", "--subresource=status", "--validate=false", "-f", "-"];
        api.cluster.kubectl_as(&token, &words, &object.to_string()).unwrap()
    };
    let (kind, own) = ("NodeNetworkConfigurationEnactment", format!("{node}.wordy"));
    let deep = (0..30).fold(json!({}), |inner, _| json!({ "a": inner }));
    let long = |characters| json!({ "a": "x".repeat(characters) });
    refused(&write(kind, &own, json!({ "desiredState": deep })), "at most 24 levels deep");
    refused(&write(kind, &own, json!({ "desiredState": long(400_001) })), "at most 400000 bytes");
    let captured = json!({ "capturedStates": { "c": { "state": long(600_001) } } });
    refused(&write(kind, &own, captured), "at most 600000 bytes");
    let conditions: Vec<Value> =
        (0..33).map(|n| json!({ "type": format!("T{n}"), "status": "True" })).collect();
    refused(&write(kind, &own, json!({ "conditions": conditions })), "must have at most 32 items");
    let message =
        json!({ "conditions": [{ "type": "Available", "status": "True", "message": "x".repeat(32_769) }] });
    refused(&write(kind, &own, message), "may not be more than 32768");
    refused(
        &write("NodeNetworkState", &node, json!({ "currentState": long(1_200_001) })),
        "at most 1200000 bytes",
    );
    accepted(&write(kind, &own, status()));
}

fn event(namespace: &str, about: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Event", "metadata": { "name": "made-up", "namespace": namespace }, "reason": "MadeUp",
            "involvedObject": { "kind": "Node", "name": about, "namespace": namespace } })
}

#[test]
fn a_stolen_token_of_an_agent_writes_no_events_and_changes_nothing_else() {
    let api = Api::shared();
    let (token, [node, other]) = two_nodes(&api, "quiet");
    for namespace in ["default", NAMESPACE, "kube-system"] {
        for about in [&node, &other] {
            refused(&api.create(&token, &event(namespace, about)), "forbidden");
        }
    }
    for words in [
        &["get", "nncp"][..],
        &["get", "nodes"],
        &["get", "pods", "-n", NAMESPACE],
        &["label", "node", &node, "x=y"],
        &["label", "nncp", "quiet", "x=y"],
        &["delete", "nns", &other],
        &["create", "token", "nmstate-operator", "-n", NAMESPACE],
        &["get", "configmaps", "-n", NAMESPACE],
    ] {
        refused(&api.cluster.kubectl_as(&token, words, "").unwrap(), "forbidden");
    }
    // Reads cannot be restricted to a node.
    for words in [&["get", "nnce", "-o", "yaml"][..], &["get", "nns", "-o", "yaml"], &["get", "node", &other]]
    {
        accepted(&api.cluster.kubectl_as(&token, words, "").unwrap());
    }
}

fn open_vswitch(node: &str) -> Value {
    json!({ "apiVersion": "linesman.dev/v1alpha1", "kind": "NodeOpenVSwitch", "metadata": { "name": node } })
}

#[test]
fn a_stolen_token_of_a_keeper_writes_only_of_its_node() {
    const OWN: &str = "a keeper may write only the NodeOpenVSwitch and the Node of its own node";
    let api = Api::shared();
    let [node, other] = ["kept-a", "kept-b"];
    let [token, others] = [node, other].map(|name| {
        api.node(name);
        api.cluster.node_token(name, "linesman-ovs-keeper").unwrap()
    });
    let ask = |words: &[&str]| api.cluster.kubectl_as(&token, words, "").unwrap();
    accepted(&api.create(&token, &open_vswitch(node)));
    accepted(&api.create(&others, &open_vswitch(other)));
    refused(&api.create(&token, &open_vswitch("kept-nobody")), OWN);
    accepted(&api.report(&token, &format!("novs/{node}"), &json!({ "bridgeCount": 1 })));
    refused(&api.report(&token, &format!("novs/{other}"), &json!({ "bridgeCount": 1 })), OWN);
    let no_node = api.cluster.token(NAMESPACE, "linesman-ovs-keeper").unwrap();
    let report = api.report(&no_node, &format!("novs/{node}"), &json!({ "bridgeCount": 2 }));
    refused(&report, "the token of the keeper does not name its node");

    // Of its Node, one condition, and the removal of one taint.
    let strategic = |name: &str, patch: &Value, more: &[&str]| {
        let patch = patch.to_string();
        let words = ["patch", "node", name, "--type=strategic", "-p", &patch];
        ask(&[&words[..], more].concat())
    };
    let status = ["--subresource=status"];
    let condition = |kind: &str| json!({ "status": { "conditions": [{ "type": kind, "status": "True" }] } });
    accepted(&strategic(node, &condition("OpenVSwitchReady"), &status));
    refused(&strategic(other, &condition("OpenVSwitchReady"), &status), OWN);
    const ONE: &str =
        "a keeper may change nothing in the status of its Node but the condition OpenVSwitchReady";
    refused(&strategic(node, &condition("MemoryPressure"), &status), ONE);
    refused(&strategic(node, &json!({ "status": { "capacity": { "cpu": "99" } } }), &status), ONE);
    const TAINT: &str =
        "a keeper may change nothing of its Node but remove the taint linesman.dev/open-vswitch-not-ready";
    for patch in [
        json!({ "metadata": { "labels": { "x": "y" } } }),
        json!({ "spec": { "unschedulable": true } }),
        json!({ "spec": { "taints": [{ "key": "x", "effect": "NoExecute" }] } }),
        json!({ "spec": { "taints": [{ "key": "linesman.dev/open-vswitch-not-ready", "effect": "NoExecute" }] } }),
    ] {
        refused(&strategic(node, &patch, &[]), TAINT);
    }
    for words in [
        &["delete", "node", node][..],
        &["delete", "novs", node],
        &["get", "secrets", "-n", NAMESPACE],
        &["get", "configmaps", "-n", "default"],
        &["get", "pods", "-n", NAMESPACE],
        &["get", "nncp"],
        &["get", "leases", "-n", NAMESPACE],
    ] {
        refused(&ask(words), "forbidden");
    }
    accepted(&ask(&["get", "configmaps", "-n", NAMESPACE]));
}

#[test]
fn a_stolen_token_of_the_operator_changes_nothing_of_a_policy_but_status_and_finalizer() {
    const ONLY: &str =
        "the operator may change nothing of a policy but its status and the finalizer nmstate.io/revert";
    let api = Api::shared();
    let _ = two_nodes(&api, "kept-as-is");
    let token = api.operator();
    let patch = |patch: Value| api.patch(&token, "nncp/kept-as-is", &patch, &[]);
    accepted(&api.patch_as_admin(
        "nncp/kept-as-is",
        &json!({ "metadata": { "finalizers": ["others.example/keep"] } }),
    ));
    refused(&patch(json!({ "spec": { "desiredState": { "interfaces": [] } } })), ONLY);
    refused(&patch(json!({ "spec": { "maxUnavailable": 9 } })), ONLY);
    refused(&patch(json!({ "metadata": { "labels": { "x": "y" } } })), ONLY);
    refused(&patch(json!({ "metadata": { "annotations": { "x": "y" } } })), ONLY);
    refused(&patch(json!({ "metadata": { "finalizers": [] } })), ONLY);
    refused(
        &patch(json!({ "metadata": { "finalizers": ["others.example/keep", "nmstate.io/other"] } })),
        ONLY,
    );
    let both = json!(["others.example/keep", "nmstate.io/revert"]);
    accepted(&patch(json!({ "metadata": { "finalizers": both } })));
    accepted(&patch(json!({ "metadata": { "finalizers": ["others.example/keep"] } })));
    accepted(&api.report(&token, "nncp/kept-as-is", &json!({ "observedGeneration": 1 })));
    refused(&api.create(&token, &policy("made-up", &json!({}))), "forbidden");
    for words in [
        &["delete", "nncp", "kept-as-is", "--wait=false"][..],
        &["label", "node", "kept-as-is-a", "x=y"],
        &["create", "token", "nmstate-handler", "-n", NAMESPACE],
        &["delete", "pod", "nmstate-handler-kept-as-is-a", "-n", NAMESPACE],
    ] {
        refused(&api.cluster.kubectl_as(&token, words, "").unwrap(), "forbidden");
    }
    accepted(&api.patch_as_admin("nncp/kept-as-is", &json!({ "metadata": { "finalizers": [] } })));
}

#[test]
fn a_stolen_token_of_the_operator_reads_secrets_only_by_name_in_its_namespace() {
    let api = Api::shared();
    let token = api.operator();
    for namespace in [NAMESPACE, "default"] {
        make_secret(&api, "of-a-policy", namespace);
    }
    let ask = |words: &[&str]| api.cluster.kubectl_as(&token, words, "").unwrap();
    accepted(&ask(&["get", "secret", "of-a-policy", "-n", NAMESPACE]));
    for words in [
        &["get", "secrets", "-n", NAMESPACE][..],
        &["get", "secrets", "-n", NAMESPACE, "--watch"],
        &["get", "secret", "of-a-policy", "-n", "default"],
        &["get", "secrets", "--all-namespaces"],
        &["delete", "secret", "of-a-policy", "-n", NAMESPACE],
        &["label", "secret", "of-a-policy", "x=y", "-n", NAMESPACE],
    ] {
        refused(&ask(words), "forbidden");
    }
}

#[test]
fn every_row_of_the_security_reference_is_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(folder.join("../docs/reference/security.md")).unwrap();
    let names: Vec<&str> = page.split('`').filter(|text| text.contains("::")).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let (module, test) = name.split_once("::").unwrap();
        let file = folder.join(format!("stories/cluster/{module}.rs"));
        let code = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(code.contains(&format!("#[test]\nfn {test}()")), "{} has no test {test}", file.display());
    }
}
