//! What must be true of any plan, tried on documents made up at random and on a small model of a host.

#![allow(clippy::unwrap_used, clippy::panic)]

mod model;

use linesman_core::compare::differences;
use linesman_core::facts::Facts;
use linesman_core::path::PathStep;
use linesman_core::plan::{Detail, Plan, plan};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A document about two bridges, two dummies and three spare NICs.
#[derive(Debug, Clone)]
struct Wish {
    /// Which bridge each of eth1, eth2, eth3 is a port of.
    ports: [Option<usize>; 3],
    bridges: [Presence; 2],
    dummies: [Presence; 2],
    /// NICs that the document speaks of itself.
    nics: [Option<u64>; 3],
    routes: Vec<(usize, u8)>,
    rules: Vec<u8>,
    servers: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Presence {
    Unmentioned,
    Absent,
    /// With so many addresses.
    Up(u8),
}

fn presence() -> impl Strategy<Value = Presence> {
    prop_oneof![1 => Just(Presence::Unmentioned), 1 => Just(Presence::Absent), 3 => (0..3u8).prop_map(Presence::Up)]
}

fn wish() -> impl Strategy<Value = Wish> {
    let port = prop::option::of(0..2usize);
    let mtu = prop::option::of(prop::sample::select(vec![1400u64, 1500]));
    (
        [port.clone(), port.clone(), port],
        [presence(), presence()],
        [presence(), presence()],
        [mtu.clone(), mtu.clone(), mtu],
        prop::collection::vec((0..4usize, 0..4u8), 0..4),
        prop::collection::vec(0..4u8, 0..3),
        prop::option::of(prop::collection::vec(1..5u8, 0..3)),
    )
        .prop_map(|(ports, bridges, dummies, nics, routes, rules, servers)| Wish {
            ports,
            bridges,
            dummies,
            nics,
            routes,
            rules,
            servers,
        })
}

/// Names and address ranges of the virtual interfaces: br0, br1, dm0, dm1.
const VIRTUAL: [&str; 4] = ["br0", "br1", "dm0", "dm1"];

impl Wish {
    fn presence(&self, number: usize) -> Presence {
        self.bridges.iter().chain(&self.dummies).copied().nth(number).unwrap()
    }

    fn document(&self) -> Value {
        let mut interfaces: Vec<Value> = (0..4).filter_map(|number| self.interface(number)).collect();
        interfaces.extend((0..3).filter_map(|number| self.nic(number)));
        let mut document = json!({"interfaces": interfaces});
        let mut routes: Vec<Value> =
            self.routes.iter().filter_map(|(number, to)| self.route(*number, *to)).collect();
        routes.sort_by_key(Value::to_string);
        routes.dedup_by_key(|route| route["destination"].clone());
        if !routes.is_empty() {
            document["routes"] = json!({"config": routes});
        }
        let mut rules = self.rules.clone();
        rules.sort_unstable();
        rules.dedup();
        if !rules.is_empty() {
            let rule = |rule: &u8| json!({"family": "ipv4", "ip-from": format!("10.200.{rule}.0/24"), "priority": 1000 + i64::from(*rule), "route-table": 200});
            document["route-rules"] = json!({"config": rules.iter().map(rule).collect::<Vec<_>>()});
        }
        if let Some(servers) = &self.servers {
            let servers: Vec<String> =
                servers.iter().map(|server| format!("192.0.2.{}", 50 + server)).collect();
            document["dns-resolver"] = json!({"config": {"server": servers, "search": []}});
        }
        document
    }

    fn interface(&self, number: usize) -> Option<Value> {
        let (name, bridge) = (VIRTUAL[number], number < 2);
        let kind = if bridge { "linux-bridge" } else { "dummy" };
        let addresses = match self.presence(number) {
            Presence::Unmentioned => return None,
            Presence::Absent => return Some(json!({"name": name, "type": kind, "state": "absent"})),
            Presence::Up(addresses) => addresses,
        };
        let list: Vec<Value> = (0..addresses)
            .map(|host| json!({"ip": format!("10.{number}.{host}.1"), "prefix-length": 24}))
            .collect();
        let ipv4 = if list.is_empty() {
            json!({"enabled": false})
        } else {
            json!({"enabled": true, "dhcp": false, "address": list})
        };
        let mut entry =
            json!({"name": name, "type": kind, "state": "up", "ipv4": ipv4, "ipv6": {"enabled": false}});
        if bridge {
            let ports: Vec<Value> = (0..3)
                .filter(|nic| self.ports[*nic] == Some(number))
                .map(|nic| json!({"name": format!("eth{}", nic + 1)}))
                .collect();
            entry["bridge"] = json!({"port": ports});
        }
        Some(entry)
    }

    fn nic(&self, number: usize) -> Option<Value> {
        let mtu = self.nics[number]?;
        Some(json!({"name": format!("eth{}", number + 1), "type": "ethernet", "state": "up", "mtu": mtu}))
    }

    /// Only through something that the document gives an address.
    fn route(&self, number: usize, to: u8) -> Option<Value> {
        match self.presence(number) {
            Presence::Up(addresses) if addresses > 0 => Some(json!({
                "destination": format!("198.51.{to}.0/24"), "next-hop-address": format!("10.{number}.0.9"),
                "next-hop-interface": VIRTUAL[number], "metric": 150, "table-id": 254})),
            _ => None,
        }
    }
}

fn facts() -> Facts {
    Facts { ovs_running: true, ..Facts::default() }
}

/// The host after a wish was granted; None where it is refused.
fn granted(wish: &Wish, host: &Value) -> Option<(Plan, Value)> {
    let document = wish.document();
    let plan = plan(&document, host, &facts()).ok()?;
    let after = model::apply(&plan, &document, host);
    Some((plan, after))
}

/// Any host that earlier wishes may have left.
fn lived_in(history: &[Wish]) -> Value {
    history.iter().fold(model::host(), |host, wish| granted(wish, &host).map_or(host, |(_, after)| after))
}

/// A plan without the order of what it lists. Where an unnamed entry stands in the document is part of that.
fn unordered(plan: &Plan) -> (Vec<String>, Value) {
    let place = |path: &linesman_core::path::Path| {
        let named = |step: &&PathStep| !matches!(step, PathStep::Index(_));
        path.steps().iter().filter(named).map(|step| format!("{step:?}")).collect::<String>()
    };
    let lines = |change: &linesman_core::plan::Change| {
        let detail = |detail: &Detail| format!("{} {} {}", place(&detail.path), detail.want, detail.got);
        let mut details: Vec<String> = change.details.iter().map(detail).collect();
        details.sort();
        format!("{:?} {:?} {details:?}", change.kind, change.subject)
    };
    let mut changes: Vec<String> = plan.changes.iter().map(lines).collect();
    changes.sort();
    let sets = json!([plan.impact, plan.touched, plan.created, plan.removed, plan.own_path]);
    (changes, sets)
}

fn shuffled(document: &Value, order: &[usize]) -> Value {
    let mut document = document.clone();
    let mut order = order.iter().copied().cycle();
    let mut shuffle = |list: &mut Value| {
        if let Some(items) = list.as_array_mut() {
            items.sort_by_cached_key(|_| order.next().unwrap_or(0));
        }
    };
    shuffle(&mut document["interfaces"]);
    for entry in document["interfaces"].as_array_mut().unwrap() {
        if let Some(ports) = entry.pointer_mut("/bridge/port") {
            shuffle(ports);
        }
    }
    for place in ["/routes/config", "/route-rules/config"] {
        if let Some(list) = document.pointer_mut(place) {
            shuffle(list);
        }
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn doing_what_a_plan_says_reaches_the_desired_state(history in prop::collection::vec(wish(), 0..3), wish in wish()) {
        let host = lived_in(&history);
        let Some((made, after)) = granted(&wish, &host) else { return Err(TestCaseError::reject("refused")) };
        let left = differences(&wish.document(), &after);
        prop_assert!(left.is_empty(), "left: {left:?}\nplan:\n{}\nafter: {after:#}", made.render(false));
    }

    #[test]
    fn a_second_plan_has_nothing_to_do(history in prop::collection::vec(wish(), 0..3), wish in wish()) {
        let host = lived_in(&history);
        let Some((_, after)) = granted(&wish, &host) else { return Err(TestCaseError::reject("refused")) };
        let again = plan(&wish.document(), &after, &facts()).map_err(|refusals| TestCaseError::fail(format!("{refusals:?}")))?;
        prop_assert!(again.is_empty(), "{}", again.render(false));
    }

    #[test]
    fn what_is_observed_needs_no_change(history in prop::collection::vec(wish(), 0..4)) {
        let host = lived_in(&history);
        let again = plan(&host, &host, &facts()).map_err(|refusals| TestCaseError::fail(format!("{refusals:?}")))?;
        prop_assert!(again.is_empty(), "{}", again.render(false));
    }

    #[test]
    fn the_order_in_a_document_does_not_matter(history in prop::collection::vec(wish(), 0..3), wish in wish(), order in prop::collection::vec(any::<usize>(), 16)) {
        let host = lived_in(&history);
        let (one, other) = (wish.document(), shuffled(&wish.document(), &order));
        match (plan(&one, &host, &facts()), plan(&other, &host, &facts())) {
            (Ok(one), Ok(other)) => prop_assert_eq!(unordered(&one), unordered(&other)),
            (Err(one), Err(other)) => {
                let codes = |refusals: &[linesman_core::diagnostic::Diagnostic]| {
                    let mut codes: Vec<String> = refusals.iter().map(|refusal| format!("{} {}", refusal.code, refusal.message)).collect();
                    codes.sort();
                    codes
                };
                prop_assert_eq!(codes(&one), codes(&other));
            }
            (one, other) => prop_assert!(false, "one order is refused, the other is not: {one:?} {other:?}"),
        }
    }

    #[test]
    fn a_plan_touches_only_what_it_names(history in prop::collection::vec(wish(), 0..3), wish in wish()) {
        let host = lived_in(&history);
        let Some((made, after)) = granted(&wish, &host) else { return Err(TestCaseError::reject("refused")) };
        let names = |state: &Value| state["interfaces"].as_array().unwrap().iter().map(|entry| (entry["name"].as_str().unwrap().to_owned(), entry.clone())).collect::<std::collections::BTreeMap<_, _>>();
        let (before, after) = (names(&host), names(&after));
        for (name, entry) in &after {
            if before.get(name) != Some(entry) {
                prop_assert!(made.touched.contains(name.as_str()), "{name} changed but is not in {:?}", made.touched);
            }
        }
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            prop_assert!(made.removed.contains(name.as_str()), "{name} is gone but not in {:?}", made.removed);
        }
    }
}
