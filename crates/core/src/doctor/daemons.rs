//! Root, D-Bus, NetworkManager, Open vSwitch.

use super::{Answer, Finding, Signs, ok, or_ok, problem, warning};
use crate::version::{DNS_IN_CHECKPOINT, OLDEST, at_least};

pub(super) fn root(signs: &Signs) -> Vec<Finding> {
    if signs.root {
        return ok("root", "running as root");
    }
    vec![problem("root", "not running as root; some checks are incomplete", "run `sudo linesman doctor`")]
}

pub(super) fn dbus(signs: &Signs) -> Vec<Finding> {
    match &signs.dbus {
        Answer::Yes(_) => ok("d-bus", "the system bus answers"),
        Answer::No(why) => {
            vec![problem(
                "d-bus",
                format!("the system bus does not answer: {why}"),
                "systemctl start dbus.socket",
            )]
        }
        Answer::NotAsked => Vec::new(),
    }
}

pub(super) fn networkmanager(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "networkmanager";
    let version = match &signs.networkmanager {
        Answer::Yes(version) => version,
        Answer::No(why) => {
            let message = format!("NetworkManager does not answer: {why}");
            return vec![problem(CHECK, message, "systemctl enable --now NetworkManager.service")];
        }
        Answer::NotAsked => return Vec::new(),
    };
    let (major, minor) = OLDEST;
    if !at_least(version, OLDEST) {
        let message = format!("version {version} is too old");
        return vec![problem(CHECK, message, format!("update NetworkManager to {major}.{minor} or newer"))];
    }
    if !at_least(version, DNS_IN_CHECKPOINT) {
        let message = format!(
            "version {version} is supported, but its checkpoints do not cover DNS: if linesman dies during a \
                change, DNS servers stay changed until it recovers"
        );
        return vec![warning(CHECK, message, "update NetworkManager to 1.48 or newer")];
    }
    ok(CHECK, format!("version {version}"))
}

/// Whether any profile needs Open vSwitch.
fn uses_ovs(signs: &Signs) -> bool {
    signs.profiles.iter().any(|profile| profile.kind.starts_with("ovs-"))
}

pub(super) fn open_vswitch(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "open vswitch";
    const START: &str =
        "systemctl enable --now openvswitch-switch.service (openvswitch.service on Fedora and RHEL)";
    let ovs = &signs.open_vswitch;
    match (uses_ovs(signs), ovs.database, ovs.switch) {
        (_, true, true) => ok(CHECK, "ovsdb-server and ovs-vswitchd are running"),
        (_, true, false) => {
            vec![problem(
                CHECK,
                "ovs-vswitchd is not running: bridges would exist only in the database",
                START,
            )]
        }
        (true, false, _) => {
            vec![problem(CHECK, "Open vSwitch profiles exist, but ovsdb-server does not answer", START)]
        }
        (false, false, _) if ovs.installed => {
            vec![warning(
                CHECK,
                "installed, but ovsdb-server does not answer; documents with OVS bridges would be rejected",
                START,
            )]
        }
        (false, false, _) => ok(CHECK, "not used"),
    }
}

pub(super) fn ovs_plugin(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "ovs plugin";
    const REMEDY: &str =
        "install network-manager-ovs (Fedora, RHEL: NetworkManager-ovs) and restart NetworkManager";
    let asked = matches!(signs.networkmanager, Answer::Yes(_));
    let mut found = Vec::new();
    if asked && !signs.ovs_plugin && uses_ovs(signs) {
        found.push(problem(
            CHECK,
            "Open vSwitch profiles exist, but NetworkManager has no OVS plugin",
            REMEDY,
        ));
    } else if asked && !signs.ovs_plugin && signs.open_vswitch.database {
        found.push(warning(
            CHECK,
            "Open vSwitch is running, but NetworkManager has no OVS plugin; documents with OVS bridges would be \
            rejected",
            REMEDY,
        ));
    }
    if !asked {
        return Vec::new();
    }
    or_ok(found, CHECK, if signs.ovs_plugin { "installed" } else { "not needed" })
}
