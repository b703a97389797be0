//! Which profiles count, what their interfaces are called, and who is meant by a UUID.

use std::collections::BTreeMap;

use super::profile::Profile;
use crate::import::draft::mac;
use crate::import::report::Log;

/// Interfaces by the ways in which profiles refer to them.
pub(super) struct Names {
    known: BTreeMap<String, Owner>,
}

#[derive(Debug, Clone)]
pub(super) struct Owner {
    pub name: String,
    pub kind: String,
    /// The routing table of a VRF.
    pub table: Option<u32>,
}

impl Names {
    pub fn of(profiles: &[Profile]) -> Self {
        let mut known = BTreeMap::new();
        for profile in profiles {
            let name = profile.interface.clone().unwrap_or_else(|| profile.id.clone());
            let owner = Owner { name: name.clone(), kind: profile.kind.clone(), table: profile.table() };
            if let Some(uuid) = &profile.uuid {
                known.insert(uuid.clone(), owner.clone());
            }
            let controls = !matches!(profile.kind.as_str(), "ovs-interface" | "ethernet");
            // An OVS bridge, its port and its interface may share a name; a UUID distinguishes them.
            if controls || !known.contains_key(&name) {
                known.insert(name, owner);
            }
        }
        Self { known }
    }

    /// Who is meant by a name or UUID in `connection.controller`.
    pub fn controller(&self, reference: &str) -> Option<Owner> {
        self.known.get(reference).cloned()
    }

    pub fn is_known(&self, reference: &str) -> bool {
        self.known.contains_key(reference)
    }

    /// The interface that a name or UUID in `parent` means.
    pub fn parent(&self, reference: &str) -> String {
        self.known.get(reference).map_or_else(|| reference.to_owned(), |owner| owner.name.clone())
    }
}

/// Of several profiles for one interface, the one that NetworkManager would start at boot.
pub(super) fn choose(profiles: Vec<Profile>, log: &mut Log<'_>) -> Vec<Profile> {
    let mut chosen: Vec<Profile> = Vec::new();
    for profile in profiles {
        if !profile.autoconnect {
            log.note(
                profile.place,
                "",
                format!(
                    "profile '{}' is not activated automatically (autoconnect=false): omitted",
                    profile.id
                ),
            );
            continue;
        }
        match chosen.iter().position(|other| same_device(other, &profile)) {
            None => chosen.push(profile),
            Some(at) => {
                let weaker = if profile.priority > chosen[at].priority {
                    std::mem::replace(&mut chosen[at], profile)
                } else {
                    profile
                };
                let why = format!(
                    "profile '{}' is for the same interface as '{}', which comes first: omitted",
                    weaker.id, chosen[at].id
                );
                log.note(weaker.place, "", why);
            }
        }
    }
    chosen
}

fn same_device(one: &Profile, other: &Profile) -> bool {
    let class = |profile: &Profile| match profile.kind.as_str() {
        kind @ ("ovs-bridge" | "ovs-port") => kind.to_owned(),
        _ => "link".to_owned(),
    };
    one.interface.is_some() && one.interface == other.interface && class(one) == class(other)
}

/// The interface's name; with the MAC address that finds it, where the profile goes by that.
pub(super) fn of_interface(profile: &mut Profile, log: &mut Log<'_>) -> Option<(String, Option<String>)> {
    if let Some(name) = profile.interface.clone() {
        return Some((name, None));
    }
    if profile.kind == "vlan" {
        let vlan = profile.section("vlan").clone();
        let text = |key: &str| vlan.clone().value(key, log);
        let mut text = text;
        if let (Some(parent), Some(id)) = (text("parent"), text("id")) {
            return Some((format!("{parent}.{id}"), None));
        }
    }
    let address = profile.section("ethernet").text("mac-address", log);
    if let Some(address) = address.as_ref().and_then(|at| mac(&at.value)) {
        return Some((profile.id.clone(), Some(address)));
    }
    let why = format!(
        "profile '{}' has neither an interface name nor a MAC address, so it matches any interface: omitted",
        profile.id
    );
    log.note(profile.place, "", why);
    None
}
