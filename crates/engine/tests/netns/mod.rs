//! Runs a test again inside a network namespace of its own, so that nothing it does can reach the machine's network.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

pub mod servers;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    thread::JoinHandle,
    time::Duration,
};

use nix::sched::{CloneFlags, setns};

/// Holds the namespace that the test was started in, and so the one it must not be in any more.
const OUTSIDE: &str = "LINESMAN_TEST_OUTER_NAMESPACE";
const LIMIT: Duration = Duration::from_secs(60);
const NAMESPACES: &str = "/run/netns";

/// Runs `body` in private network and mount namespaces: the test named `test` starts itself again under unshare(1).
pub fn privately(test: &str, body: impl AsyncFnOnce()) {
    if std::env::var_os(OUTSIDE).is_none() {
        return start_again(test);
    }
    assert_private();
    run("mount", "-t tmpfs tmpfs /run");
    run("ip", "link set lo up");
    without_duplicate_detection();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(async { tokio::time::timeout(LIMIT, body()).await });
    ended.expect("the test ends in time");
}

fn start_again(test: &str) {
    let this = std::env::current_exe().unwrap();
    let status = Command::new("unshare")
        .args(["--net", "--mount"])
        .arg(this)
        .args(["--exact", test, "--nocapture"])
        .env(OUTSIDE, own_namespace())
        // What the test's own HTTPS server shows is trusted; nothing else is.
        .env("SSL_CERT_FILE", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/server.pem"))
        .status()
        .expect("unshare(1) is there");
    assert!(status.success(), "{test} failed inside its namespace (root is needed): {status}");
}

/// Every change to a network goes through here first.
pub fn assert_private() {
    let outer = std::env::var_os(OUTSIDE).expect("only a test that was started again changes anything");
    assert_ne!(own_namespace().as_os_str(), outer, "this is not a namespace of our own");
    // Some containers hide what PID 1 is in.
    if let Ok(machines) = fs::read_link("/proc/1/ns/net") {
        assert_ne!(own_namespace(), machines, "this is the machine's own network");
    }
}

fn own_namespace() -> PathBuf {
    fs::read_link("/proc/thread-self/ns/net").unwrap()
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

/// IPv6 addresses can be used at once, on links that are made from now on.
fn without_duplicate_detection() {
    fs::write("/proc/sys/net/ipv6/conf/default/accept_dad", "0").unwrap();
}

/// Puts a file of the test's own in the place of one of the machine's, for this test only.
pub fn replace_file(path: &str, content: &str) {
    let own = format!("/run/{}", path.replace('/', "-"));
    fs::write(&own, content).unwrap();
    run("mount", &format!("--bind {own} {path}"));
}

/// A second namespace, joined by a cable: `near` here, `far` there.
#[derive(Debug)]
pub struct Peer;

impl Peer {
    pub fn new() -> Self {
        ip("netns add peer");
        ip("-n peer link set lo up");
        Peer.thread(without_duplicate_detection).join().unwrap();
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

    /// Both ends get a link-local address that tests can name.
    pub fn with_ipv6() -> Self {
        let peer = Self::new();
        ip("addr add fe80::1/64 dev near");
        peer.ip("addr add fe80::2/64 dev far");
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
