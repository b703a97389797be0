//! NICs and profiles: what NetworkManager leaves alone, what a reboot would lose, what stands in each other's way.

use std::collections::BTreeMap;

use super::{Answer, Finding, Inspection, Nic, or_ok, problem, warning};
use crate::facts::{IfcfgProfile, ProfileFact};
use crate::plan::codes::IFCFG_PROFILE;

pub(super) fn unmanaged(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "unmanaged nics";
    if !matches!(inspection.networkmanager, Answer::Yes(_)) {
        return Vec::new();
    }
    let of = |nic: &Nic| {
        let (why, remedy) = reason(nic);
        warning(CHECK, format!("{} is not managed by NetworkManager{why}", nic.name), remedy)
    };
    let found = inspection.nics.iter().filter(|nic| !nic.managed).map(of).collect();
    or_ok(found, CHECK, "none")
}

/// Newer versions of NetworkManager report why a device is unmanaged.
fn reason(nic: &Nic) -> (&'static str, String) {
    let manage = format!("nmcli device set {} managed yes", nic.name);
    match nic.reason {
        73 => (" while the host is suspended", "resume the host".to_owned()),
        74 => (
            " because of its configuration (unmanaged-devices, or managed=0)",
            "check unmanaged-devices and managed in /etc/NetworkManager/conf.d and \
                /usr/lib/NetworkManager/conf.d"
                .to_owned(),
        ),
        75 => (" because of `nmcli device set`", manage),
        76 => (
            " because of a settings plugin (ifcfg-rh, ifupdown)",
            "check /etc/network/interfaces, and managed= in the section [ifupdown] of NetworkManager.conf"
                .to_owned(),
        ),
        77 => (
            " because of a udev rule (NM_UNMANAGED)",
            "check NM_UNMANAGED in /etc/udev/rules.d and \
            /usr/lib/udev/rules.d"
                .to_owned(),
        ),
        78 => (" because networking is disabled", "nmcli networking on".to_owned()),
        _ => ("", manage),
    }
}

pub(super) fn in_memory(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "profiles in memory";
    let fleeting =
        inspection.profiles.iter().filter(|profile| !profile.on_disk && profile.kind != "loopback");
    let found = fleeting.filter_map(|profile| {
        let interface = profile.active_on.as_ref()?;
        let message = format!(
            "profile '{}' of {interface} is only in memory and would be lost on \
            reboot",
            profile.id
        );
        Some(warning(
            CHECK,
            message,
            format!(
                "nmcli connection modify uuid {} connection.autoconnect yes \
            (this saves it), or apply a document with {interface}",
                profile.uuid
            ),
        ))
    });
    or_ok(found.collect(), CHECK, "none in use")
}

pub(super) fn in_conflict(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "duplicate profiles";
    let mut by_device: BTreeMap<(&str, &str), Vec<&ProfileFact>> = BTreeMap::new();
    for profile in inspection.profiles.iter().filter(|profile| profile.autoconnect) {
        if let Some(interface) = profile.interface.as_deref() {
            by_device.entry((interface, class(profile))).or_default().push(profile);
        }
    }
    let found = by_device.into_iter().filter(|(_, profiles)| equal_at_the_top(profiles)).map(
        |((interface, _), profiles)| {
            let names: Vec<String> = profiles.iter().map(|profile| format!("'{}'", profile.id)).collect();
            let idle = profiles.iter().find(|profile| profile.active_on.is_none()).or(profiles.last());
            let remedy = idle.map_or(String::new(), |profile| {
                format!(
                    "nmcli connection modify uuid {} connection.autoconnect no, or delete it",
                    profile.uuid
                )
            });
            warning(
                CHECK,
                format!(
                    "{} are both activated automatically on {interface}: it is undefined which one wins at boot",
                    names.join(" and ")
                ),
                remedy,
            )
        },
    );
    or_ok(found.collect(), CHECK, "none")
}

/// No finding on the many hosts that never had one.
pub(super) fn ifcfg(inspection: &Inspection) -> Vec<Finding> {
    const CHECK: &str = "ifcfg profiles";
    let of = |profile: &IfcfgProfile| {
        problem(
            CHECK,
            format!(
                "{} has its profile in the deprecated ifcfg format ({}): changes of it are refused [{IFCFG_PROFILE}]",
                profile.interface, profile.file
            ),
            "nmcli connection migrate (this does not interrupt the network)",
        )
    };
    inspection.ifcfg.iter().map(of).collect()
}

/// A bridge of Open vSwitch, its port and its interface share a name.
fn class(profile: &ProfileFact) -> &str {
    match profile.kind.as_str() {
        kind @ ("ovs-bridge" | "ovs-port") => kind,
        _ => "link",
    }
}

fn equal_at_the_top(profiles: &[&ProfileFact]) -> bool {
    let top = profiles.iter().map(|profile| profile.autoconnect_priority).max();
    profiles.iter().filter(|profile| Some(profile.autoconnect_priority) == top).count() > 1
}
