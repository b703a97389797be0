//! A state kept up to date by what the kernel says has changed, instead of asking everybody again. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use crate::state;

/// `full` with everything that differs between two looks at the kernel, `before` and `now`. A look need not contain
/// everything: what it does not speak of stays as it was until the next full look.
pub fn patch(full: &Value, before: &Value, now: &Value) -> Value {
    let mut state = full.as_object().cloned().unwrap_or_default();
    let interfaces =
        patch_interfaces(state::interfaces(full), state::interfaces(before), state::interfaces(now));
    state.insert("interfaces".into(), interfaces.into());
    for section in ["routes", "route-rules"] {
        for list in ["running", "config"] {
            let (before, now) = (state::list(before, &[section, list]), state::list(now, &[section, list]));
            if before != now {
                let entries = patch_entries(state::list(full, &[section, list]), before, now);
                let holder = state.entry(section).or_insert_with(|| Value::Object(Map::new()));
                holder[list] = entries.into();
            }
        }
    }
    if before.get("hostname") != now.get("hostname")
        && let Some(running) = state::at(now, &["hostname", "running"])
    {
        let holder = state.entry("hostname").or_insert_with(|| Value::Object(Map::new()));
        holder["running"] = running.clone();
    }
    Value::Object(state)
}

/// One pass over each list: a host with thousands of interfaces has a burst of events for each of them.
fn patch_interfaces(full: &[Value], before: &[Value], now: &[Value]) -> Vec<Value> {
    let (known, old, new) = (by_identity(full), by_identity(before), by_identity(now));
    let mut patched: Vec<Value> = Vec::with_capacity(full.len());
    for interface in full {
        let identity = Identity::of(interface);
        match (old.get(&identity), new.get(&identity)) {
            (Some(_), None) => {}
            (Some(before), Some(now)) => patched.push(patch_value(interface, before, now)),
            (None, _) => patched.push(interface.clone()),
        }
    }
    let is_new = |interface: &&Value| {
        let identity = Identity::of(interface);
        !old.contains_key(&identity) && !known.contains_key(&identity)
    };
    patched.extend(now.iter().filter(is_new).cloned());
    patched
}

/// An OVS bridge and its internal interface share a name, and are two.
#[derive(Clone, Copy, Eq, Hash)]
struct Identity<'a> {
    name: &'a str,
    userspace: bool,
}

impl<'a> Identity<'a> {
    fn of(interface: &'a Value) -> Self {
        Self { name: state::name(interface), userspace: state::kind(interface).is_userspace() }
    }
}

impl PartialEq for Identity<'_> {
    fn eq(&self, other: &Self) -> bool {
        #[cfg(test)]
        tests::COMPARISONS.set(tests::COMPARISONS.get() + 1);
        (self.name, self.userspace) == (other.name, other.userspace)
    }
}

fn by_identity(interfaces: &[Value]) -> HashMap<Identity<'_>, &Value> {
    // The first of a name counts.
    interfaces.iter().rev().map(|interface| (Identity::of(interface), interface)).collect()
}

/// Keys of which the two looks differ are taken from the new one, however deep they lie.
fn patch_value(full: &Value, before: &Value, now: &Value) -> Value {
    if before == now {
        return full.clone();
    }
    let (Value::Object(known), Value::Object(new)) = (full, now) else { return now.clone() };
    let nothing = Map::new();
    let old = before.as_object().unwrap_or(&nothing);
    let mut patched = known.clone();
    for (key, value) in new {
        let was = old.get(key).unwrap_or(&Value::Null);
        if was != value {
            let known = known.get(key).unwrap_or(&Value::Null);
            patched.insert(key.clone(), patch_value(known, was, value));
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patched.shift_remove(key);
    }
    Value::Object(patched)
}

fn patch_entries(full: &[Value], before: &[Value], now: &[Value]) -> Vec<Value> {
    let set = |entries: &[Value]| entries.iter().map(spelled).collect::<HashSet<String>>();
    let (known, old, new) = (set(full), set(before), set(now));
    let gone = |entry: &&Value| {
        let entry = spelled(entry);
        old.contains(&entry) && !new.contains(&entry)
    };
    let is_new = |entry: &&Value| {
        let entry = spelled(entry);
        !old.contains(&entry) && !known.contains(&entry)
    };
    let mut entries: Vec<Value> = full.iter().filter(|entry| !gone(entry)).cloned().collect();
    entries.extend(now.iter().filter(is_new).cloned());
    entries
}

/// The same for two entries that differ in the order of their keys only.
fn spelled(entry: &Value) -> String {
    let sorted: BTreeMap<&String, &Value> = entry.as_object().into_iter().flatten().collect();
    sorted.into_iter().map(|(key, value)| format!("{key}={value};")).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use serde_json::json;

    thread_local! {
        /// How often two interfaces were compared with each other.
        pub(super) static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn the_work_grows_with_the_interfaces_not_with_their_square() {
        let host = |mtu: u64| {
            let interface = |n: usize| json!({ "name": format!("eth{n}"), "type": "ethernet", "mtu": mtu });
            let route = |n: usize| json!({ "next-hop-interface": format!("eth{n}"), "metric": mtu });
            json!({ "interfaces": (0..5000).map(interface).collect::<Vec<_>>(),
                "routes": { "running": (0..5000).map(route).collect::<Vec<_>>() } })
        };
        let now = patch(&host(1500), &host(1500), &host(9000));
        assert_eq!(now, host(9000));
        let comparisons = COMPARISONS.get();
        assert!((1..100_000).contains(&comparisons), "{comparisons}");
    }

    fn kernel(mtu: u64, address: &str) -> Value {
        json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "mtu": mtu,
            "ipv4": { "enabled": true, "address": [{ "ip": address }] } }] })
    }

    fn full() -> Value {
        json!({ "interfaces": [
            { "name": "eth0", "type": "ethernet", "mtu": 1500, "lldp": { "enabled": true },
              "ipv4": { "enabled": true, "dhcp": true, "auto-dns": true, "address": [{ "ip": "10.0.0.1" }] } },
            { "name": "br-ex", "type": "ovs-bridge" } ],
          "dns-resolver": { "config": {} } })
    }

    #[test]
    fn what_changed_is_taken_and_the_rest_is_left() {
        let now = patch(&full(), &kernel(1500, "10.0.0.1"), &kernel(9000, "10.0.0.2"));
        assert_eq!(now["interfaces"][0]["mtu"], 9000);
        assert_eq!(now["interfaces"][0]["ipv4"]["address"], json!([{ "ip": "10.0.0.2" }]));
        assert_eq!(now["interfaces"][0]["ipv4"]["dhcp"], true);
        assert_eq!(now["interfaces"][0]["lldp"]["enabled"], true);
        assert_eq!(now["interfaces"][1]["type"], "ovs-bridge");
        assert_eq!(now["dns-resolver"], json!({ "config": {} }));
    }

    #[test]
    fn nothing_changed_nothing_changes() {
        let kernel = kernel(1500, "10.0.0.1");
        assert_eq!(patch(&full(), &kernel, &kernel), full());
    }

    #[test]
    fn interfaces_come_and_go() {
        let empty = json!({ "interfaces": [] });
        let gone = patch(&full(), &kernel(1500, "10.0.0.1"), &empty);
        assert_eq!(gone["interfaces"].as_array().unwrap().len(), 1);
        let back = patch(&gone, &empty, &kernel(1500, "10.0.0.1"));
        assert_eq!(back["interfaces"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn routes_come_and_go_one_by_one() {
        let routes = |to: &[&str]| {
            let entries: Vec<Value> = to.iter().map(|d| json!({ "destination": d })).collect();
            json!({ "routes": { "config": entries } })
        };
        let mut full = routes(&["10.1.0.0/16", "10.2.0.0/16"]);
        full["routes"]["running"] = json!([]);
        let now =
            patch(&full, &routes(&["10.1.0.0/16", "10.2.0.0/16"]), &routes(&["10.2.0.0/16", "10.3.0.0/16"]));
        assert_eq!(now["routes"]["config"], routes(&["10.2.0.0/16", "10.3.0.0/16"])["routes"]["config"]);
    }
}
