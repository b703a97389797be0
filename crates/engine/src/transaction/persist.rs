//! After an apply, the profiles on disk alone would bring up the same state.
//!
//! Errors must not wait for a reboot: the profile is written, connects by itself, no other profile has precedence, and
//! its bytes have reached the disk.

use linesman_core::facts::ProfileFact;
use linesman_core::state::interfaces;
use serde_json::Value;

use crate::keyfile;
use crate::nm::Nm;
use crate::observe;
use crate::worker::ApplyOptions;

/// Why a reboot would not bring the same state.
#[derive(Debug, thiserror::Error)]
pub enum NotLasting {
    #[error("profile `{profile}` of {interface} is only in memory and would be lost on reboot")]
    InMemory { profile: String, interface: String },
    #[error("profile `{profile}` of {interface} would not be activated automatically after a reboot")]
    NotAutomatic { profile: String, interface: String },
    #[error("profile `{profile}` ({uuid}) would compete for {interface} after a reboot; delete it")]
    Competing { profile: String, uuid: String, interface: String },
    #[error("profiles could not be synced to disk: {0}")]
    Sync(#[source] std::io::Error),
    #[error(transparent)]
    Host(#[from] crate::Error),
}

pub async fn check(nm: &Nm, desired: &Value, options: ApplyOptions) -> Result<(), NotLasting> {
    if options.memory_only {
        return Ok(());
    }
    let view = nm.view().await?;
    let profiles = observe::profiles()?;
    let facts = observe::profile_facts(&view, &profiles);
    let up = interfaces(desired).iter().filter(|i| i["state"] == "up");
    let mut wanted = up.filter_map(|i| i["name"].as_str());
    if let Some(problem) = wanted.find_map(|name| problem_of(name, &facts)) {
        return Err(problem);
    }
    keyfile::sync(&profiles).map_err(NotLasting::Sync)
}

/// Why `name` would not come up like this after a reboot. Pure.
fn problem_of(name: &str, profiles: &[ProfileFact]) -> Option<NotLasting> {
    let named = |profile: &ProfileFact| (profile.id.clone(), name.to_owned());
    let mine: Vec<&ProfileFact> = profiles.iter().filter(|p| p.active_on.as_deref() == Some(name)).collect();
    for profile in &mine {
        let (id, interface) = named(profile);
        if !profile.on_disk {
            return Some(NotLasting::InMemory { profile: id, interface });
        }
        // Ports follow their controller, whatever they say themselves.
        if !profile.autoconnect {
            return Some(NotLasting::NotAutomatic { profile: id, interface });
        }
    }
    let competing = profiles.iter().find(|p| {
        p.on_disk
            && p.autoconnect
            && p.active_on.is_none()
            && p.interface.as_deref() == Some(name)
            && mine.iter().any(|m| m.kind == p.kind && m.autoconnect_priority <= p.autoconnect_priority)
    })?;
    let (profile, interface) = named(competing);
    Some(NotLasting::Competing { profile, uuid: competing.uuid.clone(), interface })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(uuid: &str, active: bool) -> ProfileFact {
        ProfileFact {
            uuid: uuid.into(),
            id: format!("p{uuid}"),
            interface: Some("br0".into()),
            kind: "bridge".into(),
            autoconnect: true,
            on_disk: true,
            active_on: active.then(|| "br0".into()),
            ..ProfileFact::default()
        }
    }

    #[test]
    fn one_active_profile_on_disk_is_enough() {
        assert!(problem_of("br0", &[profile("1", true)]).is_none());
    }

    #[test]
    fn memory_no_autoconnect_and_competing_profiles_are_found() {
        let in_memory = ProfileFact { on_disk: false, ..profile("1", true) };
        assert!(matches!(problem_of("br0", &[in_memory]), Some(NotLasting::InMemory { .. })));
        let manual = ProfileFact { autoconnect: false, ..profile("1", true) };
        assert!(matches!(problem_of("br0", &[manual]), Some(NotLasting::NotAutomatic { .. })));
        assert!(
            problem_of("br0", &[profile("1", true), profile("2", false)])
                .is_some_and(|p| matches!(p, NotLasting::Competing { .. }))
        );
        let preferred = ProfileFact { autoconnect_priority: 100, ..profile("1", true) };
        assert!(problem_of("br0", &[preferred, profile("2", false)]).is_none());
        let other_kind = ProfileFact { kind: "ovs-port".into(), ..profile("2", false) };
        assert!(problem_of("br0", &[profile("1", true), other_kind]).is_none());
    }
}
