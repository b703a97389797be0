//! Rollouts that are stopped in the middle, and what was observed of them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{ENACTMENTS, Fleet, POLICIES, true_conditions};
use crate::binary;

/// Where agents stop: the new state is there, and nothing is decided.
const PLACE: &str = "applied";

impl Fleet {
    /// Its changes stop in the middle, each until `finish_change`.
    pub fn stop_in_mid_change(&self, node: &str) {
        if self.agents.borrow().contains_key(node) {
            self.kill_agent(node);
        }
        self.start_agent_with(self.node(node), &[("LINESMAN_FAILPOINT", PLACE)]);
    }

    pub fn wait_in_mid_change(&self, node: &str) {
        let marker = format!("/run/linesman/failpoint/{PLACE}");
        self.eventually(&format!("{node} is in mid-change"), || {
            self.node(node).exists(&marker).unwrap_or(false)
        });
    }

    pub fn finish_change(&self, node: &str) {
        let marker = format!("/run/linesman/failpoint/{PLACE}");
        self.node(node).run(["rm", "-f", &marker]).expect("a marker can be removed");
    }

    pub fn start_operator_with(&self, identity: &str, variables: &[(&str, &str)]) {
        let running = self.cluster.start_operator_with(binary(), identity, &[], variables);
        self.operators.borrow_mut().insert(identity.into(), running.expect("the operator starts"));
    }

    pub fn status(&self, policy: &str) -> Value {
        self.get(POLICIES, policy).unwrap_or_default()["status"].clone()
    }

    pub fn generation(&self, policy: &str) -> Value {
        self.get(POLICIES, policy).unwrap_or_default()["metadata"]["generation"].clone()
    }

    /// Until the operator has looked at the policy as it is now.
    pub fn wait_seen(&self, policy: &str) {
        let generation = self.generation(policy);
        self.eventually(&format!("the operator sees {policy}, generation {generation}"), || {
            self.status(policy)["observedGeneration"] == generation
        });
    }

    /// Reason and message of the condition that is true of a policy.
    pub fn reason_and_message(&self, policy: &str) -> (String, String) {
        let status = self.status(policy);
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|c| c["status"] == "True").cloned().unwrap_or_default();
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        (text("reason"), text("message"))
    }

    pub fn enactment(&self, node: &str, policy: &str) -> Value {
        self.get(ENACTMENTS, &format!("{node}.{policy}")).unwrap_or_default()
    }

    /// Why a node waits, as the status of the policy says.
    pub fn blocked_reason(&self, policy: &str, node: &str) -> String {
        let blocked = self.status(policy)["blockedNodes"].as_array().cloned().unwrap_or_default();
        let found = blocked.iter().find(|blocked| blocked["node"] == node);
        found.and_then(|blocked| blocked["reason"].as_str()).unwrap_or_default().to_owned()
    }

    pub fn delete(&self, policy: &str) {
        self.cluster.run(&["delete", POLICIES, policy, "--wait=false"]).expect("a policy can be deleted");
    }

    /// Neither the policy nor anything about it is left.
    pub fn wait_nothing_left(&self, policy: &str) {
        let of_it = format!("nmstate.io/policy={policy}");
        self.eventually(&format!("nothing of {policy} is left"), || {
            let left = self.cluster.run(&["get", ENACTMENTS, "-o", "name", "-l", &of_it]);
            self.get(POLICIES, policy).is_none() && left.is_ok_and(|left| left.trim().is_empty())
        });
    }

    /// How each change for a policy ended on a node, by its own journal, rollbacks included.
    pub fn changes(&self, node: &str, policy: &str) -> Vec<String> {
        let output = self.node(node).exec(["linesman", "history", "-o", "json"]).expect("linesman runs");
        let records: Vec<Value> = serde_json::from_str(&output.stdout).expect("history prints JSON");
        let own = format!("policy {policy}");
        let about = |record: &&Value| record["source"].as_str().is_some_and(|source| source.ends_with(&own));
        let verdict =
            |record: &Value| record["outcome"]["verdict"].as_str().unwrap_or("unfinished").to_owned();
        records.iter().filter(about).map(verdict).collect()
    }

    pub fn mtu(&self, node: &str, interface: &str) -> String {
        let mtu = self.node(node).read_file(format!("/sys/class/net/{interface}/mtu")).unwrap_or_default();
        String::from_utf8_lossy(&mtu).trim().to_owned()
    }

    /// The most nodes in flight at a time, over all policies together, of those that count. By the API server's own log.
    pub fn most_nodes_in_flight(&self, counts: impl Fn(&str) -> bool) -> usize {
        let mut flying: BTreeSet<(String, String)> = BTreeSet::new();
        let mut most = 0;
        let audit = self.audit();
        for event in audit.iter().filter(|e| e.resource == "nodenetworkconfigurationenactments" && e.writes())
        {
            let Some((node, policy)) = event.name.split_once('.') else { continue };
            let flight = (node.to_owned(), policy.to_owned());
            let object = &event.response;
            let answered = object["status"]["attempt"] == object["spec"]["attempt"];
            let ended = matches!(true_conditions(&object["status"]).as_str(), "Available" | "Failing");
            let flies =
                event.verb != "delete" && object["spec"]["stage"] == "Released" && !(answered && ended);
            if flies && counts(node) {
                flying.insert(flight);
            } else {
                flying.remove(&flight);
            }
            let nodes: BTreeSet<&str> = flying.iter().map(|(node, _)| node.as_str()).collect();
            most = most.max(nodes.len());
        }
        most
    }
}
