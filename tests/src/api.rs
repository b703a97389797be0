//! A real API server that knows Linesman's kinds, for stories that need no node behind it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use linesman_lab::cluster::NAMESPACE;
use linesman_lab::{Cluster, Lab, Output};
use serde_json::{Value, json};

pub fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

#[derive(Debug)]
pub struct Api {
    pub cluster: Cluster,
    _lab: Lab,
}

impl Api {
    /// Stories that run at the same time share one, so each uses names of its own. It ends with the last of them.
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Api>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(api) = shared.upgrade() {
            return api;
        }
        let lab = Lab::start("api").expect("the lab starts");
        let cluster = Cluster::start(&lab).expect("the cluster starts");
        cluster.install(&deploy()).expect("the API server accepts deploy/");
        let api = Arc::new(Self { cluster, _lab: lab });
        *shared = Arc::downgrade(&api);
        api
    }

    pub fn operator(&self) -> String {
        self.cluster.token(NAMESPACE, "nmstate-operator").expect("the operator gets a token")
    }

    /// A node without a host behind it, and the token of its agent.
    pub fn node(&self, name: &str) -> String {
        self.cluster.add_nodes(&[name], &[]).expect("a node joins");
        self.cluster.agent_token(name).expect("its agent gets a token")
    }

    pub fn create(&self, token: &str, object: &Value) -> Output {
        self.cluster.kubectl_as(token, &["create", "-f", "-"], &object.to_string()).expect("kubectl runs")
    }

    /// A merge patch of the status.
    pub fn report(&self, token: &str, object: &str, status: &Value) -> Output {
        self.patch(token, object, &json!({ "status": status }), &["--subresource=status"])
    }

    /// `object` is KIND/NAME.
    pub fn patch(&self, token: &str, object: &str, patch: &Value, options: &[&str]) -> Output {
        let patch = patch.to_string();
        let words = ["patch", object, "--type=merge", "--patch", &patch];
        self.cluster.kubectl_as(token, &[&words[..], options].concat(), "").expect("kubectl runs")
    }

    /// The same by the administrator.
    pub fn patch_as_admin(&self, object: &str, patch: &Value) -> Output {
        let patch = patch.to_string();
        self.cluster.kubectl(&["patch", object, "--type=merge", "--patch", &patch]).expect("kubectl runs")
    }

    pub fn object(&self, object: &str) -> Value {
        let (kind, name) = object.split_once('/').expect("KIND/NAME");
        self.cluster.get(kind, name).expect("kubectl runs").unwrap_or_else(|| panic!("there is no {object}"))
    }
}

pub fn policy(name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy",
            "metadata": { "name": name }, "spec": spec })
}

/// As the operator binds it.
pub fn enactment(node: &str, policy: &str) -> Value {
    json!({ "apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkConfigurationEnactment",
            "metadata": { "name": format!("{node}.{policy}"),
                          "labels": { "nmstate.io/node": node, "nmstate.io/policy": policy } },
            "spec": { "policy": { "name": policy, "uid": "0", "generation": 1 }, "stage": "Bound" } })
}

pub fn node_state(node: &str) -> Value {
    json!({ "apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkState", "metadata": { "name": node } })
}

/// Where exactly one of them is true, as in every report.
pub fn conditions(types: &[&str], true_one: &str, reason: &str) -> Value {
    let now = json!("2026-01-01T00:00:00Z");
    let one = |kind: &&str| {
        let status = if *kind == true_one { "True" } else { "False" };
        json!({ "type": kind, "status": status, "reason": reason, "lastTransitionTime": now, "lastHeartbeatTime": now })
    };
    types.iter().map(one).collect()
}

#[track_caller]
pub fn accepted(output: &Output) {
    assert!(output.success(), "refused: {}", output.stderr);
}

#[track_caller]
pub fn refused(output: &Output, because: &str) {
    assert!(!output.success(), "accepted, but should be refused: {because}\n{}", output.stdout);
    assert!(output.stderr.contains(because), "refused, but not because of {because:?}:\n{}", output.stderr);
}
