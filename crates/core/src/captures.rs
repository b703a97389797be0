//! What the captures of a policy found, kept with the policy. Pure.
//!
//! "The NIC with the default route" is another interface once the policy has put that NIC into a bridge. So captures
//! are resolved once, and kept until their text is edited; then they are resolved on the host as it would be without
//! the policy.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::state;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// As the policy has it.
    pub capture: Value,
    /// By name of the capture: the state that it found.
    pub found: Value,
    /// The interfaces that the policy has a part in.
    #[serde(default)]
    pub touched: BTreeSet<String>,
    /// These interfaces, and the routes through them, as they were before the policy.
    #[serde(default)]
    pub before: Value,
}

impl Captured {
    /// `state` is what the policy declares with these captures, `observed` the host before that is applied, `former` what was
    /// kept of the version before.
    pub fn keep(
        capture: &Value,
        found: Value,
        state: &Value,
        observed: &Value,
        former: Option<&Self>,
    ) -> Self {
        let (known, mut before) = former.map(|f| (f.touched.clone(), f.before.clone())).unwrap_or_default();
        let new: BTreeSet<String> = touched(state).into_iter().filter(|name| !known.contains(name)).collect();
        add(&mut before, &select(observed, |name| new.contains(name)));
        let touched = known.into_iter().chain(new).collect();
        Self { capture: capture.clone(), found, touched, before }
    }

    /// The host as it would be without the policy.
    pub fn without_policy(&self, observed: &Value) -> Value {
        let mut state = observed.clone();
        let others = select(observed, |name| !self.touched.contains(name));
        for key in ["interfaces", "routes"] {
            if let Some(map) = state.as_object_mut() {
                map.insert(key.into(), others[key].clone());
            }
        }
        add(&mut state, &self.before);
        state
    }
}

/// The interfaces that a state declares, and their ports.
fn touched(state: &Value) -> BTreeSet<String> {
    let interfaces = state::interfaces(state).iter();
    let names =
        interfaces.flat_map(|i| std::iter::once(state::name(i)).chain(state::ports(i).unwrap_or_default()));
    names.map(str::to_owned).collect()
}

/// Interfaces by their name, and routes by that of their interface.
fn select(state: &Value, is_meant: impl Fn(&str) -> bool) -> Value {
    let interfaces = state::interfaces(state).iter().filter(|i| is_meant(state::name(i)));
    let mut routes = Map::new();
    for list in ["running", "config"] {
        let through = |route: &&Value| is_meant(state::text(route, "next-hop-interface").unwrap_or_default());
        let entries: Vec<&Value> = state::list(state, &["routes", list]).iter().filter(through).collect();
        routes.insert(list.into(), json!(entries));
    }
    json!({ "interfaces": interfaces.collect::<Vec<_>>(), "routes": routes })
}

fn add(state: &mut Value, more: &Value) {
    for keys in [&["interfaces"][..], &["routes", "running"], &["routes", "config"]] {
        let all = [state::list(state, keys), state::list(more, keys)].concat();
        match keys {
            [section, list] => state[*section][*list] = all.into(),
            _ => state[keys[0]] = all.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(interface: &str) -> Value {
        json!({ "destination": "0.0.0.0/0", "next-hop-interface": interface })
    }

    fn host(interfaces: &[&str], gateway: &str) -> Value {
        let named = |name: &&str| json!({ "name": name, "type": "ethernet", "ipv4": { "gateway": *name == gateway } });
        json!({ "interfaces": interfaces.iter().map(named).collect::<Vec<_>>(), "dns-resolver": {},
            "routes": { "running": [route(gateway), route("eth9")], "config": [route(gateway)] } })
    }

    fn bridge(ports: &[&str]) -> Value {
        let ports: Vec<Value> = ports.iter().map(|port| json!({ "name": port })).collect();
        json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "bridge": { "port": ports } }] })
    }

    fn names(state: &Value) -> Vec<&str> {
        state::interfaces(state).iter().map(state::name).collect()
    }

    #[test]
    fn without_the_policy_the_host_is_as_before_it_but_for_what_others_changed() {
        let before = host(&["eth0", "eth1", "eth9"], "eth0");
        let kept = Captured::keep(&json!({}), json!({}), &bridge(&["eth0"]), &before, None);
        let after = host(&["br1", "eth0", "eth1", "eth9", "eth10"], "br1");
        let without = kept.without_policy(&after);
        assert_eq!(names(&without), ["eth1", "eth9", "eth10", "eth0"]);
        assert_eq!(without["routes"]["config"], json!([route("eth0")]));
        assert_eq!(without["routes"]["running"], json!([route("eth9"), route("eth0")]));
        assert_eq!(state::interfaces(&without)[3]["ipv4"]["gateway"], true, "as it was, not as it is");
        assert_eq!(without["dns-resolver"], json!({}));
    }

    #[test]
    fn what_an_edited_version_touches_in_addition_is_remembered_as_it_was_before_that() {
        let before = host(&["eth0", "eth1"], "eth0");
        let first = Captured::keep(&json!({}), json!({}), &bridge(&["eth0"]), &before, None);
        let after = host(&["br1", "eth0", "eth1"], "br1");
        let second = Captured::keep(&json!({}), json!({}), &bridge(&["eth0", "eth1"]), &after, Some(&first));
        assert_eq!(names(&second.before), ["eth0", "eth1"]);
        assert_eq!(second.before["routes"]["config"], json!([route("eth0")]));
        assert_eq!(second.touched, ["br1", "eth0", "eth1"].map(String::from).into());
    }
}
