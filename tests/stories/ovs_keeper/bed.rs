//! A node with Debian's own units of Open vSwitch, and a keeper on it.

use std::cell::{Cell, RefCell};

use linesman_lab::{Running, Signal};
use linesman_tests::Host;

const PORT: u16 = 9475;
pub const OUTPUT: &str = "/root/keeper.out";
const LOG: &str = "/root/keeper.log";
pub const SWITCH: &str = "ovs-vswitchd.service";
pub const DATABASE: &str = "ovsdb-server.service";
pub const UMBRELLA: &str = "openvswitch-switch.service";

/// A keeper, and what it writes: both files go on over restarts, as the log of a container does.
pub struct KeeperHost {
    pub host: Host,
    keeper: RefCell<Option<Running>>,
    /// What has been read of the log.
    read: Cell<usize>,
}

impl KeeperHost {
    /// Without a keeper so far; the units run, as Debian enables them.
    pub fn new(name: &str) -> Self {
        let host = Host::built(name, |node| node.stock_ovs());
        Self { host, keeper: RefCell::new(None), read: Cell::new(0) }
    }

    pub fn run(&self, words: &[&str]) -> String {
        self.host.node.run(words).unwrap()
    }

    pub fn sh(&self, script: &str) -> String {
        self.host.node.sh(script).unwrap()
    }

    /// Enabled and running no more.
    pub fn stop_everything(&self) {
        let all = format!(
            "systemctl disable --now {UMBRELLA} && systemctl stop {SWITCH} {DATABASE} ovsdb-server.socket"
        );
        self.sh(&all);
        assert_eq!(self.property(SWITCH, "ActiveState"), "inactive");
        assert_eq!(self.enabled(), "disabled");
    }

    pub fn enabled(&self) -> String {
        self.host.node.exec(["systemctl", "is-enabled", UMBRELLA]).unwrap().stdout.trim().to_owned()
    }

    pub fn start(&self, flags: &str) {
        let script = format!("exec linesman ovs-keeper {flags} >>{OUTPUT} 2>>{LOG}");
        let running = self.host.node.spawn(["sh", "-c", &script]).unwrap();
        *self.keeper.borrow_mut() = Some(running);
    }

    /// As a container is stopped; its exit status is 0.
    pub fn stop(&self) {
        let keeper = self.keeper.borrow_mut().take().unwrap();
        keeper.signal(Signal::SIGTERM).unwrap();
        let output = keeper.wait().unwrap();
        assert!(output.success(), "{:?}\n{}", output.status, self.log());
    }

    pub fn kill(&self) {
        let keeper = self.keeper.borrow_mut().take().unwrap();
        keeper.signal(Signal::SIGKILL).unwrap();
        keeper.wait().unwrap();
    }

    /// What it has said of itself since the log was last skipped.
    pub fn log(&self) -> String {
        self.whole_log().split_off(self.read.get())
    }

    pub fn whole_log(&self) -> String {
        String::from_utf8_lossy(&self.host.node.read_file(LOG).unwrap_or_default()).into_owned()
    }

    pub fn skip_log(&self) {
        self.read.set(self.whole_log().len());
    }

    /// The journal's entries that it has shown.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.host.node.read_file(OUTPUT).unwrap_or_default()).into_owned()
    }

    #[track_caller]
    pub fn eventually(&self, what: &str, holds: impl FnMut() -> bool) {
        let mut holds = holds;
        let said = || format!("{what}; /readyz: {}; log:\n{}", self.get("readyz").1, self.log());
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.host.eventually(what, &mut holds);
        }));
        assert!(outcome.is_ok(), "{}", said());
    }

    #[track_caller]
    pub fn wait_logged(&self, text: &str) {
        self.eventually(&format!("the keeper logs {text:?}"), || self.log().contains(text));
    }

    /// Whether the answer is 200, and its body. Without a program that not every node has.
    pub fn get(&self, path: &str) -> (bool, String) {
        let request = format!("GET /{path} HTTP/1.1\\r\\nHost: lab\\r\\nConnection: close\\r\\n\\r\\n");
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{PORT}; printf '{request}' >&3; cat <&3");
        let answer = self.host.node.exec(["bash", "-c", &script]).unwrap().stdout;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
        (answer.starts_with("HTTP/1.1 200"), body)
    }

    #[track_caller]
    pub fn wait_ready(&self) {
        self.eventually("Open vSwitch is ready", || self.get("readyz").0);
    }

    /// Until it is not ready, for this reason.
    #[track_caller]
    pub fn wait_not_ready(&self, reason: &str) {
        self.eventually(&format!("it is not ready: {reason}"), || {
            let (ready, body) = self.get("readyz");
            !ready && body.contains(reason)
        });
    }

    pub fn property(&self, unit: &str, name: &str) -> String {
        self.run(&["systemctl", "show", "--value", "--property", name, unit]).trim().to_owned()
    }

    /// Differs after every start of the two daemons.
    pub fn invocations(&self) -> [String; 2] {
        [DATABASE, SWITCH].map(|unit| self.property(unit, "InvocationID"))
    }

    /// A signal to the main process of a unit.
    pub fn signal(&self, unit: &str, signal: &str) {
        self.run(&["systemctl", "kill", "--kill-whom=main", &format!("--signal={signal}"), unit]);
    }
}
