//! Golden cases of rollouts: every folder under `cases/rollout` is one. `UPDATE_GOLDEN=1` writes what comes out; read it before it
//! is committed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_api::condition::{Condition, Truth};
use linesman_api::enactment::{EnactmentSpec, EnactmentStatus, PolicyRef, Previous, Stage};
use linesman_api::policy::PolicySpec;
use linesman_api::selector::Labels;
use linesman_api::time::Time;
use linesman_fleet::rollout::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const NOW: Time = Time(1_784_541_600);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    metadata: Metadata,
    #[serde(default)]
    spec: PolicySpec,
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
    #[serde(default)]
    cordoned: bool,
    /// Since when; `none`.
    agent: Option<String>,
    #[serde(default)]
    macs: Vec<String>,
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
    stage: Stage,
    attempt: Option<i64>,
    expires: Option<Time>,
    #[serde(default)]
    revert: bool,
    previous: Option<Previous>,
    /// Conditions that are true, of this attempt.
    #[serde(default)]
    says: Vec<String>,
    message: Option<String>,
    /// Since when they are true.
    since: Option<Time>,
}

fn read<T: DeserializeOwned>(folder: &Path, file: &str) -> Vec<T> {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
    let documents = serde_yaml::Deserializer::from_str(&text);
    let each = documents.map(|document| serde_yaml::Value::deserialize(document).unwrap());
    each.filter(|value| !value.is_null())
        .map(|value| {
            serde_yaml::from_value(value).unwrap_or_else(|e| panic!("{}/{file}: {e}", folder.display()))
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
        cordoned: node.cordoned,
        agent_since,
        macs: node.macs.into_iter().collect(),
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
        policy: PolicyRef {
            uid: written.uid.unwrap_or_else(|| format!("uid-of-{name}")),
            name: name.clone(),
            generation,
        },
        desired_state: written.state.clone().or_else(current),
        capture: policy.map(|policy| policy.spec.capture.clone()).unwrap_or_default(),
        options: policy.map(|policy| policy.spec.options()).unwrap_or_default(),
        revert: written.revert,
        stage: written.stage,
        attempt,
        release_expires: written.expires,
        previous: written.previous,
    };
    let says = |kind: &String| {
        let message = written.message.clone().unwrap_or_default();
        Condition { last_transition_time: written.since, ..Condition::new(kind, Truth::True, "", message) }
    };
    let status = EnactmentStatus {
        attempt: (!written.says.is_empty()).then_some(attempt),
        conditions: written.says.iter().map(says).collect(),
        ..EnactmentStatus::default()
    };
    EnactmentFacts { policy: name, node: written.node, version: "1".into(), spec: Some(spec), status }
}

fn decided(folder: &Path) -> String {
    let policies: Vec<PolicyFacts> = read(folder, "policy.yaml").into_iter().map(policy).collect();
    let nodes: Vec<Vec<Node>> = read(folder, "nodes.yaml");
    let nodes: Vec<NodeFacts> = nodes.into_iter().flatten().map(node).collect();
    let enactments: Vec<Vec<Enactment>> = read(folder, "enactments.yaml");
    let enactments: Vec<EnactmentFacts> =
        enactments.into_iter().flatten().map(|e| enactment(e, &policies, &nodes)).collect();
    let decision = decide(&Situation {
        policy: &policies[0],
        policies: &policies,
        nodes: &nodes,
        enactments: &enactments,
        settings: Settings::default(),
        now: NOW,
    });
    let mut text = decision.render();
    if folder.join("show-documents").exists() {
        for action in &decision.actions {
            let Action::Enactment { node, step, .. } = action else { continue };
            let state = step.spec().and_then(|spec| spec.desired_state.as_ref());
            text += &format!("\n{node}:\n{}", serde_yaml::to_string(&state).unwrap());
        }
    }
    let orphaned = orphans(&policies, &enactments);
    if !orphaned.is_empty() {
        text += &format!("\norphans: {}\n", orphaned.len());
    }
    text
}

#[test]
fn decisions_are_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/rollout");
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 30);
    let mut wrong = Vec::new();
    for folder in folders {
        let (file, now) = (folder.join("decision.txt"), decided(&folder));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&file, &now).unwrap();
        }
        let then = fs::read_to_string(&file).unwrap_or_default();
        if then != now {
            wrong.push(format!("{}\n--- golden\n{then}--- now\n{now}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{} case(s) differ:\n{}", wrong.len(), wrong.join("\n"));
}
