//! A host with an agent and a directory of policies.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use linesman_lab::{Node, Running, Signal};
use serde_json::Value;

use crate::{Host, wait};

pub const POLICIES: &str = "/etc/linesman/policies";

/// All that `deploy/host` brings; nothing is enabled.
pub fn install_units(node: &Node) {
    install(node, &deploy(), Path::new("/"));
    node.sh("systemd-tmpfiles --create linesman.conf && systemctl daemon-reload").expect("units are read");
}

/// A host with `linesman agent --standalone` on it.
#[derive(Debug)]
pub struct AgentHost {
    agent: RefCell<Option<Running>>,
    flags: &'static [&'static str],
    pub host: Host,
}

impl AgentHost {
    pub fn new(name: &str) -> Self {
        Self::of(Host::new(name))
    }

    pub fn of(host: Host) -> Self {
        Self::with(host, &[])
    }

    /// An agent with flags of its own.
    pub fn with(host: Host, flags: &'static [&'static str]) -> Self {
        host.node.run(["mkdir", "-p", POLICIES]).expect("a directory can be made");
        let agent_host = Self { agent: RefCell::new(None), flags, host };
        agent_host.start();
        agent_host
    }

    /// The agent is a unit of systemd, with everything else that `deploy/host` brings.
    pub fn unit(name: &str) -> Self {
        let host = Host::built(name, |node| node.systemd(true));
        let agent_host = Self { agent: RefCell::new(None), flags: &[], host };
        install_units(&agent_host.host.node);
        let enable =
            ["systemctl", "enable", "--now", "linesman-recover-boot", "linesman-recover", "linesman-agent"];
        agent_host.host.node.run(enable).expect("units are enabled and started");
        agent_host.wait_up();
        agent_host
    }

    /// Starts the agent and waits until it answers.
    pub fn start(&self) {
        self.start_with("linesman");
    }

    pub fn start_with(&self, binary: &str) {
        self.spawn(binary);
        self.wait_up();
    }

    /// By a command that becomes the agent.
    pub fn start_as(&self, words: &[&str]) {
        self.run(words);
        self.wait_up();
    }

    /// Starts an agent that refuses to work, and waits until it says so.
    pub fn start_refusing(&self) {
        self.spawn("linesman");
        self.host.eventually("the agent answers", || {
            self.try_status().is_some_and(|status| status["condition"] == "degraded")
        });
    }

    fn spawn(&self, binary: &str) {
        let words = [&[binary, "agent", "--standalone", "--listen", "127.0.0.1:9473"], self.flags].concat();
        self.run(&words);
    }

    fn run(&self, words: &[&str]) {
        let running = self.host.node.spawn(words.iter().copied()).expect("the agent starts");
        *self.agent.borrow_mut() = Some(running);
    }

    /// Until it answers and has observed the host.
    pub fn wait_up(&self) {
        self.host.eventually("the agent has observed the host", || {
            self.try_status().is_some_and(|status| status["observed"] != "")
        });
    }

    /// As `systemctl stop` does it.
    pub fn stop(&self) -> String {
        self.signal(Signal::SIGTERM);
        let agent = self.agent.borrow_mut().take().expect("the agent runs");
        let output = agent.wait().expect("the agent ends");
        assert!(output.success(), "{}\n{}", output.stdout, output.stderr);
        output.stderr
    }

    /// kill -9.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
        self.agent.borrow_mut().take().expect("the agent runs").wait().expect("it is reaped");
    }

    pub fn signal(&self, signal: Signal) {
        let agent = self.agent.borrow();
        agent.as_ref().expect("the agent runs").signal(signal).expect("the agent takes signals");
    }

    /// Replaces the file in one step, as a careful administrator does.
    pub fn write(&self, name: &str, text: &str) {
        let (hidden, file) = (format!("{POLICIES}/.{name}.new"), format!("{POLICIES}/{name}.yaml"));
        self.host.node.write_file(&hidden, text, 0o600).expect("a policy can be written");
        self.host.node.run(["mv", &hidden, &file]).expect("a policy can be put in place");
    }

    pub fn remove(&self, name: &str) {
        self.host.node.run(["rm", &format!("{POLICIES}/{name}.yaml")]).expect("a policy can be removed");
    }

    pub fn status(&self) -> Value {
        self.try_status().expect("the agent answers")
    }

    fn try_status(&self) -> Option<Value> {
        let status: Value =
            serde_json::from_str(&self.host.linesman(&["status", "-o", "json"]).stdout).ok()?;
        status["error"].is_null().then_some(status)
    }

    pub fn policy(&self, name: &str) -> Option<Value> {
        self.status()["policies"].as_array()?.iter().find(|p| p["name"] == name).cloned()
    }

    pub fn phase(&self, name: &str) -> String {
        self.policy(name)
            .and_then(|p| Some(p["phase"].as_str()?.to_string()))
            .unwrap_or_else(|| "unknown".into())
    }

    #[track_caller]
    pub fn wait_phase(&self, name: &str, phase: &str) {
        let status = || format!("{:#}", self.status());
        let is = || self.phase(name) == phase;
        wait::eventually_on(&self.host.node, &format!("{name} is {phase}"), is, status);
    }

    /// Sources of the changes that were made, in order.
    pub fn changes(&self) -> Vec<String> {
        self.host.history().iter().map(|r| r["source"].as_str().unwrap_or_default().to_string()).collect()
    }

    pub fn metric(&self, line: &str) -> Option<f64> {
        let text = self.get("/metrics");
        let value = text.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(' '));
        value.and_then(|v| v.trim().parse().ok())
    }

    /// What the agent serves, head and all.
    pub fn get(&self, path: &str) -> String {
        let ask = format!(
            "exec 3<>/dev/tcp/127.0.0.1/9473; printf 'GET {path} HTTP/1.1\\r\\nHost: agent\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"
        );
        self.host.node.run(["bash", "-c", &ask]).expect("the agent serves HTTP")
    }
}

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/host")
}

/// Files are mirrored by path.
fn install(node: &Node, from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("deploy/host is there") {
        let entry = entry.expect("an entry can be read").path();
        let place = to.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            install(node, &entry, &place);
        } else {
            let bytes = fs::read(&entry).expect("a unit can be read");
            node.write_file(&place, bytes, 0o644).expect("a unit can be installed");
        }
    }
}

/// A policy manifest with options, around a bridge.
pub fn policy(name: &str, options: &str, bridge: &str, mtu: u32, port: &str) -> String {
    let port = if port.is_empty() { String::new() } else { format!("{{name: {port}}}") };
    format!(
        "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {{name: {name}}}
spec:
  {options}
  desiredState:
    interfaces:
    - name: {bridge}
      type: linux-bridge
      state: up
      mtu: {mtu}
      ipv4: {{enabled: false}}
      ipv6: {{enabled: false}}
      bridge: {{port: [{port}]}}
"
    )
}
