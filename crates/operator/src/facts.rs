//! Objects of the cluster, reduced to what decisions need: what is not kept costs no memory.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;
use linesman_api::objects::{Enactment, Policy, UnreadableSpec};
use linesman_api::policy::PolicyStatus;
use linesman_api::time::Time;
use linesman_api::{finalizers, labels, names};
use linesman_fleet::rollout::{EnactmentFacts, NodeFacts, PolicyFacts};
use linesman_fleet::sealed_secrets::needs_secrets;

#[derive(Debug, Clone, PartialEq)]
pub struct KnownPolicy {
    /// Without a spec if that is unreadable.
    pub facts: PolicyFacts,
    pub unreadable: Option<String>,
    pub version: String,
    pub finalizers: Vec<String>,
    pub status: PolicyStatus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct KnownNode {
    pub facts: NodeFacts,
    pub uid: String,
}

/// A Pod that is an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub node: String,
    pub ready_since: Option<Time>,
}

pub fn policy(policy: Policy) -> KnownPolicy {
    let finalizers = policy.metadata.finalizers.unwrap_or_default();
    KnownPolicy {
        facts: PolicyFacts {
            name: policy.metadata.name.unwrap_or_default(),
            uid: policy.metadata.uid.unwrap_or_default(),
            generation: policy.metadata.generation.unwrap_or_default(),
            spec: policy.spec,
            deleting: policy.metadata.deletion_timestamp.is_some(),
            finalizer: finalizers.iter().any(|name| name == finalizers::REVERT),
            failed_nodes: match policy.status.observed_generation == policy.metadata.generation {
                true => policy.status.failed_nodes.clone(),
                false => Vec::new(),
            },
        },
        unreadable: policy.unreadable,
        version: policy.metadata.resource_version.unwrap_or_default(),
        finalizers,
        status: policy.status,
    }
}

/// Also where only an earlier version did, to which `rollout.undo` returns.
pub fn may_need_secrets(policy: &PolicyFacts) -> bool {
    let hosts = policy.spec.hosts.iter().map(|host| host.desired_state.as_ref());
    let mut documents = hosts.chain([policy.spec.desired_state.as_ref()]);
    policy.undoes() || documents.any(|document| needs_secrets(document, false))
}

pub fn node(node: &Node) -> KnownNode {
    let mut conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let condition = conditions.find(|c| c.type_ == "Ready");
    let ready = condition.is_some_and(|c| c.status == "True");
    let since = condition.and_then(|c| c.last_transition_time.as_ref()).map(|time| time.0.as_second());
    KnownNode {
        facts: NodeFacts {
            name: node.name_any(),
            labels: node.labels().clone(),
            ready,
            not_ready_since: since.filter(|_| !ready).and_then(|at| u64::try_from(at).ok()).map(Time),
            cordoned: node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or_default(),
            agent_since: None,
            macs: BTreeSet::new(),
            sealing_key: None,
        },
        uid: node.uid().unwrap_or_default(),
    }
}

pub fn agent(pod: &Pod) -> Option<Agent> {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.clone().find(|c| c.type_ == "Ready" && c.status == "True");
    let since = |condition: &k8s_openapi::api::core::v1::PodCondition| {
        let second = condition.last_transition_time.as_ref().map(|time| time.0.as_second());
        Time(second.and_then(|second| u64::try_from(second).ok()).unwrap_or_default())
    };
    Some(Agent { node: pod.spec.as_ref()?.node_name.clone()?, ready_since: ready.map(since) })
}

/// None: it does not say of which policy and node it is.
pub fn enactment(mut enactment: Enactment) -> Option<EnactmentFacts> {
    let name = enactment.name_any();
    let (policy, node) = policy_and_node(&enactment, &name)?;
    if let Some(UnreadableSpec { error, .. }) = &enactment.unreadable {
        tracing::warn!(enactment = name, error, "cannot read the spec; the operator writes it again");
    }
    // What was applied is the agent's to know.
    enactment.status.desired_state = None;
    enactment.status.captured_states.clear();
    Some(EnactmentFacts {
        policy,
        node,
        uid: enactment.metadata.uid.unwrap_or_default(),
        version: enactment.metadata.resource_version.unwrap_or_default(),
        generation: enactment.metadata.generation.unwrap_or_default(),
        spec: enactment.spec,
        status: enactment.status,
        unreadable: enactment.unreadable_status,
    })
}

/// The label of a node with a long name is not its name; the name of the enactment is NODE.POLICY.
fn policy_and_node(enactment: &Enactment, name: &str) -> Option<(String, String)> {
    let label = |key| enactment.labels().get(key).map(String::as_str);
    let value = label(labels::NODE)?;
    let Some(policy) = label(labels::POLICY) else {
        return Some((names::policy_of(name, value)?.into(), value.into()));
    };
    let node = names::node_of(name, policy).filter(|node| labels::node_value(node) == value);
    Some((policy.into(), node.unwrap_or(value).into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_is_ready_by_its_condition_alone() {
        let read = |status: &str| {
            let object = json!({ "metadata": { "name": "w1", "uid": "u", "labels": { "a": "b" } }, "spec": { "unschedulable": true },
                "status": { "conditions": [{ "type": "MemoryPressure", "status": "True" }, { "type": "Ready", "status": status }] } });
            node(&serde_json::from_value(object).unwrap())
        };
        assert!(read("True").facts.ready && !read("False").facts.ready && !read("Unknown").facts.ready);
        assert!(read("True").facts.cordoned);
        assert_eq!((read("True").facts.labels["a"].as_str(), read("True").uid.as_str()), ("b", "u"));
    }

    #[test]
    fn an_agent_is_there_since_its_pod_became_ready() {
        let read = |status: &str| {
            let ready =
                json!({ "type": "Ready", "status": status, "lastTransitionTime": "2026-07-20T10:00:00Z" });
            let pod = json!({ "metadata": { "name": "p" }, "spec": { "nodeName": "w1", "containers": [] }, "status": { "conditions": [ready] } });
            agent(&serde_json::from_value(pod).unwrap()).unwrap()
        };
        assert_eq!(read("True"), Agent { node: "w1".into(), ready_since: Some(Time(1_784_541_600)) });
        assert_eq!(read("False").ready_since, None);
    }

    #[test]
    fn enactments_of_nobody_are_passed_over() {
        let read = |labels: serde_json::Value| {
            let object = json!({ "metadata": { "name": "w1.blue", "resourceVersion": "7", "labels": labels },
                                 "status": { "desiredState": { "a": 1 }, "features": ["f"] } });
            enactment(serde_json::from_value(object).unwrap())
        };
        assert_eq!(read(json!({})), None);
        let known = read(json!({ "nmstate.io/node": "w1" })).unwrap();
        assert_eq!((known.policy.as_str(), known.node.as_str(), known.version.as_str()), ("blue", "w1", "7"));
        assert_eq!(known.spec, None);
        assert_eq!((known.status.desired_state, known.status.features.len()), (None, 1));
        assert_eq!(read(json!({ "nmstate.io/node": "w1", "nmstate.io/policy": "blue" })).unwrap().node, "w1");
    }

    #[test]
    fn a_node_with_a_long_name_is_known_by_the_name_of_its_enactment() {
        let node = "w".repeat(100);
        let labels = json!({ "nmstate.io/node": labels::node_value(&node), "nmstate.io/policy": "blue" });
        let object = json!({ "metadata": { "name": names::enactment(&node, "blue"), "labels": labels } });
        assert_eq!(enactment(serde_json::from_value(object).unwrap()).unwrap().node, node);
    }
}
