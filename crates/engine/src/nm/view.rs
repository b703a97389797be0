//! Devices, active connections and profiles in one call.
//!
//! NetworkManager exports an ObjectManager: a hundred interfaces cost one round trip instead of hundreds.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::dns::take;
use crate::error::Source;
use crate::{Error, Result};

#[derive(Clone, Debug, Default)]
pub struct NmView {
    pub devices: Vec<Device>,
    pub active: Vec<Active>,
    pub profiles: Vec<SavedProfile>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Device {
    pub path: String,
    pub interface: String,
    pub kind: u32,
    pub managed: bool,
    pub state: u32,
    pub real: bool,
    /// Whether nothing but NetworkManager's own software made it, so that it can be deleted.
    pub software: bool,
    pub active: Option<String>,
    /// NetworkManager's number for why the device is in its state.
    pub reason: u32,
}

impl Device {
    const UNMANAGED: u32 = 10;
    const UNAVAILABLE: u32 = 20;
    const DISCONNECTED: u32 = 30;
    const PREPARE: u32 = 40;
    const IP_CONFIG: u32 = 70;
    const ACTIVATED: u32 = 100;
    const DEACTIVATING: u32 = 110;
    const FAILED: u32 = 120;
    const OVS_INTERFACE: u32 = 24;

    pub fn unmanaged(&self) -> bool {
        !self.managed || self.state == Self::UNMANAGED
    }

    /// Managed, and without an active profile.
    pub fn down(&self) -> bool {
        matches!(self.state, Self::UNAVAILABLE | Self::DISCONNECTED)
    }

    /// Managed and able to run a profile, but without one.
    pub fn disconnected(&self) -> bool {
        self.state == Self::DISCONNECTED
    }

    /// On its way from one profile to another: what becomes of it will be seen in a moment. It is no longer when
    /// only its addresses are missing, for which a port may be needed.
    pub fn changing(&self) -> bool {
        matches!(self.state, Self::PREPARE..Self::IP_CONFIG | Self::DEACTIVATING | Self::FAILED)
    }

    /// A profile is being activated on it.
    pub fn coming_up(&self) -> bool {
        (Self::PREPARE..Self::ACTIVATED).contains(&self.state)
    }

    pub fn waits_for_addresses(&self) -> bool {
        self.state == Self::IP_CONFIG
    }

    pub fn is_ovs_interface(&self) -> bool {
        self.kind == Self::OVS_INTERFACE
    }

    pub fn activated(&self) -> bool {
        self.state == Self::ACTIVATED
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Active {
    pub path: String,
    pub uuid: String,
    pub id: String,
    pub kind: String,
    pub devices: Vec<String>,
    /// The state is on its way to activated or there.
    pub up: bool,
    /// NetworkManager made the profile up to describe what somebody else configured.
    pub external: bool,
}

#[derive(Clone, Debug)]
pub struct SavedProfile {
    pub path: String,
    pub filename: String,
    pub unsaved: bool,
}

impl NmView {
    pub fn device(&self, path: &str) -> Option<&Device> {
        self.devices.iter().find(|d| d.path == path)
    }

    /// A profile runs on a device of this name, or is about to: NetworkManager made it what it is. Profiles that it made
    /// up to describe what somebody else configured do not count.
    pub fn runs_profile_on(&self, interface: &str) -> bool {
        let own = self.active.iter().filter(|active| !active.external);
        own.flat_map(|active| &active.devices)
            .filter_map(|path| self.device(path))
            .any(|device| device.interface == interface)
    }

    /// The UUID of the profile that is active on it.
    pub fn profile_of(&self, device: &Device) -> Option<&str> {
        let path = device.active.as_deref()?;
        self.active.iter().find(|active| active.path == path).map(|active| active.uuid.as_str())
    }

    /// The interface on which the profile is active. Profiles that NetworkManager made up for what it
    /// found (a userspace bridge's port shows up a second time as a tun device) do not count.
    pub fn active_on(&self, uuid: &str) -> Option<String> {
        let active = self.active.iter().find(|a| a.uuid == uuid && a.up && !a.external)?;
        active.devices.iter().find_map(|d| self.device(d)).map(|d| d.interface.clone())
    }
}

type Properties = HashMap<String, OwnedValue>;
type Objects = HashMap<OwnedObjectPath, HashMap<String, Properties>>;

pub(super) async fn read(bus: &zbus::Connection) -> Result<NmView> {
    let failed = |e: Source| Error::call("asking NetworkManager for its objects", e);
    let call = bus.call_method(
        Some("org.freedesktop.NetworkManager"),
        "/org/freedesktop",
        Some("org.freedesktop.DBus.ObjectManager"),
        "GetManagedObjects",
        &(),
    );
    let reply = tokio::time::timeout(super::CALL, call)
        .await
        .map_err(|e| failed(e.into()))?
        .map_err(|e| failed(super::short(&e).into()))?;
    let objects: Objects = reply.body().deserialize().map_err(|e| failed(e.into()))?;
    Ok(decode(&objects))
}

fn decode(objects: &Objects) -> NmView {
    let mut view = NmView::default();
    // A port that others attached is activated as if it were NetworkManager's own when its bridge is activated anew; only
    // the profile still shows that it was made up.
    let made_up: HashSet<&str> = objects
        .iter()
        .filter(|(_, interfaces)| {
            let profile = interfaces.get("org.freedesktop.NetworkManager.Settings.Connection");
            profile.is_some_and(|p| number(p, "Flags") & MADE_UP == MADE_UP)
        })
        .map(|(path, _)| path.as_str())
        .collect();
    for (path, interfaces) in objects {
        if let Some(p) = interfaces.get("org.freedesktop.NetworkManager.Device") {
            view.devices.push(device(path.as_str(), p));
        } else if let Some(p) = interfaces.get("org.freedesktop.NetworkManager.Connection.Active") {
            view.active.push(active(path.as_str(), p, &made_up));
        } else if let Some(p) = interfaces.get("org.freedesktop.NetworkManager.Settings.Connection") {
            view.profiles.push(SavedProfile {
                path: path.to_string(),
                filename: text(p, "Filename"),
                unsaved: flag(p, "Unsaved"),
            });
        }
    }
    view.devices.sort_by(|a, b| a.interface.cmp(&b.interface).then(a.kind.cmp(&b.kind)));
    view.active.sort_by(|a, b| a.id.cmp(&b.id));
    view
}

fn device(path: &str, p: &Properties) -> Device {
    const IS_SOFTWARE: u32 = 0x4;
    Device {
        path: path.to_string(),
        interface: text(p, "Interface"),
        kind: number(p, "DeviceType"),
        managed: flag(p, "Managed"),
        state: number(p, "State"),
        real: flag(p, "Real"),
        software: number(p, "Capabilities") & IS_SOFTWARE != 0,
        active: take(p.get("ActiveConnection"))
            .map(|path: OwnedObjectPath| path.to_string())
            .filter(|a| a != "/"),
        // A pair of state and reason.
        reason: take(p.get("StateReason")).map_or(0, |(_, reason): (u32, u32)| reason),
    }
}

/// Generated by NetworkManager, and forgotten as soon as it is not used.
const MADE_UP: u32 = 0x2 | 0x4;

fn active(path: &str, p: &Properties, made_up: &HashSet<&str>) -> Active {
    const EXTERNAL: u32 = 0x80;
    let profile: Option<OwnedObjectPath> = take(p.get("Connection"));
    Active {
        path: path.to_string(),
        uuid: text(p, "Uuid"),
        id: text(p, "Id"),
        kind: text(p, "Type"),
        devices: take::<Vec<OwnedObjectPath>>(p.get("Devices"))
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect(),
        up: matches!(number(p, "State"), 1 | 2),
        external: number(p, "StateFlags") & EXTERNAL != 0
            || profile.is_some_and(|profile| made_up.contains(profile.as_str())),
    }
}

fn text(p: &Properties, key: &str) -> String {
    p.get(key).and_then(|v| <&str>::try_from(v).ok()).unwrap_or_default().to_string()
}

fn number(p: &Properties, key: &str) -> u32 {
    p.get(key).and_then(|v| u32::try_from(v).ok()).unwrap_or_default()
}

fn flag(p: &Properties, key: &str) -> bool {
    p.get(key).and_then(|v| bool::try_from(v).ok()).unwrap_or_default()
}
