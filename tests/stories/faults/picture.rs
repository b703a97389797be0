//! A host's state as far as a cell compares it.

use std::collections::BTreeSet;

use linesman_tests::Host;
use serde_json::{Map, Value};

const INTERFACES: [&str; 7] = ["eth0", "eth1", "eth2", "br1", "br-ex", "br-foreign", "foreign0"];
/// Counters, timers, what the kernel chooses anew, and what daemons leave in it when they die: NetworkManager its
/// MPTCP endpoints, a vswitchd with userspace bridges the promiscuity of their uplinks.
/// A port's path cost follows the speed of its link unless NetworkManager, which is late at times, has set its default.
/// For a while after a port came or went the kernel shortens a bridge's ageing time, and what NetworkManager asks of
/// IPv6 addresses is shown only while it has the device.
const NOISE: [&str; 15] = [
    "stp-path-cost",
    "mac-ageing-time",
    "addr-gen-mode",
    "accept-all-mac-addresses",
    "mptcp-flags",
    "mptcp",
    "lldp",
    "ethtool",
    "min-mtu",
    "max-mtu",
    "driver",
    "hello-timer",
    "gc-timer",
    "permanent-mac-address",
    "wait-ip",
];

/// One line per property, so that two of them can be compared line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    state: BTreeSet<String>,
    /// Kind, interface and name of every profile, on disk and in memory.
    profiles: BTreeSet<String>,
}

impl Picture {
    pub fn of(host: &Host) -> Self {
        let state = host.state();
        let mut lines = BTreeSet::new();
        for interface in state["interfaces"].as_array().into_iter().flatten() {
            let name = interface["name"].as_str().unwrap_or_default();
            if INTERFACES.contains(&name) {
                let place = format!("{name}/{}", interface["type"].as_str().unwrap_or_default());
                flatten(&place, &quiet(interface), &mut lines);
            }
        }
        for key in ["routes", "dns-resolver", "hostname"] {
            flatten(key, &state[key]["config"], &mut lines);
        }
        flatten("ovs-db", &state["ovs-db"], &mut lines);
        Self { state: lines, profiles: profiles(host) }
    }

    /// `None` if they are the same; else what is missing (`-`) and what is too much (`+`).
    pub fn difference(&self, now: &Self) -> Option<String> {
        let lines = |sign: char, from: &BTreeSet<String>, without: &BTreeSet<String>| {
            from.difference(without).map(|line| format!("  {sign} {line}\n")).collect::<String>()
        };
        let text = [
            lines('-', &self.state, &now.state),
            lines('+', &now.state, &self.state),
            lines('-', &self.profiles, &now.profiles),
            lines('+', &now.profiles, &self.profiles),
        ]
        .concat();
        (!text.is_empty()).then_some(text)
    }
}

fn quiet(interface: &Value) -> Value {
    let mut copy = interface.clone();
    if let Some(map) = copy.as_object_mut() {
        strip(map);
        // A bridge that is made anew has a new one.
        if interface["type"] != "ethernet" {
            map.remove("mac-address");
        }
    }
    copy
}

fn strip(map: &mut Map<String, Value>) {
    map.retain(|key, _| !NOISE.contains(&key.as_str()));
    for value in map.values_mut() {
        match value {
            Value::Object(inner) => strip(inner),
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(strip),
            _ => {}
        }
    }
}

/// Lists are sets here: the order of addresses and ports means nothing. Link-local addresses come with
/// the kernel's choice of MAC, and the virtual IP is looked for from outside.
fn flatten(place: &str, value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| flatten(&format!("{place}.{key}"), value, into))
        }
        Value::Array(list) => list.iter().for_each(|item| {
            let text = item.to_string();
            if !text.contains("fe80:") && !text.contains(super::foreign::VIP) {
                into.insert(format!("{place}[] {text}"));
            }
        }),
        other => _ = into.insert(format!("{place} = {other}")),
    }
}

fn profiles(host: &Host) -> BTreeSet<String> {
    const LIST: &str = "cd /; for f in etc/NetworkManager/system-connections/*.nmconnection \
        run/NetworkManager/system-connections/*.nmconnection; do [ -e \"$f\" ] || continue
        echo \"${f%%/*} $(grep -m 3 -E '^(id|type|interface-name)=' \"$f\" | sort | tr '\\n' ' ')\"; done";
    let text = host.node.sh(LIST).expect("profiles can be listed");
    text.lines().map(|line| format!("profile {line}")).collect()
}
