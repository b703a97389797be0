//! NICs and profiles: what NetworkManager leaves alone, what a reboot would lose, what stands in each other's way.

use std::collections::BTreeMap;

use super::{Answer, Finding, Nic, Signs, or_ok, warning};
use crate::facts::ProfileFact;

pub(super) fn unmanaged(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "unmanaged nics";
    if !matches!(signs.networkmanager, Answer::Yes(_)) {
        return Vec::new();
    }
    let of = |nic: &Nic| {
        let (why, remedy) = reason(nic);
        warning(CHECK, format!("{} is not managed by NetworkManager{why}", nic.name), remedy)
    };
    let found = signs.nics.iter().filter(|nic| !nic.managed).map(of).collect();
    or_ok(found, CHECK, "none")
}

/// Newer versions of NetworkManager say who told them to keep off.
fn reason(nic: &Nic) -> (&'static str, String) {
    let manage = format!("nmcli device set {} managed yes", nic.name);
    match nic.reason {
        73 => (" while the host sleeps", "wake the host up".to_owned()),
        74 => (
            ": its configuration says so (unmanaged-devices, or managed=0)",
            "look for unmanaged-devices and managed in /etc/NetworkManager/conf.d and \
                /usr/lib/NetworkManager/conf.d"
                .to_owned(),
        ),
        75 => (": somebody switched it off (nmcli device set)", manage),
        76 => (
            ": a settings plugin says so (ifcfg-rh, ifupdown)",
            "look at /etc/network/interfaces, and \
            at managed= in the section [ifupdown] of NetworkManager.conf"
                .to_owned(),
        ),
        77 => (
            ": a udev rule says so (NM_UNMANAGED)",
            "look for NM_UNMANAGED in /etc/udev/rules.d and \
            /usr/lib/udev/rules.d"
                .to_owned(),
        ),
        78 => (": networking is switched off", "nmcli networking on".to_owned()),
        _ => ("", manage),
    }
}

pub(super) fn in_memory(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "profiles in memory";
    let fleeting = signs.profiles.iter().filter(|profile| !profile.on_disk && profile.kind != "loopback");
    let found = fleeting.filter_map(|profile| {
        let interface = profile.active_on.as_ref()?;
        let message = format!(
            "profile '{}' of {interface} is in memory only: a reboot would lose \
            it",
            profile.id
        );
        Some(warning(
            CHECK,
            message,
            format!(
                "nmcli connection modify uuid {} connection.autoconnect yes \
            (which saves it), or apply a document that names {interface}",
                profile.uuid
            ),
        ))
    });
    or_ok(found.collect(), CHECK, "none that is in use")
}

pub(super) fn in_conflict(signs: &Signs) -> Vec<Finding> {
    const CHECK: &str = "rival profiles";
    let mut by_device: BTreeMap<(&str, &str), Vec<&ProfileFact>> = BTreeMap::new();
    for profile in signs.profiles.iter().filter(|profile| profile.autoconnect) {
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
                    "{} both start by themselves on {interface}: which one wins at boot is chance",
                    names.join(" and ")
                ),
                remedy,
            )
        },
    );
    or_ok(found.collect(), CHECK, "none")
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
