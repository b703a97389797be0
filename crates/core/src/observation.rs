//! A state kept up to date by what the kernel says has changed, instead of asking everybody again. Pure.

use serde_json::{Map, Value};

use crate::state::{self, is_same_interface};

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

fn patch_interfaces(full: &[Value], before: &[Value], now: &[Value]) -> Vec<Value> {
    let find = |list: &[Value], like: &Value| list.iter().find(|i| is_same_interface(i, like)).cloned();
    let mut patched: Vec<Value> = full
        .iter()
        .filter(|i| find(before, i).is_none() || find(now, i).is_some())
        .map(|i| match (find(before, i), find(now, i)) {
            (Some(before), Some(now)) => patch_value(i, &before, &now),
            _ => i.clone(),
        })
        .collect();
    let new = now.iter().filter(|i| find(before, i).is_none() && find(full, i).is_none());
    patched.extend(new.cloned());
    patched
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
    let gone = |e: &&Value| before.contains(e) && !now.contains(e);
    let mut entries: Vec<Value> = full.iter().filter(|e| !gone(e)).cloned().collect();
    entries.extend(now.iter().filter(|e| !before.contains(e) && !full.contains(e)).cloned());
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
