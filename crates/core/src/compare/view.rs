//! A declared state seen against a host: which device each entry means.

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::Value;

use crate::foreign_port;
use crate::interface_index::InterfaceIndex;
use crate::interface_kind::InterfaceKind;
use crate::mac_address::MacAddress;
use crate::path::Path;
use crate::state::{self, interfaces, is_absent, is_up, kind, name, text};
use crate::virtual_function::{VirtualFunction, is_reference};

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
    by_name: HashMap<String, Vec<usize>>,
    by_port: HashMap<String, usize>,
    said: InterfaceIndex<'a>,
    was: InterfaceIndex<'a>,
    now: InterfaceIndex<'a>,
    holders: HashMap<IpAddr, Vec<&'a Value>>,
}

impl<'a> View<'a> {
    pub(crate) fn new(desired: &'a Value, before: &'a Value, observed: &'a Value) -> Self {
        let host = DeviceResolver::new(before, observed);
        let entries = interfaces(desired).iter();
        let meant = entries.filter(|entry| !matches!(state::condition(entry), "ignore" | "unknown"));
        let mut view = Self {
            desired,
            before,
            observed,
            declared: meant.flat_map(|entry| host.resolve(entry)).collect(),
            by_name: HashMap::new(),
            by_port: HashMap::new(),
            said: InterfaceIndex::new(desired),
            was: host.index,
            now: InterfaceIndex::new(observed),
            holders: holders(observed),
        };
        for (index, declared) in view.declared.iter().enumerate() {
            view.by_name.entry(name(&declared.want).to_owned()).or_default().push(index);
        }
        view.by_port = view.ports();
        view
    }

    fn ports(&self) -> HashMap<String, usize> {
        let up = self.declared.iter().enumerate().filter(|(_, declared)| is_up(&declared.want));
        let ports = up.flat_map(|(index, declared)| {
            let ports = state::ports(&declared.want).unwrap_or_default();
            ports.into_iter().map(move |port| (self.device(port).to_owned(), index))
        });
        ports.collect()
    }

    /// The declared controller that lists a device as its port.
    pub(crate) fn claimed_by(&self, device: &str) -> Option<&Value> {
        self.by_port.get(device).and_then(|index| self.declared.get(*index)).map(|declared| &declared.want)
    }

    /// An interface as observed.
    pub(crate) fn now(&self, name: &str, kind: InterfaceKind) -> Option<&'a Value> {
        self.now.find(name, kind)
    }

    /// An interface as it was before.
    pub(crate) fn was(&self, name: &str, kind: InterfaceKind) -> Option<&'a Value> {
        self.was.find(name, kind)
    }

    /// The observed interfaces that have an address.
    pub(crate) fn holders(&self, ip: IpAddr) -> &[&'a Value] {
        self.holders.get(&ip).map_or(&[], Vec::as_slice)
    }

    /// Whether a name without a type could mean two observed interfaces.
    pub(crate) fn is_ambiguous(&self, name: &str) -> bool {
        let untyped = self
            .said
            .find(name, InterfaceKind::Unknown)
            .is_some_and(|entry| kind(entry) == InterfaceKind::Unknown);
        untyped && self.now.named(name).len() > 1
    }

    /// Every entry of the document that means this device; an OVS bridge is its own.
    pub(crate) fn declared_as<'v>(&'v self, name: &str) -> impl Iterator<Item = &'v Value> {
        let indices = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        indices.iter().filter_map(|index| self.declared.get(*index)).map(|declared| &declared.want)
    }

    pub(crate) fn declares(&self, name: &str) -> Option<&Value> {
        self.declared_as(name).find(|want| kind(want) != InterfaceKind::OvsBridge)
    }

    /// Ports, bases and next hops may be called by device, by alternative name or by profile, in that order.
    pub(crate) fn device<'n>(&'n self, called: &'n str) -> &'n str {
        if self.by_name.contains_key(called) || !self.was.named(called).is_empty() {
            return called;
        }
        if let Some(function) = VirtualFunction::parse(called) {
            return function.interface(self.observed).unwrap_or(called);
        }
        let known =
            || interfaces(self.before).iter().chain(self.declared.iter().map(|declared| &declared.want));
        let by_alternative = known().find(|known| has_alternative_name(known, called));
        // A device that the document declares is known twice.
        let by_profile = || known().filter(|known| text(known, "profile-name") == Some(called)).map(name);
        let only_profile = || by_profile().next().filter(|first| by_profile().all(|other| other == *first));
        by_alternative.map(name).or_else(only_profile).unwrap_or(called)
    }

    /// Ports that nobody can see or manage are in no port list: vanished ones, types NMState does not know,
    /// and devices NetworkManager is configured to leave unmanaged.
    pub(crate) fn is_hidden(&self, port: &str) -> bool {
        self.is_phantom(port) || self.is_ignored(port)
    }

    /// Ports that are none of a declared controller's business: hidden ones, and those that others attached, unless
    /// the document speaks of them.
    pub(crate) fn stays_with(&self, controller: &Value, port: &str) -> bool {
        self.is_hidden(port) || (!foreign_port::is_strict(controller) && self.is_foreign(port))
    }

    /// Others attached it, and the document does not speak of it.
    pub(crate) fn is_foreign(&self, port: &str) -> bool {
        let marked = |interface: Option<&Value>| interface.is_some_and(foreign_port::is_marked);
        let spoken_of = self.declares(port).is_some() || self.claimed_by(port).is_some();
        !spoken_of
            && (marked(self.now(port, InterfaceKind::Unknown))
                || marked(self.was(port, InterfaceKind::Unknown)))
    }

    /// A port that no interface stands behind: OVS remembers ports of devices that are long gone.
    pub(crate) fn is_phantom(&self, port: &str) -> bool {
        self.now(port, InterfaceKind::Unknown).is_none_or(|port| kind(port) == InterfaceKind::Unknown)
    }

    pub(crate) fn is_ignored(&self, device: &str) -> bool {
        let ignored = |entry: Option<&Value>| entry.is_some_and(|entry| state::condition(entry) == "ignore");
        if self.declares(device).is_some() {
            return false;
        }
        // What others leave unmanaged and attach during the change, too.
        ignored(self.said.find(device, InterfaceKind::Unknown))
            || ignored(self.was(device, InterfaceKind::Unknown))
            || (self.was(device, InterfaceKind::Unknown).is_none()
                && ignored(self.now(device, InterfaceKind::Unknown)))
    }
}

pub(crate) fn has_alternative_name(interface: &Value, called: &str) -> bool {
    state::list(interface, &["alt-names"]).iter().any(|entry| !is_absent(entry) && name(entry) == called)
}

fn holders(observed: &Value) -> HashMap<IpAddr, Vec<&Value>> {
    let mut holders: HashMap<IpAddr, Vec<&Value>> = HashMap::new();
    for interface in interfaces(observed) {
        state::addresses(interface)
            .for_each(|address| holders.entry(address.addr()).or_default().push(interface));
    }
    holders
}

/// The host before a change, to find devices on.
struct DeviceResolver<'a> {
    before: &'a Value,
    /// Where virtual functions are found that the change itself makes.
    after: &'a Value,
    index: InterfaceIndex<'a>,
    by_mac_profile: Vec<&'a Value>,
}

impl<'a> DeviceResolver<'a> {
    fn new(before: &'a Value, after: &'a Value) -> Self {
        let by_mac_profile = kernel(before).filter(|known| bound_by_mac(known)).collect();
        Self { before, after, index: InterfaceIndex::new(before), by_mac_profile }
    }

    /// A name without a type may mean two devices (an OVS bridge and its internal interface) when they are to go.
    fn resolve(&self, entry: &Value) -> Vec<Declared> {
        let path = Path::interface(name(entry));
        let declared = |want: Value| Declared { path: path.clone(), want };
        let same_name = self.index.named(name(entry));
        if kind(entry) == InterfaceKind::Unknown && is_absent(entry) && !same_name.is_empty() {
            return same_name.iter().map(|known| declared(as_device(entry, Some(known)))).collect();
        }
        vec![declared(as_device(entry, self.device_of(entry)))]
    }

    /// The device an entry means: by MAC or PCI address if it says so, by name, or by an alternative name.
    fn device_of(&self, entry: &Value) -> Option<&'a Value> {
        if kind(entry).is_userspace() {
            return self.index.find(name(entry), kind(entry));
        }
        match text(entry, "identifier") {
            Some("mac-address") if is_up(entry) => self.by_mac(entry),
            Some("pci-address") if is_up(entry) => {
                let slot = entry.get("pci-address")?;
                kernel(self.before).find(|known| known.get("pci-address") == Some(slot))
            }
            _ => self.by_name(entry),
        }
    }

    fn by_name(&self, entry: &Value) -> Option<&'a Value> {
        if let Some(function) = VirtualFunction::parse(name(entry)) {
            let interface = function.interface(self.after)?;
            return kernel(self.after).find(|known| name(known) == interface);
        }
        let mut bound = self.by_mac_profile.iter().copied();
        bound
            .find(|known| text(known, "profile-name") == Some(name(entry)))
            .or_else(|| self.index.find(name(entry), kind(entry)))
            .or_else(|| kernel(self.before).find(|known| has_alternative_name(known, name(entry))))
    }

    fn by_mac(&self, entry: &Value) -> Option<&'a Value> {
        let mac: MacAddress = text(entry, "mac-address")?.parse().ok()?;
        let fits =
            |known: &Value| kind(entry) == InterfaceKind::Unknown || kind(entry).is_same_device(&kind(known));
        let has =
            |known: &Value, key| text(known, key).is_some_and(|known| known.parse().as_ref() == Ok(&mac));
        let with = |key| kernel(self.before).find(|known| fits(known) && has(known, key));
        with("permanent-mac-address").or_else(|| with("mac-address"))
    }
}

fn kernel(state: &Value) -> impl Iterator<Item = &Value> {
    interfaces(state).iter().filter(|known| !kind(known).is_userspace())
}

fn bound_by_mac(interface: &Value) -> bool {
    text(interface, "identifier") == Some("mac-address")
}

/// The entry under the device's own name and type; the name it was called by becomes the profile's.
fn as_device(entry: &Value, device: Option<&Value>) -> Value {
    let mut want = entry.clone();
    let (Some(device), Some(fields)) = (device, want.as_object_mut()) else {
        return want;
    };
    if kind(entry) == InterfaceKind::Unknown {
        fields.insert("type".into(), kind(device).as_str().into());
    }
    if name(device) != name(entry) {
        fields.insert("name".into(), name(device).into());
        if text(entry, "profile-name").is_none()
            && !is_reference(name(entry))
            && text(device, "profile-name").is_none_or(|known| known == name(entry))
        {
            fields.insert("profile-name".into(), name(entry).into());
        }
    }
    want
}
