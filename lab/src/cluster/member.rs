//! Nodes of the lab as nodes of the cluster: the objects that a kubelet would write.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{Cluster, NAMESPACE};
use crate::error::Result;
use crate::node::Node;

/// Where a node finds the kubeconfig of its agent.
pub const KUBECONFIG: &str = "/etc/linesman/kubeconfig";
const ACCOUNT: &str = "nmstate-handler";

impl Cluster {
    /// Its Node, ready; the Pod of its agent, ready; and on its disk the agent's kubeconfig, whose token names the node.
    pub fn join(&self, node: &Node, labels: &[(&str, &str)]) -> Result<()> {
        let name = node.name();
        self.add(&[name], Some(&node.mgmt_ipv4().to_string()), labels)?;
        node.write_file(KUBECONFIG, self.kubeconfig(&self.agent_token(name)?), 0o600)
    }

    /// Nodes of the cluster that are no nodes of the lab: objects only, so there may be many.
    pub fn add_nodes(&self, names: &[&str], labels: &[(&str, &str)]) -> Result<()> {
        self.add(names, None, labels)
    }

    fn add(&self, names: &[&str], address: Option<&str>, labels: &[(&str, &str)]) -> Result<()> {
        let nodes = || names.iter().map(|name| node_object(name, labels));
        let pods = || names.iter().map(|name| pod_object(name));
        self.apply_all(nodes().chain(pods()), &[])?;
        let nodes = nodes().map(|node| with_status(node, node_status(true, address)));
        let pods = pods().map(|pod| with_status(pod, pod_status(true)));
        self.apply_all(nodes.chain(pods), &["--subresource=status"])
    }

    fn apply_all(&self, objects: impl Iterator<Item = Value>, options: &[&str]) -> Result<()> {
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects.collect::<Vec<_>>() });
        self.apply_with(&list.to_string(), options)
    }

    /// Bound to the Pod of the agent there: it says on which node that runs.
    pub fn agent_token(&self, node: &str) -> Result<String> {
        let pod = pod(node);
        let bound = ["--bound-object-kind", "Pod", "--bound-object-name", &pod];
        let words = ["create", "token", ACCOUNT, "--namespace", NAMESPACE, "--duration", "24h"];
        Ok(self.run(&[&words[..], &bound].concat())?.trim().to_owned())
    }

    /// Of another service account, bound to a Pod of its own on that node.
    pub fn node_token(&self, node: &str, account: &str) -> Result<String> {
        let name = format!("{account}-{node}");
        let mut pod = pod_object(node);
        pod["metadata"]["name"] = name.as_str().into();
        pod["metadata"]["labels"] = json!({});
        pod["spec"]["serviceAccountName"] = account.into();
        self.apply(&pod.to_string())?;
        let bound = ["--bound-object-kind", "Pod", "--bound-object-name", &name];
        let words = ["create", "token", account, "--namespace", NAMESPACE, "--duration", "24h"];
        Ok(self.run(&[&words[..], &bound].concat())?.trim().to_owned())
    }

    /// As the kubelet reports the node.
    pub fn set_ready(&self, node: &str, ready: bool) -> Result<()> {
        self.set_status("node", node, &node_status(ready, None))
    }

    /// As the kubelet reports the agent's Pod.
    pub fn agent_ready(&self, node: &str, ready: bool) -> Result<()> {
        self.set_status("pod", &pod(node), &pod_status(ready))
    }

    pub fn cordon(&self, node: &str, on: bool) -> Result<()> {
        self.run(&[if on { "cordon" } else { "uncordon" }, node]).map(drop)
    }

    /// None takes a label away.
    pub fn label(&self, node: &str, key: &str, value: Option<&str>) -> Result<()> {
        let wish = value.map_or_else(|| format!("{key}-"), |value| format!("{key}={value}"));
        self.run(&["label", "--overwrite", "node", node, &wish]).map(drop)
    }

    /// The Node and the Pod of its agent; what belongs to the Node goes when garbage is collected.
    pub fn delete_node(&self, node: &str) -> Result<()> {
        let pod = pod(node);
        let now = ["--grace-period=0", "--force", "--ignore-not-found"];
        self.run(&[&["delete", "pod", &pod, "--namespace", NAMESPACE][..], &now].concat())?;
        self.run(&["delete", "node", node]).map(drop)
    }

    fn set_status(&self, kind: &str, name: &str, status: &Value) -> Result<()> {
        let patch = json!({ "status": status }).to_string();
        let words =
            ["patch", kind, name, "--namespace", NAMESPACE, "--subresource=status", "--patch", &patch];
        self.run(&words).map(drop)
    }
}

fn pod(node: &str) -> String {
    format!("nmstate-handler-{node}")
}

fn node_object(name: &str, labels: &[(&str, &str)]) -> Value {
    // A host name is no longer than a label's value.
    let hostname = name.get(..63).unwrap_or(name);
    let mut all = json!({ "kubernetes.io/hostname": hostname, "kubernetes.io/os": "linux" });
    labels.iter().for_each(|(key, value)| all[key] = (*value).into());
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": all } })
}

fn pod_object(node: &str) -> Value {
    let labels = json!({ "app": "kubernetes-nmstate", "component": "kubernetes-nmstate-handler" });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": pod(node), "namespace": NAMESPACE, "labels": labels },
        "spec": {
            "nodeName": node,
            "hostNetwork": true,
            "serviceAccountName": ACCOUNT,
            "automountServiceAccountToken": false,
            "containers": [{ "name": "agent", "image": "linesman", "command": ["linesman", "agent"] }],
            "tolerations": [{ "operator": "Exists" }],
        },
    })
}

fn ready_condition(ready: bool, reason: &str) -> Value {
    let status = if ready { "True" } else { "False" };
    json!({ "type": "Ready", "status": status, "reason": reason, "lastTransitionTime": now() })
}

fn with_status(mut object: Value, status: Value) -> Value {
    object["status"] = status;
    object
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn node_status(ready: bool, address: Option<&str>) -> Value {
    let condition = ready_condition(ready, if ready { "KubeletReady" } else { "KubeletNotReady" });
    let mut status = json!({ "conditions": [condition] });
    if let Some(address) = address {
        status["addresses"] = json!([{ "type": "InternalIP", "address": address }]);
    }
    status
}

fn pod_status(ready: bool) -> Value {
    json!({ "phase": "Running", "conditions": [ready_condition(ready, "")] })
}
