//! What `doctor` looks at on this host. What it means is decided in core.

mod br_ex;
mod competing_tools;
mod own_state;

use std::path::Path;

pub(crate) use br_ex::{DOCUMENTS, RECORD};
use linesman_core::doctor::{Answer, Inspection, Nic, OpenVSwitch};
use linesman_core::facts::ProfileFact;

use crate::nm::{Device, Nm, NmView};
use crate::transaction::Settings;
use crate::{Error, ifcfg, observe, ovs, supplicant};

/// Looks at everything; what cannot be seen is left as if it were not there.
pub async fn inspection(settings: &Settings) -> Inspection {
    let mut inspection = Inspection {
        root: nix::unistd::geteuid().is_root(),
        open_vswitch: open_vswitch().await,
        under_way: own_state::under_way(settings),
        unfinished: own_state::unfinished(settings),
        newer_record: own_state::newer_record(settings),
        state_dir: own_state::state_dir(&settings.state_dir),
        units: own_state::units(),
        ..Inspection::default()
    };
    match Nm::connect().await {
        Ok(nm) => networkmanager(&nm, &mut inspection).await,
        Err(Error::NoDbus { source, .. }) => inspection.dbus = Answer::No(source.to_string()),
        Err(Error::NoNetworkManager(source)) => {
            inspection.dbus = Answer::Yes(String::new());
            inspection.networkmanager = Answer::No(source.to_string());
        }
        Err(other) => inspection.networkmanager = Answer::No(other.to_string()),
    }
    if inspection.profiles.is_empty() {
        inspection.profiles =
            observe::profiles().unwrap_or_default().iter().map(|profile| profile.fact(None)).collect();
    }
    inspection.competing_tools = competing_tools::seen(&inspection.dbus).await;
    inspection.br_ex = br_ex::seen(&settings.state_dir).await;
    inspection
}

async fn networkmanager(nm: &Nm, inspection: &mut Inspection) {
    inspection.dbus = Answer::Yes(String::new());
    inspection.networkmanager = match nm.version().await {
        Ok(version) => Answer::Yes(version),
        Err(error) => Answer::No(error.to_string()),
    };
    inspection.ovs_plugin = nm.has_ovs_plugin().await;
    inspection.supplicant = Some(supplicant::available(nm).await);
    inspection.checkpoints = nm.checkpoints().await.unwrap_or_default();
    if let Ok(view) = nm.view().await {
        inspection.profiles = observe::profile_facts(&view, &observe::profiles().unwrap_or_default());
        inspection.ifcfg = ifcfg::profiles(&view);
        inspection.nics = nics(&view, &inspection.profiles);
    }
}

/// Hardware, and whatever a profile names: a host's many virtual devices of others are nobody's concern.
fn nics(view: &NmView, profiles: &[ProfileFact]) -> Vec<Nic> {
    const ETHERNET: u32 = 1;
    const INFINIBAND: u32 = 9;
    let named = |device: &Device| {
        profiles.iter().any(|profile| profile.interface.as_deref() == Some(&device.interface))
    };
    // In userspace, an interface of Open vSwitch is a tap device too, which NetworkManager sees as a second device.
    let is_double = |device: &Device| {
        let mut same_name = view.devices.iter().filter(|other| other.interface == device.interface);
        device.unmanaged() && same_name.any(|other| other.path != device.path && other.is_ovs_interface())
    };
    let counts = |device: &&Device| {
        device.real
            && !is_double(device)
            && (matches!(device.kind, ETHERNET | INFINIBAND) && !device.software || named(device))
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
    let database = ovs::running().await;
    OpenVSwitch {
        installed,
        database,
        switch: own_state::lives("/run/openvswitch/ovs-vswitchd.pid"),
        kernel_datapath: if database { Some(ovs::has_kernel_datapath().await) } else { None },
        kernel_bridges: if database { ovs::kernel_bridges().await } else { Vec::new() },
    }
}
