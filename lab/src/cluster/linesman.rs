//! Linesman in the cluster: its manifests, its agents on nodes, its operators beside the hub.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Cluster, KUBECONFIG, NAMESPACE};
use crate::error::{Error, Result};
use crate::exec::Running;
use crate::layer::put;
use crate::node::Node;

const PATIENCE: Duration = Duration::from_secs(60);

impl Cluster {
    /// What `deploy/` holds for a cluster, in force when this returns.
    pub fn install(&self, deploy: &Path) -> Result<()> {
        let folder = |name: &str| deploy.join(name).display().to_string();
        let apply = ["apply", "--server-side", "-f"];
        self.run(&[&apply[..], &[&format!("{}/namespace.yaml", folder("rbac"))]].concat())?;
        let (rbac, crds, admission) = (folder("rbac"), folder("crds"), folder("admission"));
        self.run(&[&apply[..], &[&rbac, "-f", &crds, "-f", &admission]].concat())?;
        self.run(&["wait", "--for=condition=Established", "--timeout=60s", "-f", &crds])?;
        self.wait_in_force()
    }

    /// The API server takes a second or so to heed an admission policy: asked until each of those that bind the
    /// administrator refuses what it must. (The third binds agents alone, and was there before these two.)
    fn wait_in_force(&self) -> Result<()> {
        let policy = "nodenetworkconfigurationpolicies.nmstate.io";
        let name = "lab-asks-whether-policies-are-in-force";
        let object = |kind: &str, version: &str| json!({ "apiVersion": format!("nmstate.io/{version}"), "kind": kind, "metadata": { "name": name } });
        self.apply(&object("NodeNetworkConfigurationPolicy", "v1").to_string())?;
        let mut enactment = object("NodeNetworkConfigurationEnactment", "v1beta1");
        enactment["spec"] =
            json!({ "policy": { "name": name, "uid": "none", "generation": 1 }, "stage": "Bound" });
        let enactment = enactment.to_string();
        let create = ["create", "--dry-run=server", "-f", "-"];
        let patch = r#"{"status":{"observedGeneration":1}}"#;
        let report =
            ["patch", policy, name, "--subresource=status", "--dry-run=server", "--type=merge", "-p", patch];
        self.wait_refused(&create, &enactment)?;
        self.wait_refused(&report, "")?;
        let deep = (0..30).fold(json!({}), |inner, _| json!({ "a": inner }));
        let mut document = object("NodeNetworkConfigurationPolicy", "v1");
        document["spec"] = json!({ "desiredState": deep });
        document["metadata"]["name"] = format!("{name}-of-documents").into();
        self.wait_refused(&create, &document.to_string())?;
        self.run(&["delete", policy, name]).map(drop)
    }

    fn wait_refused(&self, words: &[&str], input: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = self.kubectl_with(&self.admin(), words, input)?;
            if said.stderr.contains("ValidatingAdmissionPolicy") {
                return Ok(());
            }
            if Instant::now() >= deadline {
                let what =
                    format!("an admission policy to refuse `kubectl {}`\n{}", words.join(" "), said.stderr);
                return Err(Error::Waited { what, after: PATIENCE });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// `linesman agent` on a node that has joined and has the program. Killed when the handle is dropped.
    pub fn start_agent(&self, node: &Node) -> Result<Running> {
        self.start_agent_with(node, &[], &[])
    }

    /// The same with more options, and variables for its environment.
    pub fn start_agent_with(
        &self,
        node: &Node,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Running> {
        let command = node.command(agent(node).iter().chain(options))?.env("POD_NAMESPACE", NAMESPACE);
        variables.iter().fold(command, |command, (name, value)| command.env(name, value)).spawn()
    }

    /// `linesman operator`, the machine's `binary`, in the hub's network with its own service account.
    /// It serves no metrics unless given an address: several operators share that network.
    pub fn start_operator(&self, binary: &Path, identity: &str, options: &[&str]) -> Result<Running> {
        self.start_operator_with(binary, identity, options, &[])
    }

    /// The same with variables for its environment.
    pub fn start_operator_with(
        &self,
        binary: &Path,
        identity: &str,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Running> {
        let words = self.operator(binary, identity, options)?;
        let command = self.shared.hub.command_of_the_machine(words);
        variables.iter().fold(command, |command, (name, value)| command.env(name, value)).spawn()
    }

    fn operator(&self, binary: &Path, identity: &str, options: &[&str]) -> Result<Vec<String>> {
        let name = format!("operator-{identity}.kubeconfig");
        put(&self.folder, &name, &self.kubeconfig(&self.token(NAMESPACE, "nmstate-operator")?), 0o600)?;
        let kubeconfig = self.folder.join(name).display().to_string();
        let binary = binary.display().to_string();
        let words = [&binary, "operator", "--identity", identity, "--kubeconfig", &kubeconfig, "--namespace"];
        let quiet = if options.contains(&"--listen") { &[][..] } else { &["--listen", "none"] };
        Ok([&words[..], &[NAMESPACE], quiet, options].concat().into_iter().map(str::to_owned).collect())
    }

    /// The agent of a node as a kubelet would run it: started again whenever it ends. Its log is /var/log/linesman.log there.
    pub fn keep_agent(&self, node: &Node) -> Result<Running> {
        let again = ["sh", "-c", AGAIN, "/var/log/linesman.log"];
        node.command(again.into_iter().chain(agent(node)))?.env("POD_NAMESPACE", NAMESPACE).spawn()
    }

    /// An operator in the same way.
    pub fn keep_operator(&self, binary: &Path, log: &Path) -> Result<Running> {
        let (operator, log) = (self.operator(binary, "operator", &[])?, log.display().to_string());
        let again = ["sh", "-c", AGAIN, &log];
        let words = again.into_iter().chain(operator.iter().map(String::as_str));
        self.shared.hub.command_of_the_machine(words).spawn()
    }
}

const AGAIN: &str = "while :; do \"$@\"; sleep 1; done >>\"$0\" 2>&1";

fn agent(node: &Node) -> [&str; 6] {
    ["linesman", "agent", "--node-name", node.name(), "--kubeconfig", KUBECONFIG]
}
