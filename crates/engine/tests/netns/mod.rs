//! Runs a test again inside a network namespace of its own, so that nothing it does can reach the machine's network.

#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    fs::{self, File},
    process::Command,
    thread::JoinHandle,
};

use nix::sched::{CloneFlags, setns};

const INSIDE: &str = "LINESMAN_TEST_IN_PRIVATE_NAMESPACE";
const NAMESPACES: &str = "/run/netns";

/// Runs `body` in private network and mount namespaces: the test named `test` starts itself again under unshare(1).
pub fn privately(test: &str, body: impl AsyncFnOnce()) {
    if std::env::var_os(INSIDE).is_none() {
        return start_again(test);
    }
    assert_private();
    run("mount", "-t tmpfs tmpfs /run");
    run("ip", "link set lo up");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(body());
}

fn start_again(test: &str) {
    let this = std::env::current_exe().unwrap();
    let status = Command::new("unshare")
        .args(["--net", "--mount"])
        .arg(this)
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("unshare(1) is there");
    assert!(status.success(), "{test} failed inside its namespace (root is needed): {status}");
}

/// Every change to a network goes through here first.
pub fn assert_private() {
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let machines = fs::read_link("/proc/1/ns/net").unwrap();
    assert_ne!(own, machines, "this is the machine's own network: nothing may be changed here");
}

/// Runs a command whose arguments contain no spaces.
pub fn run(program: &str, arguments: &str) {
    assert_private();
    let status = Command::new(program).args(arguments.split_whitespace()).status().unwrap();
    assert!(status.success(), "{program} {arguments}: {status}");
}

pub fn ip(arguments: &str) {
    run("ip", arguments);
}

/// A second namespace, joined by a cable: `near` here, `far` there.
#[derive(Debug)]
pub struct Peer;

impl Peer {
    pub fn new() -> Self {
        ip("netns add peer");
        ip("-n peer link set lo up");
        ip("link add near type veth peer name far netns peer");
        ip("link set near up");
        ip("-n peer link set far up");
        Peer
    }

    pub fn with_ipv4() -> Self {
        let peer = Self::new();
        ip("addr add 10.1.0.1/24 dev near");
        peer.ip("addr add 10.1.0.2/24 dev far");
        peer
    }

    pub fn ip(&self, arguments: &str) {
        ip(&format!("-n peer {arguments}"));
    }

    /// Writes a setting below /proc/sys/net that holds in the peer's namespace.
    pub fn set(&self, setting: &'static str, value: &'static str) {
        let written = self.thread(move || fs::write(format!("/proc/sys/net/{setting}"), value));
        written.join().unwrap().unwrap();
    }

    /// Runs something on a thread that lives in the peer's namespace.
    pub fn thread<T: Send + 'static>(&self, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let namespace = File::open(format!("{NAMESPACES}/peer")).unwrap();
        std::thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            body()
        })
    }
}
