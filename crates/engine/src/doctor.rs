//! What `doctor` looks at on this host. What it means is decided in core.

mod rivals;
mod upkeep;

use std::path::Path;

use linesman_core::doctor::{Answer, Nic, OpenVSwitch, Signs};
use linesman_core::facts::ProfileFact;

use crate::nm::{Device, Nm, NmView};
use crate::transaction::Settings;
use crate::{Error, observe, ovs};

/// Looks at everything; what cannot be seen is left as if it were not there.
pub async fn signs(settings: &Settings) -> Signs {
    let mut signs = Signs {
        root: nix::unistd::geteuid().is_root(),
        open_vswitch: open_vswitch().await,
        under_way: upkeep::under_way(settings),
        unfinished: upkeep::unfinished(settings),
        state_dir: upkeep::state_dir(&settings.state_dir),
        units: upkeep::units(),
        ..Signs::default()
    };
    match Nm::connect().await {
        Ok(nm) => networkmanager(&nm, &mut signs).await,
        Err(Error::NoDbus { why, .. }) => signs.dbus = Answer::No(why),
        Err(Error::NoNetworkManager { why }) => {
            signs.dbus = Answer::Yes(String::new());
            signs.networkmanager = Answer::No(why);
        }
        Err(other) => signs.networkmanager = Answer::No(other.to_string()),
    }
    if signs.profiles.is_empty() {
        signs.profiles =
            observe::profiles().unwrap_or_default().iter().map(|profile| profile.fact(None)).collect();
    }
    signs.rivals = rivals::seen(&signs.dbus).await;
    signs
}

async fn networkmanager(nm: &Nm, signs: &mut Signs) {
    signs.dbus = Answer::Yes(String::new());
    signs.networkmanager = match nm.version().await {
        Ok(version) => Answer::Yes(version),
        Err(error) => Answer::No(error.to_string()),
    };
    signs.ovs_plugin = nm.has_ovs_plugin().await;
    signs.checkpoints = nm.checkpoints().await.unwrap_or_default();
    if let Ok(view) = nm.view().await {
        signs.profiles = observe::profile_facts(&view, &observe::profiles().unwrap_or_default());
        signs.nics = nics(&view, &signs.profiles);
    }
}

/// Hardware, and whatever a profile names: a host's many virtual devices of others are nobody's concern.
fn nics(view: &NmView, profiles: &[ProfileFact]) -> Vec<Nic> {
    const ETHERNET: u32 = 1;
    const INFINIBAND: u32 = 9;
    let named = |device: &Device| {
        profiles.iter().any(|profile| profile.interface.as_deref() == Some(&device.interface))
    };
    let counts = |device: &&Device| {
        device.real && (matches!(device.kind, ETHERNET | INFINIBAND) && !device.software || named(device))
    };
    let nic = |device: &Device| Nic {
        name: device.interface.clone(),
        managed: !device.unmanaged(),
        reason: device.reason,
    };
    view.devices.iter().filter(counts).filter(|device| device.interface != "lo").map(nic).collect()
}

async fn open_vswitch() -> OpenVSwitch {
    let installed =
        ["/run/openvswitch", "/usr/sbin/ovs-vswitchd"].iter().any(|path| Path::new(path).exists());
    OpenVSwitch {
        installed,
        database: ovs::running().await,
        switch: upkeep::lives("/run/openvswitch/ovs-vswitchd.pid"),
    }
}
