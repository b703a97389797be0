//! What must hold of any policies that meet, whatever they say.

#![allow(clippy::unwrap_used)]

use linesman_core::compose::{compose, in_order, needs};
use linesman_core::policy::{Options, Policy};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["br0", "br1", "eth0", "eth1", "eth1.7"];

fn interface() -> impl Strategy<Value = Value> {
    let ports = subsequence(vec!["eth0", "eth1"], 0..=2).prop_shuffle();
    (select(&NAMES[..]), any::<[bool; 4]>(), select(vec![1400, 1500]), ports).prop_map(
        |(name, has, mtu, ports)| {
            let mut map = Map::from_iter([("name".to_string(), json!(name))]);
            if has[0] {
                map.insert("mtu".into(), mtu.into());
            }
            if has[1] {
                map.insert("ipv4".into(), json!({ "enabled": has[2] }));
            }
            if name.starts_with("br") {
                map.insert("type".into(), "linux-bridge".into());
                if has[3] {
                    let ports: Vec<Value> = ports.iter().map(|p| json!({ "name": p })).collect();
                    map.insert("bridge".into(), json!({ "port": ports }));
                }
            }
            if name.contains('.') {
                map.insert("type".into(), "vlan".into());
                map.insert("vlan".into(), json!({ "base-iface": "eth1", "id": 7 }));
            }
            Value::Object(map)
        },
    )
}

fn route() -> impl Strategy<Value = Value> {
    (select(vec!["10.1.0.0/16", "10.2.0.0/16"]), select(&NAMES[..]), select(vec![100, 200]))
        .prop_map(|(to, by, metric)| json!({ "destination": to, "next-hop-interface": by, "metric": metric }))
}

fn policies() -> impl Strategy<Value = Vec<Policy>> {
    let one = (prop::collection::vec(interface(), 0..3), prop::collection::vec(route(), 0..2), -1_i64..2);
    prop::collection::vec(one, 1..5).prop_map(|all| {
        let policy =
            |(number, (mut interfaces, routes, priority)): (usize, (Vec<Value>, Vec<Value>, i64))| {
                interfaces.sort_by_key(|i| i["name"].to_string());
                interfaces.dedup_by_key(|i| i["name"].to_string());
                let state = json!({ "interfaces": interfaces, "routes": { "config": routes } });
                let options = Options { priority, ..Options::default() };
                Policy { name: format!("p{number}"), state, capture: None, options }
            };
        all.into_iter().enumerate().map(policy).collect()
    })
}

/// The same state, whatever the order of what has none.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(plain).collect();
            items.sort_by_key(ToString::to_string);
            items.dedup();
            Value::Array(items)
        }
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.iter().map(|(k, v)| (k.clone(), plain(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        leaf => leaf.clone(),
    }
}

/// Whether everything that `part` says is said by `whole`, too.
fn says(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|w| says(w, value)))
        }
        (Value::Array(whole), Value::Array(part)) => part.iter().all(|p| whole.iter().any(|w| says(w, p))),
        (whole, part) => whole == part,
    }
}

proptest! {
    #[test]
    fn the_order_of_policies_does_not_matter(all in policies(), turn in 0_usize..5) {
        let mut turned: Vec<&Policy> = all.iter().collect();
        turned.rotate_left(turn % all.len());
        let straight: Vec<&Policy> = all.iter().collect();
        prop_assert_eq!(compose(&straight), compose(&turned));
    }

    #[test]
    fn every_policy_holds_in_the_composition(all in policies()) {
        if let Ok(state) = compose(&all.iter().collect::<Vec<_>>()) {
            for policy in &all {
                prop_assert!(says(&state, &policy.state), "{} in {}", policy.state, state);
            }
        }
    }

    #[test]
    fn a_conflict_names_two_of_the_policies_that_cannot_stand_alone_together(all in policies()) {
        if let Err(conflicts) = compose(&all.iter().collect::<Vec<_>>()) {
            for conflict in conflicts {
                let named = |name: &str| all.iter().find(|p| p.name == name);
                let (one, other) = (named(&conflict.one.policy), named(&conflict.other.policy));
                prop_assert!(one.is_some() && other.is_some(), "{}", conflict);
                prop_assert!(compose(&[one.unwrap(), other.unwrap()]).is_err(), "{}", conflict);
            }
        }
    }

    #[test]
    fn composing_in_steps_is_composing_at_once(all in policies()) {
        let at_once = compose(&all.iter().collect::<Vec<_>>());
        let mut so_far = Policy { name: "so-far".into(), state: json!({}), capture: None, options: Options::default() };
        for policy in &all {
            match compose(&[&so_far, policy]) {
                Ok(state) => so_far.state = state,
                Err(_) => {
                    prop_assert!(at_once.is_err());
                    return Ok(());
                }
            }
        }
        if let Ok(state) = at_once {
            prop_assert_eq!(plain(&state), plain(&so_far.state));
        } else {
            prop_assert!(false, "at once {:?}, in steps {}", at_once, so_far.state);
        }
    }

    #[test]
    fn base_policies_come_first(all in policies()) {
        let ordered = in_order(&all.iter().collect::<Vec<_>>());
        prop_assert_eq!(ordered.len(), all.len());
        let makes = |policy: &Policy, name: &str| {
            policy.state["interfaces"].as_array().unwrap().iter().any(|i| i["name"] == name)
        };
        let builds_on = |upper: &Policy, lower: &Policy| needs(&upper.state).iter().any(|n| makes(lower, n));
        for (at, lower) in ordered.iter().enumerate() {
            for upper in &ordered[..at] {
                // Those that build on each other in a circle have no order.
                prop_assert!(!builds_on(upper, lower) || reaches(&all, lower, upper, &builds_on));
            }
        }
    }
}

/// Whether `start` builds, over others, on `goal`.
fn reaches(
    all: &[Policy],
    start: &Policy,
    goal: &Policy,
    builds_on: &dyn Fn(&Policy, &Policy) -> bool,
) -> bool {
    let mut reached: Vec<&Policy> = vec![start];
    let mut seen = 0;
    while seen < reached.len() {
        let here = reached[seen];
        seen += 1;
        for next in all.iter().filter(|p| p.name != here.name && builds_on(here, p)) {
            if next.name == goal.name {
                return true;
            }
            if !reached.iter().any(|p| p.name == next.name) {
                reached.push(next);
            }
        }
    }
    false
}
