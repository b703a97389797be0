//! A state as the checks read it: lenient, because the schema speaks about types.

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::Value;

use super::ports::{Port, ports_of};
use crate::interface_kind::InterfaceKind;
use crate::path::Path;

pub(super) struct State<'a> {
    pub value: &'a Value,
    pub interfaces: Vec<Interface<'a>>,
    /// Every port of every controller that shall be up.
    pub ports: Vec<Port<'a>>,
    kernel: HashMap<&'a str, usize>,
    controllers: HashMap<&'a str, usize>,
}

pub(super) struct Interface<'a> {
    pub value: &'a Value,
    pub path: Path,
    /// Empty when missing, or known only once captures are resolved.
    pub name: &'a str,
    pub kind: InterfaceKind,
    pub presence: Presence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Up,
    Down,
    Absent,
    Ignore,
}

impl<'a> State<'a> {
    pub fn new(value: &'a Value) -> Self {
        let path = Path::root().key("interfaces");
        let entries = items(value.get("interfaces"), &path);
        let interfaces: Vec<Interface<'a>> =
            entries.map(|(path, value)| Interface::new(value, path)).collect();
        let kernel = index(&interfaces, |i| !i.kind.is_userspace() && i.presence != Presence::Ignore);
        let controllers = index(&interfaces, |i| i.kind.has_ports());
        let up = interfaces.iter().filter(|interface| interface.presence == Presence::Up);
        let ports = up.flat_map(ports_of).collect();
        Self { value, interfaces, ports, kernel, controllers }
    }

    /// Interfaces that shall be up.
    pub fn up(&self) -> impl Iterator<Item = &Interface<'a>> {
        self.interfaces.iter().filter(|interface| interface.presence == Presence::Up)
    }

    /// The kernel interface of that name, unless it is only to be ignored.
    pub fn kernel(&self, name: &str) -> Option<&Interface<'a>> {
        self.kernel.get(name).map(|index| &self.interfaces[*index])
    }

    /// The bridge, bond, VRF or HSR interface of that name.
    pub fn controller(&self, name: &str) -> Option<&Interface<'a>> {
        self.controllers.get(name).map(|index| &self.interfaces[*index])
    }

    /// Whether the document removes the kernel interface `name`.
    pub fn removes(&self, name: &str) -> bool {
        self.kernel(name).is_some_and(|interface| interface.presence == Presence::Absent)
    }

    /// The entries below two keys, such as `routes` and `config`.
    pub fn entries(&self, section: &str, list: &str) -> Vec<(Path, &'a Value)> {
        let path = Path::root().key(section).key(list);
        items(self.value.get(section).and_then(|value| value.get(list)), &path).collect()
    }
}

/// The first interface of each name among those that are `wanted`.
fn index<'a>(
    interfaces: &[Interface<'a>],
    wanted: impl Fn(&Interface<'a>) -> bool,
) -> HashMap<&'a str, usize> {
    let mut index = HashMap::new();
    for (position, interface) in interfaces.iter().enumerate().filter(|(_, interface)| wanted(interface)) {
        index.entry(interface.name).or_insert(position);
    }
    index
}

impl<'a> Interface<'a> {
    fn new(value: &'a Value, path: Path) -> Self {
        let presence = match value.get("state").and_then(Value::as_str) {
            Some("absent") => Presence::Absent,
            Some("down") => Presence::Down,
            Some("ignore") => Presence::Ignore,
            _ => Presence::Up,
        };
        let word = |key| text(value.get(key)).unwrap_or_default();
        Self { value, path, name: word("name"), kind: word("type").into(), presence }
    }

    /// Chosen by its MAC or PCI address: then the name is only a label.
    pub fn is_matched(&self) -> bool {
        matches!(text(self.value.get("identifier")), Some("mac-address" | "pci-address"))
    }

    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.value.get(key)
    }

    /// A mapping of the interface under its key, or under the key's older spelling.
    pub fn section(&self, keys: &[&'static str]) -> Option<(Path, &'a Value)> {
        let key = keys.iter().find(|key| self.value.get(key).is_some_and(Value::is_object))?;
        Some((self.path.key(*key), self.value.get(key)?))
    }

    pub fn ip_enabled(&self, family: &str) -> Option<bool> {
        boolean(self.value.get(family)?.get("enabled"))
    }
}

/// Text that is known now; what refers to a capture is known only on a host.
pub(super) fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !is_template(text))
}

pub(super) fn family(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}

pub(super) fn is_template(text: &str) -> bool {
    text.contains("{{")
}

/// NMState takes numbers as text too.
pub(super) fn number(value: Option<&Value>) -> Option<i128> {
    match value? {
        Value::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    }
}

/// NMState takes booleans as words and numbers too.
pub(super) fn boolean(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => match number.as_u64() {
            Some(1) => Some(true),
            Some(0) => Some(false),
            _ => None,
        },
        Value::String(text) => match text.to_lowercase().as_str() {
            "1" | "true" | "yes" | "on" | "y" => Some(true),
            "0" | "false" | "no" | "off" | "n" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The items of a list with their places; nothing when it is no list.
pub(super) fn items<'a>(
    list: Option<&'a Value>,
    path: &Path,
) -> impl Iterator<Item = (Path, &'a Value)> + use<'a> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let path = path.clone();
    items.iter().enumerate().map(move |(index, value)| (path.index(index), value))
}
