//! What stories run on: a real node with linesman on it, observed from outside.

#![allow(clippy::unwrap_used, clippy::panic)]

pub mod agent_host;
pub mod api;
pub mod campaign;
pub mod fleet;
pub mod observe;
pub mod simulated_fleet;
pub mod wait;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use linesman_lab::{Lab, Node, NodeBuilder, Output, Root, Running};
use serde_json::Value;

/// The binary under test, built from this tree.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        // `make test` has built it with everything else; alone it would be built with other features.
        if let Some(built) = std::env::var_os("LINESMAN_BINARY") {
            return built.into();
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--package", "linesman", "--manifest-path"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
            .status()
            .expect("cargo runs these tests, so it can be run");
        assert!(built.success(), "linesman does not build");
        let test = std::env::current_exe().expect("a running test has a path");
        let profile = test.ancestors().nth(2).expect("tests live in target/PROFILE/deps");
        profile.join("linesman")
    })
}

/// One node with linesman, configured on its first NIC, reachable from the hub.
#[derive(Debug)]
pub struct Host {
    pub node: Node,
    pub lab: Lab,
}

impl Host {
    pub fn new(name: &str) -> Self {
        Self::built(name, |node| node)
    }

    /// Debian 12: NetworkManager 1.42, no Open vSwitch.
    pub fn bookworm(name: &str) -> Self {
        Self::built(name, |node| node.root(Root::Bookworm))
    }

    pub fn built(name: &str, configure: impl FnOnce(NodeBuilder) -> NodeBuilder) -> Self {
        let lab = Lab::start(name).expect("the lab starts");
        let node = configure(lab.node("n1").nics(3).binary(binary())).start().expect("the node starts");
        node.configure_static().expect("the node is reachable");
        Self { node, lab }
    }

    pub fn linesman(&self, arguments: &[&str]) -> Output {
        let words = std::iter::once("linesman").chain(arguments.iter().copied());
        self.node.exec(words).expect("linesman can be run")
    }

    /// Applies a document; the story goes on only if it was committed.
    pub fn apply(&self, document: &str) -> Output {
        let output = self.try_apply(document, &[]);
        assert!(output.success(), "apply failed:\n{}\n{}", output.stdout, output.stderr);
        output
    }

    pub fn try_apply(&self, document: &str, flags: &[&str]) -> Output {
        let file = self.document(document);
        let words: Vec<&str> = ["apply", &file].into_iter().chain(flags.iter().copied()).collect();
        self.linesman(&words)
    }

    /// Starts an apply and leaves it running; `failpoints` are comma-separated.
    pub fn start_apply(&self, document: &str, flags: &[&str], failpoints: &str) -> Running {
        let file = self.document(document);
        let words = ["linesman", "apply", &file].into_iter().chain(flags.iter().copied());
        let command = self.node.command(words).expect("linesman can be run");
        command.env("LINESMAN_FAILPOINT", failpoints).spawn().expect("linesman starts")
    }

    /// Until the transaction stops at a failpoint.
    pub fn wait_failpoint(&self, name: &str) {
        let marker = format!("/run/linesman/failpoint/{name}");
        self.eventually(&format!("failpoint {name}"), || self.node.exists(&marker).unwrap_or(false));
    }

    pub fn pass_failpoint(&self, name: &str) {
        self.node
            .run(["rm", "-f", &format!("/run/linesman/failpoint/{name}")])
            .expect("a marker can be removed");
    }

    pub fn document(&self, text: &str) -> String {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = format!("/root/state-{number}.yaml");
        self.node.write_file(&path, text, 0o600).expect("a document can be written");
        path
    }

    /// The state as linesman sees it.
    pub fn state(&self) -> Value {
        let output = self.linesman(&["show", "-o", "json"]);
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("show: {e}\n{}", output.stderr))
    }

    pub fn interface(&self, name: &str) -> Option<Value> {
        self.state()["interfaces"].as_array()?.iter().find(|i| i["name"] == name).cloned()
    }

    /// The journal's records, oldest first.
    pub fn history(&self) -> Vec<Value> {
        let output = self.linesman(&["history", "-o", "json"]);
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("history: {e}\n{}", output.stderr))
    }

    pub fn last_verdict(&self) -> String {
        let history = self.history();
        let last = history.last().expect("something was applied");
        last["outcome"]["verdict"].as_str().unwrap_or("unfinished").to_string()
    }

    /// A checkpoint of another program, of the whole host.
    pub fn foreign_checkpoint(&self) -> String {
        let made = self.call_networkmanager("CheckpointCreate", &["aouu", "0", "600", "6"]);
        made.trim().trim_start_matches("o ").trim_matches('"').to_owned()
    }

    pub fn call_networkmanager(&self, method: &str, arguments: &[&str]) -> String {
        let manager = "org.freedesktop.NetworkManager";
        let words = ["busctl", "call", manager, "/org/freedesktop/NetworkManager", manager, method];
        self.node.run([&words[..], arguments].concat()).expect("NetworkManager answers")
    }

    pub fn open_checkpoints(&self) -> usize {
        let text = self
            .node
            .run([
                "busctl",
                "get-property",
                "org.freedesktop.NetworkManager",
                "/org/freedesktop/NetworkManager",
                "org.freedesktop.NetworkManager",
                "Checkpoints",
            ])
            .expect("NetworkManager answers");
        text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("busctl prints `ao COUNT …`")
    }

    pub fn reachable(&self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if self.lab.hub().ping(self.node.mgmt_ipv4()) {
                return true;
            }
        }
        false
    }

    #[track_caller]
    pub fn eventually(&self, what: &str, holds: impl FnMut() -> bool) {
        wait::eventually_on(&self.node, what, holds, String::new);
    }

    /// Nothing open, nothing unfinished, reachable from outside.
    pub fn assert_settled(&self) {
        assert!(self.reachable(), "the node is not reachable from the hub");
        assert_eq!(self.open_checkpoints(), 0, "a checkpoint was left open");
        let open: Vec<Value> = self.history().into_iter().filter(|r| r["outcome"].is_null()).collect();
        assert!(open.is_empty(), "unfinished in the journal: {open:?}");
    }
}

pub use linesman_lab::documents::br_ex;

/// A wpa_supplicant that is on the bus on demand, and never there: NetworkManager waits for it.
pub const NO_SUPPLICANT: &str = "
printf '[D-BUS Service]\\nName=fi.w1.wpa_supplicant1\\nExec=/bin/false\\nUser=root\\n' \\
  > /usr/share/dbus-1/system-services/fi.w1.wpa_supplicant1.service
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig
";

/// A bridge with an address and a spare NIC: nothing that carries traffic is touched.
pub const BRIDGE: &str = "interfaces:
- name: br1
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.1.1, prefix-length: 24}]}
  bridge: {port: [{name: eth1}]}
";
