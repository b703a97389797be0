//! A host in a few lines: it does what a plan names, and nothing else.

use linesman_core::path::PathStep;
use linesman_core::plan::{Change, ChangeKind, Plan, Subject};
use serde_json::{Map, Value, json};

/// A node with four NICs; eth0 carries the default route.
pub fn host() -> Value {
    let nic = |number: usize| {
        let mac = format!("02:00:00:00:00:{number:02X}");
        let mut nic = bare(&format!("eth{number}"), "ethernet");
        nic["mac-address"] = mac.into();
        nic
    };
    let mut interfaces: Vec<Value> = (0..4).map(nic).collect();
    interfaces[0]["ipv4"] =
        json!({"enabled": true, "dhcp": false, "address": [{"ip": "192.0.2.2", "prefix-length": 24}]});
    let default = json!({"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.1", "next-hop-interface": "eth0", "metric": 100, "table-id": 254});
    json!({
        "interfaces": interfaces,
        "routes": {"running": [default.clone()], "config": [default]},
        "route-rules": {"config": []},
        "dns-resolver": {"running": {"server": [], "search": []}, "config": {"server": [], "search": []}},
    })
}

fn bare(name: &str, kind: &str) -> Value {
    json!({"name": name, "type": kind, "state": "up", "mtu": 1500,
        "ipv4": {"enabled": false, "dhcp": false}, "ipv6": {"enabled": false, "dhcp": false, "autoconf": false}})
}

/// The host after `plan`, which was made for `desired`.
pub fn apply(plan: &Plan, desired: &Value, host: &Value) -> Value {
    let mut host = host.clone();
    for change in &plan.changes {
        match &change.subject {
            Subject::Interface { name, kind } => interface(change, name, kind.as_str(), desired, &mut host),
            Subject::Route { .. } => entries(change, "routes", &["config", "running"], &mut host),
            Subject::RouteRule { .. } => entries(change, "route-rules", &["config"], &mut host),
            Subject::Dns => {
                for side in ["config", "running"] {
                    merge(&mut host["dns-resolver"][side], &desired["dns-resolver"]["config"]);
                }
            }
            Subject::Hostname | Subject::OvsDb => {}
        }
    }
    settle(&mut host);
    host
}

fn list<'a>(value: &'a mut Value, key: &str) -> &'a mut Vec<Value> {
    value[key].as_array_mut().expect("the model has this list")
}

fn interface(change: &Change, name: &str, kind: &str, desired: &Value, host: &mut Value) {
    let named = |entry: &Value| entry["name"] == name && entry["type"] == kind;
    let wanted =
        desired["interfaces"].as_array().and_then(|all| all.iter().find(|entry| entry["name"] == name));
    let all = list(host, "interfaces");
    match (change.kind, wanted) {
        (ChangeKind::Remove, _) => all.retain(|entry| !named(entry)),
        (ChangeKind::Add, Some(wanted)) => {
            let mut made = bare(name, kind);
            merge(&mut made, wanted);
            all.push(made);
        }
        (ChangeKind::Modify, wanted) => {
            let now = all.iter_mut().find(|entry| named(entry)).expect("what is modified is there");
            match wanted {
                Some(wanted) => merge(now, wanted),
                // Not declared itself: it follows a controller, as the details say.
                None => change.details.iter().for_each(|detail| {
                    if let [_, _, rest @ ..] = detail.path.steps() {
                        set(now, rest, &detail.want);
                    }
                }),
            }
        }
        _ => {}
    }
}

fn set(value: &mut Value, steps: &[PathStep], want: &Value) {
    match steps {
        [PathStep::Key(key)] => value[key.as_str()] = want.clone(),
        [PathStep::Key(key), rest @ ..] => set(&mut value[key.as_str()], rest, want),
        _ => {}
    }
}

/// Mappings are merged, everything else is replaced.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Object(Map::new())), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

fn entries(change: &Change, section: &str, sides: &[&str], host: &mut Value) {
    for side in sides {
        let all = list(&mut host[section], side);
        for detail in &change.details {
            all.retain(|entry| *entry != detail.got);
            if detail.want["state"] == "absent" {
                continue;
            }
            if detail.want.is_object() {
                let mut entry =
                    if section == "routes" { json!({"table-id": 254, "metric": 0}) } else { json!({}) };
                merge(&mut entry, &detail.want);
                all.push(entry);
            }
        }
    }
}

/// What the kernel does by itself: a port has one controller and no addresses, and a route goes with its interface's addresses.
fn settle(host: &mut Value) {
    let interfaces = host["interfaces"].as_array().cloned().unwrap_or_default();
    let controller = |port: &str| {
        interfaces.iter().rev().find(|entry| {
            entry["bridge"]["port"]
                .as_array()
                .is_some_and(|ports| ports.iter().any(|entry| entry["name"] == port))
        })
    };
    for entry in list(host, "interfaces") {
        let name = entry["name"].as_str().unwrap_or_default().to_owned();
        match controller(&name) {
            Some(owner) => {
                entry["controller"] = owner["name"].clone();
                entry["ipv4"] = json!({"enabled": false, "dhcp": false});
                entry["ipv6"] = json!({"enabled": false, "dhcp": false, "autoconf": false});
            }
            None => drop(entry.as_object_mut().and_then(|fields| fields.remove("controller"))),
        }
    }
    let usable = |entry: &&Value| entry["ipv4"]["enabled"] == true;
    let now = host["interfaces"].as_array().cloned().unwrap_or_default();
    let ways: Vec<&str> = now.iter().filter(usable).filter_map(|entry| entry["name"].as_str()).collect();
    for side in ["config", "running"] {
        let leads =
            |route: &Value| route["next-hop-interface"].as_str().is_none_or(|name| ways.contains(&name));
        list(&mut host["routes"], side).retain(leads);
    }
}
