//! What must be true of any state, tried on parts of real ones and on alterations of them.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use linesman_core::compare::differences;
use linesman_core::facts::Facts;
use linesman_core::impact::Impact;
use linesman_core::plan::plan;
use linesman_core::verify::verify;
use proptest::prelude::*;
use serde_json::{Map, Value};

const SECTIONS: [&str; 6] = ["routes", "route-rules", "dns-resolver", "hostname", "ovs-db", "ovn"];

/// States retrieved from real nodes, through NMState's own types.
fn states() -> &'static [Value] {
    static STATES: OnceLock<Vec<Value>> = OnceLock::new();
    STATES.get_or_init(|| {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/plan");
        let of = |case: &str| {
            let text = fs::read_to_string(cases.join(case).join("observed.yaml")).unwrap();
            let state = linesman_core::document::tree(&text).unwrap().to_value();
            let state: nmstate::NetworkState = serde_json::from_value(state).unwrap();
            serde_json::to_value(state).unwrap()
        };
        ["node", "bridges-and-routes", "br-ex", "bond-and-vlan"].map(of).to_vec()
    })
}

fn facts() -> Facts {
    Facts { ovs_running: true, ..Facts::default() }
}

/// An observed state as somebody would declare it: what is up, in any part.
fn declared(observed: &Value, keep: &[bool]) -> Value {
    let mut keep = keep.iter().copied().cycle();
    let mut take = move || keep.next().unwrap_or(true);
    let up = |interface: &&Value| interface["state"] == "up" && interface["type"] != "loopback";
    let interfaces = observed["interfaces"].as_array().into_iter().flatten().filter(up);
    let chosen: Vec<Value> = interfaces.filter(|_| take()).cloned().collect();
    let mut desired = Map::from_iter([("interfaces".to_owned(), Value::Array(chosen))]);
    for section in SECTIONS {
        if let Some(value) = observed.get(section).filter(|_| take()) {
            desired.insert(section.into(), value.clone());
        }
    }
    Value::Object(desired)
}

/// Every place of a state that holds a plain value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let step = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| places(value, &step(key), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(item, &step(&index.to_string()), found))
        }
        _ => found.push(at.to_owned()),
    }
}

fn alter(state: &Value, choice: usize) -> Value {
    let mut found = Vec::new();
    places(state, "", &mut found);
    let mut state = state.clone();
    if let Some(value) = found.get(choice % found.len().max(1)).and_then(|place| state.pointer_mut(place)) {
        *value = match &*value {
            Value::Bool(flag) => Value::Bool(!flag),
            Value::Number(number) => Value::from(number.as_i64().unwrap_or_default() + 2),
            Value::String(text) => Value::from(format!("{text}0")),
            other => other.clone(),
        };
    }
    state
}

fn any_state() -> impl Strategy<Value = Value> {
    (0..4usize).prop_map(|index| states()[index].clone())
}

fn any_part() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(any::<bool>(), 1..16)
}

proptest! {
    #[test]
    fn a_state_holds_against_itself(state in any_state(), part in any_part()) {
        let desired = declared(&state, &part);
        prop_assert_eq!(differences(&desired, &state), vec![]);
        prop_assert_eq!(verify(&desired, &state, &state), vec![]);
    }

    #[test]
    fn planning_what_is_there_changes_nothing(state in any_state(), part in any_part()) {
        let plan = plan(&declared(&state, &part), &state, &facts()).map_err(|refusals| TestCaseError::fail(format!("{refusals:?}")))?;
        prop_assert!(plan.is_empty(), "{}", plan.render(false));
        prop_assert_eq!(plan.impact, Impact::None);
        prop_assert!(plan.touched.is_empty() && plan.created.is_empty() && plan.removed.is_empty());
    }

    #[test]
    fn a_plan_is_the_same_every_time(state in any_state(), other in any_state(), part in any_part(), choice in any::<usize>()) {
        let desired = declared(&alter(&other, choice), &part);
        prop_assert_eq!(plan(&desired, &state, &facts()), plan(&desired, &state, &facts()));
    }

    #[test]
    fn impact_is_none_exactly_when_nothing_changes(state in any_state(), part in any_part(), choice in any::<usize>()) {
        if let Ok(plan) = plan(&declared(&alter(&state, choice), &part), &state, &facts()) {
            prop_assert_eq!(plan.is_empty(), plan.impact == Impact::None);
            prop_assert_eq!(plan.is_empty(), plan.render(false).starts_with("No changes: "));
            prop_assert!(plan.own_path.is_subset(&plan.touched));
            prop_assert!(plan.own_path.is_empty() || plan.impact == Impact::OwnPath);
        }
    }

    #[test]
    fn what_verification_finds_planning_finds_too(state in any_state(), part in any_part(), choice in any::<usize>()) {
        let desired = declared(&alter(&state, choice), &part);
        if !verify(&desired, &state, &state).is_empty() {
            prop_assert!(!differences(&desired, &state).is_empty());
        }
    }

    #[test]
    fn no_document_causes_a_panic(state in any_state(), desired in any_json()) {
        let _ = differences(&desired, &state);
        let _ = plan(&desired, &state, &facts());
        let _ = plan(&state, &desired, &facts());
        let _ = verify(&state, &desired, &state);
    }
}

/// Anything at all under the keys that are looked at.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "interfaces",
        "name",
        "type",
        "state",
        "ipv4",
        "ipv6",
        "address",
        "ip",
        "prefix-length",
        "enabled",
        "dhcp",
        "bridge",
        "port",
        "vlan",
        "base-iface",
        "trunk-tags",
        "id",
        "id-range",
        "min",
        "max",
        "link-aggregation",
        "routes",
        "config",
        "running",
        "destination",
        "next-hop-interface",
        "route-rules",
        "dns-resolver",
        "server",
        "ovs-db",
        "external_ids",
        "controller",
        "veth",
        "peer",
        "mtu",
        "copy-mac-from",
        "identifier",
        "mac-address",
        "ethernet",
        "sr-iov",
        "vfs",
        "total-vfs",
        "vrf",
        "alt-names",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "eth0",
            "br1",
            "up",
            "absent",
            "ovs-bridge",
            "vlan",
            "0.0.0.0/0",
            "10.0.0.1",
            "::/0",
            "x/y/z"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}
