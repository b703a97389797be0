//! What else the host has: routes, profiles of others, and its document.

use super::super::{Finding, Inspection, or_ok};
use super::NAME;
use super::observed::{BrEx, OvsBridge};
use super::rules::{CHANGED_DOCUMENT, DOCUMENT, OWNER, PROFILES, ROUTE};
use crate::facts::ProfileFact;

pub(super) fn route(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    if br_ex.bridge.is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut metrics = Vec::new();
    for (ipv6, family) in [(false, "IPv4"), (true, "IPv6")] {
        let routes = || br_ex.default_routes.iter().filter(move |route| route.ipv6 == ipv6);
        let own = routes().filter(|route| route.interface == NAME).map(|route| route.metric).min();
        let Some(own) = own else { continue };
        metrics.push(format!("{family} metric {own}"));
        let rivals = routes().filter(|route| route.interface != NAME && route.metric <= own);
        found.extend(rivals.map(|rival| {
            let message = format!(
                "the {family} default route of {} has metric {}, that of br-ex {own}",
                rival.interface, rival.metric
            );
            ROUTE.broken(message, &[("INTERFACE", &rival.interface), ("METRIC", &own.to_string())])
        }));
    }
    let message = if metrics.is_empty() {
        "br-ex has no default route".to_owned()
    } else {
        format!("the preferred one is that of br-ex: {}", metrics.join(", "))
    };
    or_ok(found, ROUTE.check, message)
}

pub(super) fn profiles(br_ex: &BrEx, inspection: &Inspection) -> Vec<Finding> {
    let uplinks = br_ex.bridge.iter().flat_map(OvsBridge::uplinks);
    let names: Vec<&str> =
        uplinks.flat_map(|port| &port.interfaces).map(|interface| interface.name.as_str()).collect();
    let mut found = Vec::new();
    for profile in &inspection.profiles {
        let place = if profile.on_disk { "on disk" } else { "in memory" };
        let left = is_of_configure_ovs(&profile.id) && profile.active_on.is_none() && br_ex.flag;
        let message = if left {
            format!(
                "profile '{}' of configure-ovs is left ({place}), though a document is in use",
                profile.id
            )
        } else if names.iter().any(|uplink| is_rival(profile, uplink, &inspection.profiles)) {
            let interface = profile.interface.as_deref().unwrap_or_default();
            format!("profile '{}' ({place}) may take the uplink {interface} from br-ex at boot", profile.id)
        } else {
            continue;
        };
        found.push(PROFILES.broken(message, &[("UUID", &profile.uuid)]));
    }
    if br_ex.bridge.is_none() {
        return found;
    }
    or_ok(found, PROFILES.check, "no rivals")
}

/// NetworkManager would activate it at boot rather than the one that is active now.
fn is_rival(profile: &ProfileFact, uplink: &str, all: &[ProfileFact]) -> bool {
    let is_for = |profile: &ProfileFact| {
        profile.interface.as_deref() == Some(uplink) && !profile.kind.starts_with("ovs-")
    };
    let active = all.iter().find(|other| is_for(other) && other.active_on.as_deref() == Some(uplink));
    active.is_some_and(|active| {
        is_for(profile)
            && profile.autoconnect
            && profile.active_on.is_none()
            && profile.autoconnect_priority >= active.autoconnect_priority
    })
}

fn is_of_configure_ovs(id: &str) -> bool {
    let of_bridge = id.strip_prefix("ovs-if-").or_else(|| id.strip_prefix("ovs-port-"));
    of_bridge.is_some_and(|name| ["phys0", "phys1", "br-ex", "br-ex1"].contains(&name))
        || id.ends_with("-slave-ovs-clone")
}

pub(super) fn owner(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    // Without a record, another program may have written the file.
    let Some(record) = &br_ex.first_boot else { return Vec::new() };
    let message = match (record.in_use, br_ex.flag) {
        (true, false) => "the document is in use, but configure-ovs is not kept from this host",
        (false, true) => "no document is in use, but configure-ovs is kept from this host",
        (true, true) => return or_ok(Vec::new(), OWNER.check, "the document of this host"),
        (false, false) => return or_ok(Vec::new(), OWNER.check, "not a document"),
    };
    vec![OWNER.broken(message, &[])]
}

pub(super) fn document(br_ex: &BrEx, _: &Inspection) -> Vec<Finding> {
    let Some(record) = &br_ex.first_boot else { return Vec::new() };
    let file = record.file.as_deref().unwrap_or("the document");
    let why = if record.message.is_empty() { String::new() } else { format!(": {}", record.message) };
    let found = match record.state.as_str() {
        "Failed" => DOCUMENT.broken(format!("{file} was not applied{why}"), &[]),
        "Ambiguous" => DOCUMENT.broken(format!("no document can be selected{why}"), &[]),
        "NotLive" => CHANGED_DOCUMENT.broken(format!("{file} is not live{why}"), &[]),
        "Superseded" => return or_ok(Vec::new(), DOCUMENT.check, format!("{file}, superseded by policies")),
        "Withdrawn" => return or_ok(Vec::new(), DOCUMENT.check, "withdrawn"),
        "Applied" => return or_ok(Vec::new(), DOCUMENT.check, format!("{file} is applied")),
        _ => return Vec::new(),
    };
    vec![found]
}
