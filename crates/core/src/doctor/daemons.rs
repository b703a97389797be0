//! Root, D-Bus, NetworkManager, Open vSwitch.

use super::{Answer, Finding, Inspection, ok, or_ok, problem, warning};
use crate::version::{DNS_IN_CHECKPOINT, OLDEST, at_least};

pub(super) fn root(inspection: &Inspection) -> Vec<Finding> {
    if inspection.root {
        return ok("root", "running as root");
    }
    vec![problem("root", "not running as root; some checks are incomplete", "run `sudo linesman doctor`")]
}

pub(super) fn dbus(inspection: &Inspection) -> Vec<Finding> {
    match &inspection.dbus {
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

pub(super) fn networkmanager(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "networkmanager";
    let version = match &inspection.networkmanager {
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
fn uses_ovs(inspection: &Inspection) -> bool {
    inspection.profiles.iter().any(|profile| profile.kind.starts_with("ovs-"))
}

pub(super) fn open_vswitch(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "open vswitch";
    const START: &str =
        "systemctl enable --now openvswitch-switch.service (openvswitch.service on Fedora and RHEL)";
    let ovs = &inspection.open_vswitch;
    match (uses_ovs(inspection), ovs.database, ovs.switch) {
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

/// Without it ovs-vswitchd creates no bridge that does not say `datapath: netdev`, and NetworkManager waits for ever.
pub(super) fn ovs_datapath(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "ovs datapath";
    let ovs = &inspection.open_vswitch;
    match (ovs.kernel_datapath, ovs.kernel_bridges.as_slice()) {
        (None, _) => Vec::new(),
        (Some(true), _) => ok(CHECK, "in the kernel and in userspace"),
        (Some(false), []) => {
            ok(CHECK, "only in userspace: OVS bridges without 'datapath: netdev' would be rejected")
        }
        (Some(false), bridges) => vec![problem(
            CHECK,
            format!(
                "the kernel has no Open vSwitch datapath; these bridges need it and do not work: {}",
                bridges.join(", ")
            ),
            "modprobe openvswitch (package kernel-modules-core or linux-modules), or 'datapath: netdev' in the \
            document",
        )],
    }
}

pub(super) fn supplicant(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "wpa_supplicant";
    let needing = inspection.profiles.iter().filter(|profile| profile.needs_supplicant);
    let names: Vec<String> = needing.map(|profile| format!("'{}'", profile.id)).collect();
    match (inspection.supplicant, names.as_slice()) {
        (None, _) => Vec::new(),
        (Some(true), _) => ok(CHECK, "available"),
        (Some(false), []) => ok(CHECK, "not installed; needed only for 802.1X and MACsec"),
        (Some(false), names) => vec![problem(
            CHECK,
            format!(
                "neither running nor installed, but profile {} needs it for 802.1X or MACsec",
                names.join(", ")
            ),
            "install wpa_supplicant (Debian, Ubuntu: wpasupplicant)",
        )],
    }
}

pub(super) fn ovs_plugin(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "ovs plugin";
    const REMEDY: &str =
        "install network-manager-ovs (Fedora, RHEL: NetworkManager-ovs) and restart NetworkManager";
    let asked = matches!(inspection.networkmanager, Answer::Yes(_));
    let mut found = Vec::new();
    if asked && !inspection.ovs_plugin && uses_ovs(inspection) {
        found.push(problem(
            CHECK,
            "Open vSwitch profiles exist, but NetworkManager has no OVS plugin",
            REMEDY,
        ));
    } else if asked && !inspection.ovs_plugin && inspection.open_vswitch.database {
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
    or_ok(found, CHECK, if inspection.ovs_plugin { "installed" } else { "not needed" })
}
