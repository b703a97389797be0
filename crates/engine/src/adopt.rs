//! Devices that a restarted NetworkManager merely found get their own profile back.
//!
//! NetworkManager that died and came again tries to recognise which profile each device had. Where it fails
//! (1.42 does so at times with a bridge), it makes a profile up in memory and keeps its hands off the device:
//! the state holds, but it is nobody's.

use std::collections::BTreeSet;

use linesman_core::facts::ProfileFact;

use crate::nm::{Nm, NmView};
use crate::{Result, observe};

/// Activates the profiles on disk of those `interfaces` that NetworkManager only found. True if there were any.
pub async fn adopt(nm: &Nm, interfaces: &BTreeSet<String>) -> Result<bool> {
    let view = nm.view().await?;
    let profiles = observe::profile_facts(&view, &observe::profiles()?);
    let orphans = orphans(&view, &profiles, interfaces);
    for uuid in &orphans {
        nm.activate(uuid, None).await?;
    }
    Ok(!orphans.is_empty())
}

/// The profiles whose interface runs on a made-up one. Pure.
fn orphans(view: &NmView, profiles: &[ProfileFact], interfaces: &BTreeSet<String>) -> Vec<String> {
    let found = |name: &str| {
        let mut active = view
            .devices
            .iter()
            .filter(|d| d.interface == name)
            .filter_map(|d| d.active.as_ref().and_then(|path| view.active.iter().find(|a| a.path == *path)))
            .peekable();
        // A port of a userspace bridge is there twice, and the second one is always made up.
        active.peek().is_some() && active.all(|a| a.external)
    };
    let ours = |p: &&ProfileFact| {
        p.on_disk && p.autoconnect && p.active_on.is_none() && {
            let name = p.interface.as_deref().unwrap_or_default();
            interfaces.contains(name) && found(name)
        }
    };
    profiles.iter().filter(ours).map(|p| p.uuid.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nm::{Active, Device};

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
    fn only_what_networkmanager_made_up_is_replaced() {
        let view = NmView {
            devices: vec![device("br1", "/found"), device("br2", "/ours"), device("br2", "/found")],
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
        let profiles =
            [profile("br1", false), profile("br1", true), profile("br2", true), profile("br3", true)];
        let all = ["br1", "br2", "br3"].map(String::from).into();
        assert_eq!(orphans(&view, &profiles, &all), ["br1-true"]);
        assert!(orphans(&view, &profiles, &BTreeSet::new()).is_empty());
    }
}
