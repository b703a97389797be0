//! The golden cases of `cases/rollout`; `cases/README.md` says how to add one.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use linesman_api::condition::{Condition, Truth};
use linesman_api::enactment::{
    EnactmentSpec, EnactmentStatus, PolicyRef, Previous, Purpose, SealedSecrets, Stage,
};
use linesman_api::options::Options;
use linesman_api::policy::{PolicySpec, PolicyStatus};
use linesman_api::selector::Labels;
use linesman_api::time::Time;
use linesman_core::document::tree;
use linesman_fleet::rollout::*;
use linesman_fleet::sealed_secrets::{LookupError, Reference, UnavailableSecrets};
use linesman_golden::{Case, Tree};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const ROLLOUT: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/rollout"),
    outputs: &["decision.txt"],
    at_least: 74,
};
const NOW: Time = Time(1_784_541_600);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    metadata: Metadata,
    #[serde(default)]
    spec: PolicySpec,
    #[serde(default)]
    status: PolicyStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    generation: i64,
    uid: Option<String>,
    deletion_timestamp: Option<Time>,
    #[serde(default)]
    finalizers: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Node {
    name: String,
    #[serde(default)]
    labels: Labels,
    zone: Option<String>,
    #[serde(default)]
    control_plane: bool,
    ready: Option<bool>,
    not_ready_since: Option<Time>,
    #[serde(default)]
    cordoned: bool,
    /// Since when; `none`.
    agent: Option<String>,
    #[serde(default)]
    macs: BTreeSet<MacAddress>,
    /// Public, for Secrets.
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Enactment {
    node: String,
    policy: Option<String>,
    uid: Option<String>,
    generation: Option<i64>,
    /// Default: what the policy says now.
    state: Option<Value>,
    #[serde(default)]
    purpose: Purpose,
    stage: Stage,
    attempt: Option<i64>,
    expires: Option<Time>,
    /// Default: as the policy has them now.
    options: Option<Options>,
    #[serde(default)]
    revert: bool,
    previous: Option<Previous>,
    /// Conditions that are true, of this attempt.
    #[serde(default)]
    says: Vec<String>,
    reason: Option<String>,
    message: Option<String>,
    /// Since when they are true.
    since: Option<Time>,
    /// Of its node, when it was released.
    not_ready_since: Option<Time>,
    failed_soak: Option<Time>,
    /// The key to which Secrets were sealed.
    sealed_to: Option<String>,
    /// Its agent reported after the last write of the operator.
    #[serde(default)]
    reported_last: bool,
    /// Why the agent asks to be released again.
    requests: Option<String>,
}

/// All documents of a file; none without it.
fn read<T: DeserializeOwned>(case: &Case, file: &str) -> Vec<T> {
    let text = case.input(file).unwrap_or_default();
    let documents = text.split("---\n").filter(|document| !document.trim().is_empty());
    documents
        .map(|document| {
            let value = tree(document).unwrap_or_else(|e| panic!("{}/{file}: {e:?}", case.name())).to_value();
            serde_json::from_value(value).unwrap_or_else(|e| panic!("{}/{file}: {e}", case.name()))
        })
        .collect()
}

fn policy(manifest: Manifest) -> PolicyFacts {
    let Metadata { name, generation, uid, deletion_timestamp, finalizers } = manifest.metadata;
    PolicyFacts {
        uid: uid.unwrap_or_else(|| format!("uid-of-{name}")),
        name,
        generation,
        spec: manifest.spec,
        deleting: deletion_timestamp.is_some(),
        finalizer: finalizers.iter().any(|name| name == linesman_api::finalizers::REVERT),
        failed_nodes: manifest.status.failed_nodes,
    }
}

fn node(node: Node) -> NodeFacts {
    let mut labels = node.labels;
    if node.control_plane {
        labels.insert("node-role.kubernetes.io/control-plane".into(), String::new());
    }
    labels.extend(node.zone.map(|zone| ("topology.kubernetes.io/zone".to_string(), zone)));
    let agent_since = match node.agent.as_deref() {
        None => Some(Time(1)),
        Some("none") => None,
        Some(since) => serde_json::from_value(since.into()).unwrap(),
    };
    NodeFacts {
        name: node.name,
        labels,
        ready: node.ready.unwrap_or(true),
        not_ready_since: node.not_ready_since,
        cordoned: node.cordoned,
        agent_since,
        macs: node.macs,
        sealing_key: node.key,
    }
}

fn enactment(written: Enactment, policies: &[PolicyFacts], nodes: &[NodeFacts]) -> EnactmentFacts {
    let name = written.policy.unwrap_or_else(|| policies[0].name.clone());
    let policy = policies.iter().find(|policy| policy.name == name);
    let node = nodes.iter().find(|node| node.name == written.node);
    let current = || policy.zip(node).and_then(|(policy, node)| state_for(&policy.spec, node).unwrap());
    let generation = written.generation.or(policy.map(|policy| policy.generation)).unwrap_or(1);
    let attempt = written.attempt.unwrap_or(1);
    let spec = EnactmentSpec {
        matched_mac: None,
        policy: PolicyRef {
            uid: written.uid.unwrap_or_else(|| format!("uid-of-{name}")),
            name: name.clone(),
            generation,
        },
        desired_state: written.state.clone().or_else(current),
        capture: policy.map(|policy| policy.spec.capture.clone()).unwrap_or_default(),
        options: written.options.or(policy.map(|policy| policy.spec.options())).unwrap_or_default(),
        revert: written.revert,
        purpose: written.purpose,
        stage: written.stage,
        attempt,
        release_expires: written.expires,
        not_ready_since: written.not_ready_since,
        failed_soak: written.failed_soak,
        sealed_secrets: written.sealed_to.map(|key| SealedSecrets { key, message: String::new() }),
        previous: written.previous,
    };
    let says = |kind: &String| {
        let message = written.message.clone().unwrap_or_default();
        let reason = written.reason.clone().unwrap_or_default();
        let condition = Condition::new(kind, Truth::True, "", message);
        Condition { last_transition_time: written.since, reason, ..condition }
    };
    let status = EnactmentStatus {
        attempt: (!written.says.is_empty()).then_some(attempt),
        conditions: written.says.iter().map(says).collect(),
        requests_release: written.requests.clone(),
        observed_generation: Some(if written.reported_last { 7 } else { 6 }),
        ..EnactmentStatus::default()
    };
    EnactmentFacts {
        policy: name,
        node: written.node,
        version: "1".into(),
        generation: 7,
        spec: Some(spec),
        status,
        ..EnactmentFacts::default()
    }
}

fn decided(case: &Case) -> String {
    let policies: Vec<PolicyFacts> = read(case, "policy.yaml").into_iter().map(policy).collect();
    let nodes: Vec<Vec<Node>> = read(case, "nodes.yaml");
    let nodes: Vec<NodeFacts> = nodes.into_iter().flatten().map(node).collect();
    let enactments: Vec<Vec<Enactment>> = read(case, "enactments.yaml");
    let enactments: Vec<EnactmentFacts> =
        enactments.into_iter().flatten().map(|e| enactment(e, &policies, &nodes)).collect();
    let missing: Vec<Vec<Reference>> = read(case, "missing-secrets.yaml");
    let not_found =
        |reference: &Reference| LookupError::NotFound { secret: format!("nmstate/{}", reference.name) };
    let unavailable =
        missing.into_iter().flatten().map(|reference| (reference.clone(), not_found(&reference)));
    let decision = decide(&Situation {
        set_aside: Default::default(),
        unavailable: UnavailableSecrets(unavailable.collect()),
        policy: &policies[0],
        policies: policies.iter().collect(),
        nodes: nodes.iter().collect(),
        enactments: enactments.iter().collect(),
        settings: Settings::default(),
        now: NOW,
    });
    let mut text = decision.render();
    if case.input("show-documents").is_some() {
        for action in &decision.actions {
            let Action::Enactment { node, step, .. } = action else { continue };
            let state = step.spec().and_then(|spec| spec.desired_state.as_ref());
            text += &format!("\n{node}:\n{}", yaml_serde::to_string(&state).unwrap());
        }
    }
    let orphaned = orphans(&policies, &enactments);
    if !orphaned.is_empty() {
        text += &format!("\norphans: {}\n", orphaned.len());
    }
    text
}

#[test]
fn decisions_are_as_expected() {
    ROLLOUT.compare(|case| [decided(case)]);
}
