//! The machine of these stories, and what is asserted of every change on it.

use std::net::Ipv4Addr;
use std::time::Duration;

use linesman_lab::{Output, Running, Switch};
use linesman_tests::Host;
use serde_json::Value;

use super::picture;

pub const NICS: [u8; 4] = [0, 1, 2, 3];
/// The network of the node's own address is behind this tag, too.
pub const NODE_TAG: u16 = 100;
/// Network 1 of the hub.
pub const STORAGE_TAG: u16 = 200;
/// Emulated, a change takes many times as long.
const PATIENT: &[&str] = &["--settle", "60s", "--timeout", "600s", "--dead-man", "60s"];
const LIMIT: Duration = Duration::from_secs(1200);
/// A machine that has just booted is busy.
pub const REACHABLE: Duration = Duration::from_secs(20);

pub struct Site {
    pub host: Host,
    at_first: Value,
}

impl Site {
    pub fn start() -> Self {
        let host = Host::built("stacks", |node| node.nics(4).vm(true));
        let switch = host.lab.hub().switch();
        switch.start().expect("the switch starts");
        switch.uplink(0).expect("the node's network is there");
        switch.uplink_tagged(0, NODE_TAG).expect("tagged, too");
        switch.uplink_tagged(1, STORAGE_TAG).expect("another network is there");
        switch.plug(&host.node, &NICS).expect("the NICs are plugged in");
        host.node.wait_reachable().expect("through the switch");
        let at_first = picture::lasting(&picture::of(&host.node));
        Self { host, at_first }
    }

    pub fn switch(&self) -> Switch<'_> {
        self.host.lab.hub().switch()
    }

    pub fn picture(&self) -> Value {
        picture::of(&self.host.node)
    }

    /// Starts it and leaves it running.
    pub fn start_apply(&self, document: &str, flags: &[&str]) -> Running {
        self.host.start_apply(document, &[PATIENT, flags].concat(), "")
    }

    /// The same, until it reaches that place of the code.
    pub fn start_apply_until(&self, failpoint: &str, document: &str, flags: &[&str]) -> Running {
        let apply = self.host.start_apply(document, &[PATIENT, flags].concat(), failpoint);
        self.host.wait_failpoint(failpoint);
        apply
    }

    pub fn wait(&self, apply: Running) -> Output {
        apply.wait_at_most(LIMIT).expect("linesman ends")
    }

    fn apply(&self, document: &str, flags: &[&str]) -> Output {
        self.wait(self.start_apply(document, flags))
    }

    /// Then it is reachable from outside, and the same document once more changes nothing.
    #[track_caller]
    pub fn commits(&self, document: &str, flags: &[&str]) -> Output {
        let output = self.apply(document, flags);
        self.is_committed(document, &output);
        output
    }

    #[track_caller]
    pub fn is_committed(&self, document: &str, output: &Output) {
        self.is_committed_at(self.host.node.mgmt_ipv4(), document, output);
    }

    /// The node has another address now.
    #[track_caller]
    pub fn is_committed_at(&self, address: Ipv4Addr, document: &str, output: &Output) {
        assert!(output.success(), "{}{}", output.stdout, output.stderr);
        self.host.lab.hub().wait_reachable(address, REACHABLE).expect("the hub reaches the node");
        assert_eq!(self.host.open_checkpoints(), 0, "a checkpoint was left open");
        let again = self.apply(document, &[]);
        let is_unchanged = again.success() && again.stdout.contains("no changes made");
        assert!(is_unchanged, "the second time\n{}{}", again.stdout, again.stderr);
    }

    /// For that reason, and all of it.
    #[track_caller]
    pub fn rolls_back(&self, document: &str, flags: &[&str], reason: &str) {
        self.is_rolled_back(reason, || self.apply(document, flags));
    }

    #[track_caller]
    pub fn is_rolled_back(&self, reason: &str, change: impl FnOnce() -> Output) {
        let (before, profiles) = (self.picture(), picture::active_profiles(&self.host.node));
        let output = change();
        assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
        let recorded = self.host.history().last().expect("it is recorded")["outcome"]["reason"].to_string();
        assert!(recorded.contains(reason), "for another reason: {recorded}");
        self.assert_same(&before, &output.stdout);
        assert_eq!(picture::active_profiles(&self.host.node), profiles, "{}", output.stdout);
        self.host.assert_settled();
    }

    #[track_caller]
    fn assert_same(&self, before: &Value, context: &str) {
        let now = self.picture();
        assert!(now == *before, "{context}\nnow {now:#}\nbefore {before:#}");
    }

    /// So that the next story may have the machine: nothing is left, and the node has its addresses where they were.
    #[track_caller]
    pub fn assert_as_at_first(&self) {
        let now = picture::lasting(&self.picture());
        assert!(now == self.at_first, "after all of it\nnow {now:#}\nat first {:#}", self.at_first);
    }
}
