//! A declared state seen against a host: which device each entry means.

use serde_json::Value;

use crate::path::Path;
use crate::state::{self, interface, interfaces, is_absent, is_up, kind, name, text};

/// One declared interface, its references resolved to devices.
#[derive(Debug)]
pub(crate) struct Declared {
    /// Where the document says it.
    pub(crate) path: Path,
    /// What it says, with the device's own name and type.
    pub(crate) want: Value,
}

#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) desired: &'a Value,
    pub(crate) before: &'a Value,
    pub(crate) observed: &'a Value,
    pub(crate) declared: Vec<Declared>,
}

impl<'a> View<'a> {
    pub(crate) fn new(desired: &'a Value, before: &'a Value, observed: &'a Value) -> Self {
        let declared = interfaces(desired)
            .iter()
            .filter(|entry| !matches!(state::condition(entry), "ignore" | "unknown"))
            .flat_map(|entry| resolve(entry, before))
            .collect();
        Self { desired, before, observed, declared }
    }

    pub(crate) fn declares(&self, wanted: &str) -> Option<&Value> {
        self.declared
            .iter()
            .map(|declared| &declared.want)
            .find(|want| name(want) == wanted && kind(want) != "ovs-bridge")
    }

    /// Ports, bases and next hops may be called by device, by alternative name or by profile, in that order.
    pub(crate) fn device<'n>(&'n self, called: &'n str) -> &'n str {
        let known =
            || interfaces(self.before).iter().chain(self.declared.iter().map(|declared| &declared.want));
        if known().any(|known| name(known) == called) {
            return called;
        }
        let by_alternative = known().find(|known| has_alternative_name(known, called));
        let mut by_profile = known().filter(|known| text(known, "profile-name") == Some(called));
        let found = by_alternative.or_else(|| by_profile.next().filter(|_| by_profile.next().is_none()));
        found.map_or(called, name)
    }

    /// Ports that nobody can see or manage are in no port list: vanished ones, types NMState does not know,
    /// and devices NetworkManager was told to leave alone.
    pub(crate) fn is_hidden(&self, port: &str) -> bool {
        self.is_phantom(port) || self.is_ignored(port)
    }

    /// A port that no interface stands behind: OVS remembers ports of devices that are long gone.
    pub(crate) fn is_phantom(&self, port: &str) -> bool {
        interface(self.observed, port, "unknown").is_none_or(|port| kind(port) == "unknown")
    }

    pub(crate) fn is_ignored(&self, device: &str) -> bool {
        let ignored = |entry: Option<&Value>| entry.is_some_and(|entry| state::condition(entry) == "ignore");
        if self.declares(device).is_some() {
            return false;
        }
        ignored(interface(self.desired, device, "unknown"))
            || ignored(interface(self.before, device, "unknown"))
    }
}

pub(crate) fn has_alternative_name(interface: &Value, called: &str) -> bool {
    state::list(interface, &["alt-names"]).iter().any(|entry| !is_absent(entry) && name(entry) == called)
}

/// A name without a type may mean two devices (an OVS bridge and its internal interface) when they are to go.
fn resolve(entry: &Value, before: &Value) -> Vec<Declared> {
    let path = Path::interface(name(entry));
    let declared = |want: Value| Declared { path: path.clone(), want };
    if kind(entry) == "unknown" && !is_absent(entry) {
        let device = device_of(entry, before);
        return vec![declared(as_device(entry, device))];
    }
    if kind(entry) == "unknown" {
        let same_name = interfaces(before).iter().filter(|known| name(known) == name(entry));
        let resolved: Vec<Declared> =
            same_name.map(|known| declared(as_device(entry, Some(known)))).collect();
        return if resolved.is_empty() { vec![declared(entry.clone())] } else { resolved };
    }
    vec![declared(as_device(entry, device_of(entry, before)))]
}

/// The device an entry means: by MAC or PCI address if it says so, by name, or by an alternative name.
fn device_of<'b>(entry: &Value, before: &'b Value) -> Option<&'b Value> {
    let known = || interfaces(before).iter().filter(|known| !state::is_userspace(kind(known)));
    if state::is_userspace(kind(entry)) {
        return interface(before, name(entry), kind(entry));
    }
    match text(entry, "identifier") {
        Some("mac-address") if is_up(entry) => by_mac(entry, before),
        Some("pci-address") if is_up(entry) => known().find(|known| {
            known.get("pci-address").is_some() && known.get("pci-address") == entry.get("pci-address")
        }),
        _ => known()
            .find(|known| bound_by_mac(known) && text(known, "profile-name") == Some(name(entry)))
            .or_else(|| interface(before, name(entry), kind(entry)))
            .or_else(|| known().find(|known| has_alternative_name(known, name(entry)))),
    }
}

fn bound_by_mac(interface: &Value) -> bool {
    text(interface, "identifier") == Some("mac-address")
}

fn by_mac<'b>(entry: &Value, before: &'b Value) -> Option<&'b Value> {
    let mac = text(entry, "mac-address")?;
    ["permanent-mac-address", "mac-address"].iter().find_map(|key| {
        interfaces(before).iter().filter(|known| !state::is_userspace(kind(known))).find(|known| {
            let right_kind = kind(entry) == "unknown" || state::same_kind(kind(entry), kind(known));
            right_kind && text(known, key).is_some_and(|known| known.eq_ignore_ascii_case(mac))
        })
    })
}

/// The entry under the device's own name and type; the name it was called by becomes the profile's.
fn as_device(entry: &Value, device: Option<&Value>) -> Value {
    let mut want = entry.clone();
    let (Some(device), Some(fields)) = (device, want.as_object_mut()) else {
        return want;
    };
    if kind(entry) == "unknown" {
        fields.insert("type".into(), kind(device).into());
    }
    if name(device) != name(entry) {
        fields.insert("name".into(), name(device).into());
        if text(entry, "profile-name").is_none()
            && text(device, "profile-name").is_none_or(|known| known == name(entry))
        {
            fields.insert("profile-name".into(), name(entry).into());
        }
    }
    want
}
