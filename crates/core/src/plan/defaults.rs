//! `--override-iface`: what a document omits of its interfaces returns to the default.
//!
//! The defaults are written into the document. So the plan shows what is reset, and the verification asks for it.

use serde_json::{Map, Value, json};

use crate::compare::{Declared, View};
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, flag, is_up, kind, name, text};

/// Options of a Linux bridge; both spellings of the mask are one option.
const LINUX_BRIDGE: [(&[&str], &str); 9] = [
    (&["group-fwd-mask"], "0"),
    (&["mac-ageing-time"], "300"),
    (&["multicast-snooping"], "true"),
    (&["multicast-querier"], "false"),
    (&["stp", "enabled"], "true"),
    (&["stp", "forward-delay"], "15"),
    (&["stp", "hello-time"], "2"),
    (&["stp", "max-age"], "20"),
    (&["stp", "priority"], "32768"),
];

const OVS_BRIDGE: [(&[&str], &str); 5] = [
    (&["datapath"], "\"\""),
    (&["fail-mode"], "\"\""),
    (&["mcast-snooping-enable"], "false"),
    (&["rstp"], "false"),
    (&["stp", "enabled"], "false"),
];

/// `desired` with the default of everything that it omits and that is otherwise on this host.
pub fn with_defaults(desired: &Value, observed: &Value) -> Value {
    let view = View::new(desired, observed, observed);
    let mut document = desired.clone();
    for declared in view.declared.iter().filter(|declared| is_up(&declared.want)) {
        let Some(got) = view.now(name(&declared.want), kind(&declared.want)) else { continue };
        let reset = reset(&view, declared, got);
        let entries = document.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
        for entry in entries.filter(|entry| is_entry_of(entry, declared)) {
            add(entry, &reset);
        }
    }
    document
}

fn is_entry_of(entry: &Value, declared: &Declared) -> bool {
    let unknown = kind(entry) == InterfaceKind::Unknown;
    declared.path == Path::interface(name(entry)) && (unknown || kind(entry) == kind(&declared.want))
}

/// Adds what is not there, however deep.
fn add(entry: &mut Value, more: &Map<String, Value>) {
    for (key, value) in more {
        match (entry.get_mut(key), value) {
            (Some(Value::Null) | None, value) => entry[key] = value.clone(),
            (Some(known @ Value::Object(_)), Value::Object(more)) => add(known, more),
            _ => {}
        }
    }
}

fn reset(view: &View<'_>, Declared { want, .. }: &Declared, got: &Value) -> Map<String, Value> {
    let mut reset = Map::new();
    let mut put = |key: &str, value: Value| reset.insert(key.to_owned(), value);
    let omits = |key: &str| want.get(key).is_none_or(Value::is_null);
    let of_bridge = kind(want) == InterfaceKind::OvsBridge;
    if let Some(mtu) = default_mtu(view, want, got).filter(|_| omits("mtu")) {
        put("mtu", mtu.into());
    }
    if let Some(mac) = burnt_in_mac(want, got).filter(|_| omits("mac-address") && omits("copy-mac-from")) {
        put("mac-address", mac.into());
    }
    if flag(got, "accept-all-mac-addresses") == Some(true) {
        put("accept-all-mac-addresses", false.into());
    }
    if state::at(got, &["lldp", "enabled"]) == Some(&Value::Bool(true)) {
        put("lldp", json!({ "enabled": false }));
    }
    for family in ["ipv4", "ipv6"].into_iter().filter(|_| !of_bridge) {
        if let Some(section) = addresses(&want[family], &got[family], family) {
            put(family, section);
        }
    }
    let attached = text(got, "controller").is_some_and(|controller| !controller.is_empty());
    if attached && view.claimed_by(name(want)).is_none() && !is_internal(want) {
        put("controller", "".into());
    }
    match kind(want) {
        InterfaceKind::LinuxBridge => drop(put("bridge", bridge(got, &LINUX_BRIDGE))),
        InterfaceKind::OvsBridge => drop(put("bridge", bridge(got, &OVS_BRIDGE))),
        _ => {}
    }
    reset
}

/// The internal interface of an OVS bridge cannot live without it.
fn is_internal(want: &Value) -> bool {
    kind(want) == InterfaceKind::OvsInterface
}

/// Where it is known and another one is set.
fn default_mtu(view: &View<'_>, want: &Value, got: &Value) -> Option<u64> {
    use InterfaceKind::{Bond, Dummy, Ethernet, LinuxBridge, OvsInterface, Veth, Vlan};
    let number = |interface: &Value, key: &str| interface.get(key).and_then(Value::as_u64);
    let default = match kind(got) {
        Ethernet | Veth | Bond | Dummy | LinuxBridge | OvsInterface => 1500,
        Vlan => {
            let base = state::base(want).or_else(|| state::base(got)).map(|(_, base)| view.device(base))?;
            let declared = view.declares(base).and_then(|base| number(base, "mtu"));
            declared.or_else(|| number(view.now(base, InterfaceKind::Unknown)?, "mtu"))?
        }
        _ => return None,
    };
    let allowed = number(got, "max-mtu").is_none_or(|most| most == 0 || default <= most);
    (allowed && number(got, "mtu").is_some_and(|now| now != default)).then_some(default)
}

/// A port of a bond wears the bond's.
fn burnt_in_mac<'v>(want: &Value, got: &'v Value) -> Option<&'v str> {
    let burnt_in = text(got, "permanent-mac-address").filter(|mac| !mac.is_empty())?;
    let attached = text(got, "controller").is_some_and(|controller| !controller.is_empty());
    let other = text(got, "mac-address").is_some_and(|now| !now.eq_ignore_ascii_case(burnt_in));
    (other && !attached && text(want, "identifier") != Some("mac-address")).then_some(burnt_in)
}

/// A family that is not mentioned is off; one that is on has only what is said.
fn addresses(want: &Value, got: &Value, family: &str) -> Option<Value> {
    if flag(got, "enabled") != Some(true) {
        return None;
    }
    if want.is_null() {
        return Some(json!({ "enabled": false }));
    }
    if flag(want, "enabled") == Some(false) {
        return None;
    }
    let mut section = json!({ "dhcp": false });
    if family == "ipv6" {
        section["autoconf"] = false.into();
    }
    let automatic = ["dhcp", "autoconf"].iter().any(|key| flag(want, key) == Some(true));
    if !automatic {
        section["address"] = json!([]);
    }
    Some(section)
}

/// Exactly the ports that are listed, whoever attached the others.
fn bridge(got: &Value, defaults: &[(&[&str], &str)]) -> Value {
    let mut section = json!({ "allow-extra-ports": false, "port": [] });
    for (path, default) in defaults {
        let default: Value = serde_json::from_str(default).unwrap_or_default();
        let at: Vec<&str> = ["bridge", "options"].iter().chain(path.iter()).copied().collect();
        let now = state::at(got, &at).filter(|now| !now.is_null());
        if now.is_some_and(|now| *now != default) {
            put_at(&mut section, &at[1..], default);
        }
    }
    section
}

fn put_at(section: &mut Value, path: &[&str], value: Value) {
    match path {
        [] => *section = value,
        [first, rest @ ..] => put_at(&mut section[*first], rest, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::plan::plan;

    fn host() -> Value {
        json!({ "interfaces": [
            { "name": "eth1", "type": "ethernet", "state": "up", "mtu": 9000, "max-mtu": 9216, "mac-address": "02:00:00:00:00:01",
              "permanent-mac-address": "02:00:00:00:00:99", "accept-all-mac-addresses": true, "controller": "br1",
              "lldp": { "enabled": true }, "ipv4": { "enabled": true, "dhcp": true }, "ipv6": { "enabled": false } },
            { "name": "br1", "type": "linux-bridge", "state": "up", "mtu": 1500,
              "bridge": { "options": { "mac-ageing-time": 100, "stp": { "enabled": true, "priority": 4096 } },
                          "port": [{ "name": "eth1" }] },
              "ipv4": { "enabled": true, "dhcp": false, "address": [{ "ip": "10.0.0.1", "prefix-length": 24 }] } } ] })
    }

    fn planned(desired: &Value) -> String {
        plan(&with_defaults(desired, &host()), &host(), &Facts::default()).unwrap().render(false)
    }

    #[test]
    fn what_a_document_omits_returns_to_its_default() {
        let nic = json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up" }] });
        let text = planned(&nic);
        for line in [
            "~ mtu: 9000 -> 1500",
            "~ accept-all-mac-addresses: true -> false",
            "~ lldp.enabled: true -> false",
            "~ ipv4.enabled: true -> false",
            "~ controller: br1 -> none",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn what_it_says_stays_and_so_does_what_is_default() {
        let bridge = json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up",
            "bridge": { "options": { "mac-ageing-time": 100 }, "port": [{ "name": "eth1" }] },
            "ipv4": { "enabled": true, "address": [{ "ip": "10.0.0.1", "prefix-length": 24 }] } }] });
        assert_eq!(
            planned(&bridge),
            "~ linux-bridge br1\n    ~ bridge.options.stp.priority: 4096 -> 32768\nimpact: disruptive: br1 changes\n"
        );
        let bare = json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up" }] });
        let text = planned(&bare);
        assert!(
            text.contains("- bridge.port[eth1]") && text.contains("~ ipv4.enabled: true -> false"),
            "{text}"
        );
    }

    #[test]
    fn new_interfaces_are_as_declared() {
        let new = json!({ "interfaces": [{ "name": "br9", "type": "linux-bridge", "state": "up" }] });
        assert_eq!(with_defaults(&new, &host()), new);
    }
}
