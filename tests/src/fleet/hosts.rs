//! What the hosts themselves show, whatever the cluster reports about them.

use linesman_lab::Output;
use serde_json::Value;

use super::Fleet;
use crate::observe;

impl Fleet {
    pub fn linesman(&self, node: &str, arguments: &[&str]) -> Output {
        let words = std::iter::once("linesman").chain(arguments.iter().copied());
        self.node(node).exec(words).expect("linesman can be run")
    }

    /// The journal's records, oldest first.
    pub fn history(&self, node: &str) -> Vec<Value> {
        let output = self.linesman(node, &["history", "-o", "json"]);
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("history: {e}\n{}", output.stderr))
    }

    /// How each change for a policy ended, oldest first.
    pub fn verdicts(&self, node: &str, policy: &str) -> Vec<String> {
        let own = |record: &&Value| record["source"] == format!("policy {policy}");
        let verdict =
            |record: &Value| record["outcome"]["verdict"].as_str().unwrap_or("unfinished").to_owned();
        self.history(node).iter().filter(own).map(verdict).collect()
    }

    /// Links, addresses, routes, DNS servers and profiles: nothing that changes by itself.
    pub fn network(&self, node: &str) -> String {
        let node = self.node(node);
        let script =
            "ip -brief link | awk '{print $1}'; ip -brief -4 address; ip -brief -6 address | grep -v ' fe80'
ip route; ip -6 route show default; nmcli -t -f NAME,UUID,DEVICE,ACTIVE connection show | sort";
        format!("{}{}", node.sh(script).expect("a node shows its network"), observe::resolv_conf(node))
    }

    /// NetworkManager's activations: each has a number of its own.
    pub fn activations(&self, node: &str) -> String {
        let manager = "org.freedesktop.NetworkManager";
        let words = [
            "busctl",
            "get-property",
            manager,
            "/org/freedesktop/NetworkManager",
            manager,
            "ActiveConnections",
        ];
        self.node(node).run(words).expect("NetworkManager answers")
    }

    /// `linesman status` on the host.
    pub fn agent_status(&self, node: &str) -> String {
        self.linesman(node, &["status"]).stdout
    }

    pub fn wait_agent_status(&self, node: &str, text: &str) {
        self.eventually(&format!("`linesman status` on {node} says {text:?}"), || {
            self.agent_status(node).contains(text)
        });
    }

    /// Until the agent there stands at a failpoint.
    pub fn wait_failpoint(&self, node: &str, name: &str) {
        let marker = format!("/run/linesman/failpoint/{name}");
        self.eventually(&format!("failpoint {name} on {node}"), || {
            self.node(node).exists(&marker).unwrap_or(false)
        });
    }

    pub fn pass_failpoint(&self, node: &str, name: &str) {
        let marker = format!("/run/linesman/failpoint/{name}");
        self.node(node).run(["rm", "-f", &marker]).expect("a marker can be removed");
    }

    /// The agent is killed and another one takes its place, with these failpoints.
    pub fn replace_agent(&self, node: &str, failpoints: &str) {
        self.kill_agent(node);
        self.start_agent_with(self.node(node), &[("LINESMAN_FAILPOINT", failpoints)]);
    }

    /// Nothing open, nothing unfinished, reachable from outside.
    pub fn assert_settled(&self, node: &str) {
        let open: Vec<Value> = self.history(node).into_iter().filter(|r| r["outcome"].is_null()).collect();
        assert!(open.is_empty(), "unfinished in the journal of {node}: {open:#?}");
        self.eventually(&format!("{node} is reachable"), || self.lab.hub().ping(self.node(node).mgmt_ipv4()));
    }
}
