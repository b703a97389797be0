//! The document that a host was installed with, on a host that boots.

mod boots;
mod failures;
mod ignition;
mod interrupted;
mod leftovers;
mod policies;
mod renamed;
mod shapes;
mod units;

use linesman_lab::Node;
use linesman_tests::agent_host::install_units;
use linesman_tests::{Host, observe};
use serde_json::Value;

const DIRECTORY: &str = "/etc/nmstate/openshift";
const FLAG: &str = "/etc/nmstate/openshift/applied";
const UNIT: &str = "linesman-firstboot.service";
const UNITS: [&str; 4] =
    ["linesman-recover-boot", "linesman-recover", "linesman-firstboot", "linesman-firstboot-changed.path"];
/// The settings of the first boot.
const SETTINGS: &str = "/etc/linesman/firstboot.env";

/// A host with the units of `deploy/host`, as an image has them.
struct Installed {
    host: Host,
}

impl Installed {
    fn new(name: &str) -> Self {
        let Self { host } = Self::bare(name);
        install_units(&host.node);
        host.node.run([&["systemctl", "enable"], &UNITS[..]].concat()).expect("units can be enabled");
        host.node.run(["mkdir", "-p", DIRECTORY]).expect("a directory can be made");
        Self { host }
    }

    /// With the binary and nothing else.
    fn bare(name: &str) -> Self {
        Self { host: Host::built(name, |node| node.systemd(true)) }
    }

    fn node(&self) -> &Node {
        &self.host.node
    }

    /// As Ignition or the machine config daemon does: the file is replaced in one step.
    fn install(&self, file: &str, text: &str) {
        // systemd looks again once the unit that it started has ended.
        self.host.eventually("nobody is looking at the files", || {
            let words = ["systemctl", "is-active", "linesman-firstboot-changed.service"];
            self.node().exec(words).expect("systemd answers").stdout.trim() != "activating"
        });
        let (new, place) = (format!("{DIRECTORY}/.{file}.new"), format!("{DIRECTORY}/{file}"));
        self.node().write_file(&new, text, 0o644).expect("a document can be written");
        self.node().run(["mv", &new, &place]).expect("a document can be installed");
    }

    /// Cuts the power, boots, and waits until the unit has ended.
    fn reboot(&self) {
        self.node().power_cut().expect("the power can be cut");
        self.boot();
    }

    fn boot(&self) {
        self.node().boot().expect("the node boots");
        self.host.eventually("the first-boot unit has ended", || {
            ["active", "failed"].contains(&self.property("ActiveState").as_str())
        });
    }

    fn property(&self, name: &str) -> String {
        let words = ["systemctl", "show", "--value", "--property", name, UNIT];
        self.node().run(words).expect("systemd answers").trim().to_owned()
    }

    /// What the host remembers of its document.
    fn record(&self) -> Value {
        let bytes = self.node().read_file("/var/lib/linesman/first-boot.json").expect("there is a record");
        serde_json::from_slice::<Value>(&bytes).expect("it is JSON")["content"].take()
    }

    fn state(&self) -> String {
        self.record()["state"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn assert_state(&self, expected: &str) {
        assert_eq!(self.state(), expected, "{}\n{}", self.record(), self.journal());
    }

    fn journal(&self) -> String {
        self.node().run(["journalctl", "--unit", UNIT, "--boot", "--output", "cat"]).expect("a journal")
    }

    fn changes(&self) -> usize {
        self.host.history().len()
    }

    fn flag(&self) -> Option<String> {
        let bytes = self.node().read_file(FLAG).ok()?;
        Some(String::from_utf8(bytes).expect("documents are text"))
    }

    fn ofport(&self, interface: &str) -> String {
        observe::ovs(self.node(), "Interface", interface, "ofport")
    }

    #[track_caller]
    fn assert_br_ex_has_the_address(&self) {
        let address = format!("{}/24", self.node().mgmt_ipv4());
        self.host.eventually("br-ex has the address", || {
            observe::addresses(self.node(), "br-ex").contains(&address)
        });
        self.host.assert_settled();
    }
}

/// Profiles as they are on disk: whoever writes one anew changes its inode.
fn profiles(node: &Node) -> String {
    let script = "cd /etc/NetworkManager/system-connections && sha256sum * && stat -c '%n %Y %i' *";
    node.sh(script).expect("profiles can be listed")
}
