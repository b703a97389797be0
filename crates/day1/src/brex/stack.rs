//! The uplink and everything below it: the base of a VLAN, the ports of a bond.

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{at, base, interfaces, kind, name, ports, text};
use serde_json::{Map, Value, json};

/// A device of the kernel by its name.
pub(super) fn device<'a>(observed: &'a Value, wanted: &str) -> Option<&'a Value> {
    interfaces(observed).iter().find(|it| name(it) == wanted && !kind(it).is_userspace())
}

/// The uplink first, then what it is built on.
pub(super) fn members<'a>(observed: &'a Value, uplink: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![uplink];
    let mut next = 0;
    while let Some(member) = found.get(next).copied() {
        let below = base(member).map(|(_, base)| base).into_iter().chain(ports(member).unwrap_or_default());
        for device in below.filter_map(|name| device(observed, name)) {
            if !found.iter().any(|known| std::ptr::eq(*known, device)) {
                found.push(device);
            }
        }
        next += 1;
    }
    found
}

/// As it is, with its MTU; the uplink without its IP configuration.
pub(super) fn entry(imported: &Value, member: &Value, uplink: &Value) -> Value {
    let described = device(imported, name(member)).and_then(Value::as_object);
    let mut rest = described.cloned().unwrap_or_default();
    let mut entry = Map::new();
    entry.insert("name".into(), name(member).into());
    let kind = rest.shift_remove("type").unwrap_or_else(|| written_kind(member).as_str().into());
    entry.insert("type".into(), kind);
    entry.insert("state".into(), "up".into());
    if let Some(mac) = own_mac(member) {
        rest.insert("mac-address".into(), mac.into());
    } else if self::kind(member) == InterfaceKind::Bond {
        rest.shift_remove("mac-address");
    }
    for key in ["description", "identifier", "pci-address", "mac-address"] {
        entry.extend(rest.shift_remove(key).map(|value| (key.to_owned(), value)));
    }
    entry.extend(member.get("mtu").map(|mtu| ("mtu".to_owned(), mtu.clone())));
    if std::ptr::eq(member, uplink) {
        rest.shift_remove("wait-ip");
        entry.extend(["ipv4", "ipv6"].map(|family| (family.to_owned(), json!({ "enabled": false }))));
    }
    for (key, value) in rest {
        entry.entry(key).or_insert(value);
    }
    Value::Object(entry)
}

/// A NIC that no profile describes.
fn written_kind(member: &Value) -> InterfaceKind {
    if kind(member).is_nic() { InterfaceKind::Ethernet } else { kind(member) }
}

/// A bond has that of the port that came first, which may be another one after the next boot. With `fail_over_mac` it
/// has that of the port in use, and must not be given one.
fn own_mac(member: &Value) -> Option<&str> {
    let policy = at(member, &["link-aggregation", "options", "fail_over_mac"]).and_then(Value::as_str);
    let keeps_one = policy.is_none_or(|policy| policy == "none");
    text(member, "mac-address").filter(|_| kind(member) == InterfaceKind::Bond && keeps_one)
}
