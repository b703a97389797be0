//! A fleet without hosts: a real API server, real operators, and a thread that answers enactments as agents would.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use linesman_api::objects::{Enactment, Policy};
use linesman_lab::cluster::NAMESPACE;
use linesman_lab::{Cluster, Lab, Running};
use serde_json::{Value, json};

use crate::api::{conditions, deploy, policy};
use crate::fleet::true_conditions;
use crate::{binary, wait};

const CONDITIONS: [&str; 5] = ["Available", "Failing", "Progressing", "Pending", "Aborted"];

type Names = Arc<Mutex<BTreeSet<String>>>;

#[derive(Debug)]
pub struct SimulatedFleet {
    pub cluster: Arc<Cluster>,
    failing: Names,
    silent: Names,
    stop: Arc<AtomicBool>,
    agents: Option<JoinHandle<()>>,
    _lab: Lab,
}

impl SimulatedFleet {
    pub fn new(name: &str, nodes: &[&str]) -> Self {
        let lab = Lab::start(name).expect("the lab starts");
        let cluster = Arc::new(Cluster::start(&lab).expect("the cluster starts"));
        cluster.install(&deploy()).expect("the API server accepts deploy/");
        if !nodes.is_empty() {
            cluster.add_nodes(nodes, &[]).expect("the nodes join");
        }
        let (failing, silent, stop): (Names, Names, Arc<AtomicBool>) = Default::default();
        let agents = {
            let (cluster, failing, silent, stop) =
                (cluster.clone(), failing.clone(), silent.clone(), stop.clone());
            std::thread::spawn(move || simulate(&cluster, &failing, &silent, &stop))
        };
        Self { cluster, failing, silent, stop, agents: Some(agents), _lab: lab }
    }

    /// From now on, whatever is tried on this node fails.
    pub fn fail_changes_on(&self, node: &str) {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner).insert(node.into());
    }

    pub fn pass_changes_on(&self, node: &str) {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
    }

    /// From now on, this node answers nothing.
    pub fn stop_answers_of(&self, node: &str) {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner).insert(node.into());
    }

    pub fn resume_answers_of(&self, node: &str) {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
    }

    /// Whoever had the Lease has it no more.
    pub fn free_lease(&self) {
        let patch = r#"{"spec":{"holderIdentity":""}}"#;
        let words = [
            "patch",
            "lease",
            "linesman-operator",
            "--namespace",
            NAMESPACE,
            "--type=merge",
            "--patch",
            patch,
        ];
        self.cluster.run(&words).expect("there is a Lease");
    }

    pub fn operator(&self, identity: &str, variables: &[(&str, &str)]) -> Running {
        self.operator_with(identity, &[], variables)
    }

    pub fn operator_with(&self, identity: &str, options: &[&str], variables: &[(&str, &str)]) -> Running {
        let options = [&["--listen", "none"], options].concat();
        self.cluster
            .start_operator_with(binary(), identity, &options, variables)
            .expect("the operator starts")
    }

    pub fn policy(&self, name: &str, spec: &Value) {
        self.cluster.apply(&policy(name, spec).to_string()).expect("the API server accepts the policy");
    }

    /// The policy, once this condition is true of it.
    #[track_caller]
    pub fn wait_policy(&self, name: &str, kind: &str) -> Value {
        let mut policy = Value::Null;
        self.wait(&format!("policy {name} is {kind}"), || {
            let text = self.cluster.run(&["get", "nncp", name, "--ignore-not-found", "-o", "json"]).unwrap();
            policy = serde_json::from_str(&text).map_or(Value::Null, |policy: Policy| json!(policy));
            let current = policy["status"]["observedGeneration"] == policy["metadata"]["generation"];
            current && true_conditions(&policy["status"]) == kind
        });
        policy
    }

    #[track_caller]
    pub fn wait_enactment(&self, policy: &str, node: &str, kind: &str) {
        self.wait(&format!("{node}.{policy} is {kind}"), || {
            self.enactments(policy).get(node).is_some_and(|it| true_conditions(&it["status"]) == kind)
        });
    }

    #[track_caller]
    pub fn wait_gone(&self, policy: &str) {
        self.wait(&format!("{policy} has no enactments"), || self.enactments(policy).is_empty());
    }

    #[track_caller]
    pub fn wait(&self, what: &str, holds: impl FnMut() -> bool) {
        wait::eventually(what, holds, || self.cluster.run(&["get", "nncp,nnce", "-o", "yaml"]).unwrap());
    }

    pub fn enactments(&self, policy: &str) -> BTreeMap<String, Value> {
        let label = format!("nmstate.io/policy={policy}");
        let items = read(&self.cluster.run(&["get", "nnce", "-l", &label, "-o", "json"]).unwrap());
        let node = |item: &Value| {
            item["metadata"]["labels"]["nmstate.io/node"].as_str().unwrap_or_default().to_owned()
        };
        items.into_iter().map(|item| (node(&item), item)).collect()
    }

    /// The most nodes that had a release of the policy at a time, as the API server wrote it down.
    pub fn most_in_flight(&self, policy: &str) -> usize {
        let mut history: Vec<(u64, String, bool)> = Vec::new();
        for event in self.cluster.audit().unwrap() {
            let object = &event.response;
            let ours = event.resource == "nodenetworkconfigurationenactments"
                && event.succeeded()
                && event.writes()
                && object["metadata"]["labels"]["nmstate.io/policy"] == policy;
            let version = object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
            if let Some(version) = version.filter(|_| ours) {
                let node = object["metadata"]["labels"]["nmstate.io/node"].as_str().unwrap_or_default();
                history.push((version, node.into(), is_in_flight(object)));
            }
        }
        history.sort();
        let (mut flying, mut most) = (BTreeSet::new(), 0);
        for (_, node, in_flight) in history {
            if in_flight {
                flying.insert(node)
            } else {
                flying.remove(&node)
            };
            most = most.max(flying.len());
        }
        most
    }

    /// How often events with this reason were written about a policy.
    pub fn events(&self, policy: &str, reason: &str) -> usize {
        let fields = format!("regarding.name={policy},reason={reason}");
        let words = ["get", "events.events.k8s.io", "--field-selector", &fields, "-o", "json"];
        let all: Value = serde_json::from_str(&self.cluster.run(&words).unwrap()).unwrap();
        all["items"].as_array().map_or(0, Vec::len)
    }
}

impl Drop for SimulatedFleet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(agents) = self.agents.take() {
            agents.join().ok();
        }
    }
}

fn is_answered(enactment: &Value) -> bool {
    enactment["status"]["attempt"] == enactment["spec"]["attempt"]
}

fn is_in_flight(enactment: &Value) -> bool {
    let ended = is_answered(enactment)
        && matches!(true_conditions(&enactment["status"]).as_str(), "Available" | "Failing");
    enactment["spec"]["stage"] == "Released" && !ended
}

/// As agents and operators read enactments, whatever somebody wrote there.
fn read(list: &str) -> Vec<Value> {
    #[derive(Default, serde::Deserialize)]
    struct List {
        items: Vec<Enactment>,
    }
    let list: List = serde_json::from_str(list).unwrap_or_default();
    list.items.iter().map(|item| json!(item)).collect()
}

/// Each round every node goes one step further.
fn simulate(cluster: &Cluster, failing: &Names, silent: &Names, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let listed = cluster.kubectl(&["get", "nnce", "-o", "json", "--request-timeout=2s"]);
        let all = listed.map(|output| read(&output.stdout)).unwrap_or_default();
        for enactment in all.iter().filter(|it| is_in_flight(it)) {
            let node = enactment["metadata"]["labels"]["nmstate.io/node"].as_str().unwrap_or_default();
            if silent.lock().unwrap_or_else(PoisonError::into_inner).contains(node) {
                continue;
            }
            let fails = failing.lock().unwrap_or_else(PoisonError::into_inner).contains(node);
            let (kind, reason) = match (is_answered(enactment), fails) {
                (false, _) => ("Progressing", "ConfigurationProgressing"),
                (true, false) => ("Available", "SuccessfullyConfigured"),
                (true, true) => ("Failing", "FailedToConfigure"),
            };
            answer(cluster, enactment, &conditions(&CONDITIONS, kind, reason));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// With the version that was read; somebody may have been faster.
fn answer(cluster: &Cluster, enactment: &Value, conditions: &Value) {
    let (spec, metadata) = (&enactment["spec"], &enactment["metadata"]);
    let status = json!({ "attempt": spec["attempt"], "policyGeneration": spec["policy"]["generation"],
                         "observedGeneration": metadata["generation"], "conditions": conditions });
    let patch = json!({ "metadata": { "resourceVersion": metadata["resourceVersion"] }, "status": status })
        .to_string();
    let name = metadata["name"].as_str().unwrap_or_default();
    let words = ["patch", "nnce", name, "--subresource=status", "--type=merge", "--patch", &patch];
    cluster.kubectl(&words).ok();
}
