//! Nodes of a real cluster: an API server, operators, and an agent on each node.

mod hosts;
mod rollouts;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use linesman_lab::cluster::Event;
use linesman_lab::{Cluster, Lab, Node, Running};
use serde_json::{Value, json};

use crate::{binary, wait};

pub const POLICIES: &str = "nodenetworkconfigurationpolicies.nmstate.io";
pub const ENACTMENTS: &str = "nodenetworkconfigurationenactments.nmstate.io";
pub const STATES: &str = "nodenetworkstates.nmstate.io";

#[derive(Debug)]
pub struct Fleet {
    agents: RefCell<BTreeMap<String, Running>>,
    operators: RefCell<BTreeMap<String, Running>>,
    pub nodes: Vec<Node>,
    pub cluster: Cluster,
    pub lab: Lab,
}

impl Fleet {
    /// So many nodes, n1 and on, with agents; and one operator.
    pub fn new(name: &str, nodes: usize) -> Self {
        let fleet = Self::without_operator(name, nodes);
        fleet.start_operator("one", &[]);
        fleet
    }

    pub fn without_operator(name: &str, nodes: usize) -> Self {
        let fleet = Self::without_agents(name, nodes);
        fleet.nodes.iter().for_each(|node| fleet.start_agent(node));
        fleet
    }

    pub fn without_agents(name: &str, nodes: usize) -> Self {
        let lab = Lab::start(name).expect("the lab starts");
        let cluster = Cluster::start(&lab).expect("the API server starts");
        let deploy = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy"));
        cluster.install(deploy).expect("the API server accepts the manifests");
        let nodes: Vec<Node> = (1..=nodes)
            .map(|number| {
                let node = lab.node(&format!("n{number}")).nics(3).binary(binary());
                let node = node.start().expect("the node starts");
                node.configure_static().expect("the node is reachable");
                cluster.join(&node, &[]).expect("the node joins");
                node
            })
            .collect();
        Self { agents: RefCell::default(), operators: RefCell::default(), nodes, cluster, lab }
    }

    pub fn node(&self, name: &str) -> &Node {
        self.nodes.iter().find(|node| node.name() == name).expect("a node of this fleet")
    }

    pub fn start_agent(&self, node: &Node) {
        self.start_agent_with(node, &[]);
    }

    /// With variables in its environment.
    pub fn start_agent_with(&self, node: &Node, variables: &[(&str, &str)]) {
        let running = self.cluster.start_agent_with(node, &[], variables).expect("the agent starts");
        self.agents.borrow_mut().insert(node.name().to_string(), running);
    }

    pub fn start_agent_with_options(&self, node: &Node, options: &[&str]) {
        let running = self.cluster.start_agent_with(node, options, &[]).expect("the agent starts");
        self.agents.borrow_mut().insert(node.name().to_string(), running);
    }

    /// kill -9.
    pub fn kill_agent(&self, node: &str) {
        let agent = self.agents.borrow_mut().remove(node).expect("an agent runs there");
        agent.kill().expect("it can be killed");
        agent.wait().ok();
    }

    pub fn agent_log(&self, node: &str) -> String {
        self.agents.borrow().get(node).map(Running::stderr).unwrap_or_default()
    }

    pub fn start_operator(&self, identity: &str, options: &[&str]) {
        let running = self.cluster.start_operator(binary(), identity, options).expect("the operator starts");
        self.operators.borrow_mut().insert(identity.to_string(), running);
    }

    pub fn kill_operator(&self, identity: &str) {
        let operator = self.operators.borrow_mut().remove(identity).expect("such an operator runs");
        operator.kill().ok();
        operator.wait().ok();
    }

    pub fn operator_log(&self, identity: &str) -> String {
        self.operators.borrow().get(identity).map(Running::stderr).unwrap_or_default()
    }

    /// A policy with this spec; made or edited.
    pub fn policy(&self, name: &str, spec: &Value) {
        let policy = json!({ "apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy",
            "metadata": { "name": name }, "spec": spec });
        self.cluster.apply(&policy.to_string()).expect("the API server accepts the policy");
    }

    pub fn get(&self, kind: &str, name: &str) -> Option<Value> {
        self.cluster.get(kind, name).expect("the API server answers")
    }

    /// The type of the condition that is true of a policy.
    pub fn policy_condition(&self, policy: &str) -> String {
        let policy = self.get(POLICIES, policy).unwrap_or_default();
        let (generation, observed) =
            (&policy["metadata"]["generation"], &policy["status"]["observedGeneration"]);
        if generation != observed {
            return "not seen yet".into();
        }
        true_conditions(&policy["status"])
    }

    /// The type of the condition that is true of a policy on a node.
    pub fn enactment_condition(&self, node: &str, policy: &str) -> String {
        let enactment = self.get(ENACTMENTS, &format!("{node}.{policy}")).unwrap_or_default();
        true_conditions(&enactment["status"])
    }

    /// The message of a condition of an enactment.
    pub fn message(&self, node: &str, policy: &str, kind: &str) -> String {
        let enactment = self.get(ENACTMENTS, &format!("{node}.{policy}")).unwrap_or_default();
        let conditions = enactment["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|c| c["type"] == kind);
        found.and_then(|c| c["message"].as_str()).unwrap_or_default().to_string()
    }

    /// What the true condition of a policy says.
    pub fn message_of_policy(&self, policy: &str) -> String {
        let policy = self.get(POLICIES, policy).unwrap_or_default();
        let conditions = policy["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|c| c["status"] == "True");
        found.and_then(|c| c["message"].as_str()).unwrap_or_default().to_string()
    }

    pub fn wait_policy(&self, policy: &str, condition: &str) {
        self.eventually(&format!("policy {policy} {condition}"), || {
            self.policy_condition(policy) == condition
        });
    }

    pub fn wait_enactment(&self, node: &str, policy: &str, condition: &str) {
        self.eventually(&format!("{node}.{policy} {condition}"), || {
            self.enactment_condition(node, policy) == condition
        });
    }

    #[track_caller]
    pub fn eventually(&self, what: &str, holds: impl FnMut() -> bool) {
        wait::eventually(what, holds, || self.diagnostics());
    }

    /// What helps to understand a failure.
    pub fn diagnostics(&self) -> String {
        let objects = self.cluster.run(&["get", "nncp,nnce,nns,nodes", "-o", "wide"]).unwrap_or_default();
        let statuses = self.cluster.run(&["get", "nncp,nnce", "-o", "yaml"]).unwrap_or_default();
        let mut text = format!("{objects}\n{statuses}\n");
        for (name, operator) in self.operators.borrow().iter() {
            text += &format!("--- operator {name}\n{}\n", operator.stderr());
        }
        for (name, agent) in self.agents.borrow().iter() {
            text += &format!("--- agent {name}\n{}\n", agent.stderr());
        }
        text
    }

    /// Requests that went well, as the API server wrote them down.
    pub fn audit(&self) -> Vec<Event> {
        let events = self.cluster.audit().expect("there is an audit log");
        events.into_iter().filter(|event| event.succeeded() && event.stage == "ResponseComplete").collect()
    }

    /// What the agent of a node wrote.
    pub fn writes_of(&self, node: &str) -> Vec<Event> {
        self.audit().into_iter().filter(|event| event.node == node && event.writes()).collect()
    }

    /// Asks an agent for the state of its node: what it had to write before that is written then.
    pub fn refresh(&self, node: &str) {
        let before = self.state_reports(node);
        self.request_state(node, &self.audit().len().to_string());
        self.eventually(&format!("{node} reports its state"), || self.state_reports(node) > before);
    }

    /// A report of the state of a node, by a value that differs from the last one.
    pub fn request_state(&self, node: &str, value: &str) {
        let label = format!("nmstate.io/force-nns-refresh={value}");
        self.cluster
            .run(&["label", STATES, node, "--overwrite", &label])
            .expect("the API server accepts a label");
    }

    /// How often the agent reported the state of its node. Not by their times: two may fall into one second.
    pub fn state_reports(&self, node: &str) -> usize {
        self.writes_of(node).iter().filter(|event| event.target() == "nodenetworkstates/status").count()
    }

    /// The most nodes that a policy had in flight at a time: from their release until they reported how it ended. By
    /// the API server's own log.
    pub fn most_in_flight(&self, policy: &str) -> usize {
        let mut flying = std::collections::BTreeSet::new();
        let mut most = 0;
        for event in
            self.audit().iter().filter(|event| event.resource == "nodenetworkconfigurationenactments")
        {
            let object = &event.response;
            if object["metadata"]["labels"]["nmstate.io/policy"] != policy {
                continue;
            }
            let node =
                object["metadata"]["labels"]["nmstate.io/node"].as_str().unwrap_or_default().to_string();
            let released = object["spec"]["stage"] == "Released";
            let answered = object["status"]["attempt"] == object["spec"]["attempt"];
            let conditions = true_conditions(&object["status"]);
            let ended = answered && matches!(conditions.as_str(), "Available" | "Failing");
            if event.verb == "delete" || !released || ended {
                flying.remove(&node);
            } else {
                flying.insert(node);
            }
            most = most.max(flying.len());
        }
        most
    }

    pub fn has_interface(&self, node: &str, name: &str) -> bool {
        self.node(node).exists(format!("/sys/class/net/{name}")).unwrap_or(false)
    }
}

/// Their types, with commas between them.
pub fn true_conditions(status: &Value) -> String {
    let known = ["Available", "Degraded", "Failing", "Progressing", "Pending", "Aborted", "Ignored"];
    let all = status["conditions"].as_array().into_iter().flatten().filter(|c| c["status"] == "True");
    let types = all.filter_map(|c| c["type"].as_str()).filter(|t| known.contains(t));
    types.collect::<Vec<_>>().join(",")
}

/// A bridge without ports: quick, and harmless.
pub fn bridge(name: &str) -> Value {
    json!({ "interfaces": [{ "name": name, "type": "linux-bridge", "state": "up" }] })
}

/// The same, with an MTU that differs between versions of a policy.
pub fn bridge_of(name: &str, mtu: u64) -> Value {
    json!({ "interfaces": [{ "name": name, "type": "linux-bridge", "state": "up", "mtu": mtu }] })
}
