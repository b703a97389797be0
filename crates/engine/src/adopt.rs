//! Devices that a restarted NetworkManager does not recognise get their own profile back.
//!
//! NetworkManager that died and came again tries to find out which profile each device had. Where it fails (1.42
//! does so at times with a bridge), it makes a profile up in memory and leaves the device unmanaged: the state
//! holds, but it is nobody's. And when the bridge gets its own profile back, 1.42 drops the ports that it had
//! recognised: they get theirs in a second round.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use linesman_core::facts::ProfileFact;
use linesman_core::interface_name::InterfaceName;

use crate::nm::{Device, Nm, NmView};
use crate::watch::Watch;
use crate::{Result, observe};

/// How long NetworkManager may take to have them all.
const LIMIT: Duration = Duration::from_secs(10);
/// A profile that fails again and again is not ours to mend here.
const ATTEMPTS: u32 = 3;

/// Activates the profiles on disk of those `interfaces` that NetworkManager only found, or dropped, and
/// returns when each has come to rest: whether there were any.
pub async fn adopt(nm: &Nm, watch: &Watch, interfaces: &BTreeSet<InterfaceName>) -> Result<bool> {
    let end = Instant::now() + LIMIT;
    let mut attempts: BTreeMap<String, u32> = BTreeMap::new();
    while Instant::now() < end {
        let view = nm.view().await?;
        let changing = view.devices.iter().any(|d| interfaces.contains(d.interface.as_str()) && d.changing());
        if !changing {
            let mut orphans =
                orphans(&view, &observe::profile_facts(&view, &observe::profiles()?), interfaces);
            orphans.retain(|uuid| attempts.get(uuid).is_none_or(|n| *n < ATTEMPTS));
            if orphans.is_empty() {
                break;
            }
            for uuid in orphans {
                if let Err(e) = nm.activate(&uuid, None).await {
                    tracing::warn!(profile = uuid, error = %e, "cannot activate the profile");
                }
                *attempts.entry(uuid).or_default() += 1;
            }
        }
        watch.next().await;
    }
    Ok(!attempts.is_empty())
}

/// The profiles whose interface runs on a made-up one, or on none. Pure.
fn orphans(view: &NmView, profiles: &[ProfileFact], interfaces: &BTreeSet<InterfaceName>) -> Vec<String> {
    // None where NetworkManager has nothing to say about the device: it is unmanaged, or has no carrier.
    let made_up = |device: &Device| {
        let active = device.active.as_ref().and_then(|path| view.active.iter().find(|a| a.path == *path));
        active.map(|active| active.external).or(device.disconnected().then_some(true))
    };
    let orphaned = |name: &str| {
        let mut devices = view.devices.iter().filter(|d| d.interface == name).filter_map(made_up).peekable();
        // A port of a userspace bridge is there twice, and the second one is always made up.
        devices.peek().is_some() && devices.all(|made_up| made_up)
    };
    let ours = |p: &&ProfileFact| {
        p.on_disk && p.autoconnect && p.active_on.is_none() && {
            let name = p.interface.as_deref().unwrap_or_default();
            interfaces.contains(name) && orphaned(name)
        }
    };
    profiles.iter().filter(ours).map(|p| p.uuid.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nm::Active;

    fn device(interface: &str, active: &str) -> Device {
        Device {
            path: format!("/device/{interface}/{active}"),
            interface: interface.into(),
            kind: 13,
            managed: true,
            state: 100,
            reason: 0,
            real: true,
            software: true,
            active: Some(active.into()),
        }
    }

    fn active(path: &str, external: bool) -> Active {
        let text = String::new;
        Active {
            path: path.into(),
            uuid: text(),
            id: text(),
            kind: text(),
            devices: Vec::new(),
            up: true,
            external,
        }
    }

    #[test]
    fn only_profiles_generated_by_networkmanager_are_replaced() {
        let dropped = Device { active: None, state: 30, ..device("eth1", "") };
        let without_carrier = Device { active: None, state: 20, ..device("eth2", "") };
        let view = NmView {
            devices: vec![
                device("br1", "/found"),
                device("br2", "/ours"),
                device("br2", "/found"),
                dropped,
                without_carrier,
            ],
            active: vec![active("/found", true), active("/ours", false)],
            profiles: Vec::new(),
        };
        let profile = |name: &str, on_disk| ProfileFact {
            uuid: format!("{name}-{on_disk}"),
            interface: Some(name.into()),
            autoconnect: true,
            on_disk,
            ..ProfileFact::default()
        };
        let mut profiles = vec![profile("br1", false)];
        profiles.extend(["br1", "br2", "br3", "eth1", "eth2"].map(|name| profile(name, true)));
        let all = ["br1", "br2", "br3", "eth1", "eth2"].map(InterfaceName::from).into();
        assert_eq!(orphans(&view, &profiles, &all), ["br1-true", "eth1-true"]);
        assert!(orphans(&view, &profiles, &BTreeSet::new()).is_empty());
    }
}
