//! What is reported to a cluster: the golden cases of `cases/report`, and sizes that no case could hold.

#![allow(clippy::unwrap_used, clippy::panic)]

use linesman_api::condition::Condition;
use linesman_api::time::Time;
use linesman_core::document::tree;
use linesman_fleet::report::*;
use linesman_golden::{Case, Tree};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const ENACTMENT: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/report/enactment"),
    outputs: &["conditions.txt"],
    at_least: 26,
};
const NODE_STATE: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/report/node-state"),
    outputs: &["status.yaml"],
    at_least: 4,
};

fn read<T: DeserializeOwned>(case: &Case, file: &str) -> Option<T> {
    let value = tree(&case.input(file)?).unwrap().to_value();
    Some(serde_json::from_value(value).unwrap_or_else(|e| panic!("{}/{file}: {e}", case.name())))
}

fn line(condition: &Condition) -> String {
    let Condition { kind, status, reason, message, .. } = condition;
    let said = if message.is_empty() { String::new() } else { format!(": {message}") };
    format!("{kind} {status:?} ({reason}){said}\n")
}

#[derive(serde::Deserialize)]
struct Ended {
    #[serde(flatten)]
    outcome: Outcome,
    #[serde(default)]
    reverting: bool,
}

fn conditions(case: &Case) -> String {
    let Ended { outcome, reverting } = read(case, "outcome.yaml").unwrap();
    let reported =
        if outcome.may_retry() { retrying(&outcome, "worker-1", 2) } else { ended(&outcome, reverting) };
    reported.iter().map(line).collect()
}

#[test]
fn conditions_are_as_expected() {
    ENACTMENT.compare(|case| [conditions(case)]);
}

fn node_state(case: &Case) -> String {
    let globs: Vec<String> = read(case, "filter.yaml").unwrap_or_default();
    let filter: Vec<Glob> = globs.iter().map(|pattern| Glob::new(pattern)).collect();
    let report = report(&read(case, "state.yaml").unwrap(), &filter, BUDGET);
    let status = update(None, report, &AgentFacts::default(), Time(1_784_541_600)).unwrap();
    yaml_serde::to_string(&serde_json::to_value(status).unwrap()).unwrap()
}

#[test]
fn node_states_are_as_expected() {
    NODE_STATE.compare(|case| [node_state(case)]);
}

/// As fat as NMState shows them.
fn vlan(id: usize) -> Value {
    json!({
        "name": format!("bond0.{id}"), "type": "vlan", "state": "up", "mtu": 1500, "min-mtu": 0, "max-mtu": 65535,
        "mac-address": "52:54:00:12:34:56", "accept-all-mac-addresses": false, "wait-ip": "any", "profile-name": format!("bond0.{id}"),
        "ipv4": { "enabled": true, "dhcp": false, "address": [{ "ip": format!("10.{}.{}.1", id / 256, id % 256), "prefix-length": 24 }] },
        "ipv6": { "enabled": true, "autoconf": false, "dhcp": false, "addr-gen-mode": "eui64",
                  "address": [{ "ip": "fe80::5054:ff:fe12:3456", "prefix-length": 64 }] },
        "lldp": { "enabled": false }, "mptcp": { "address-flags": [] },
        "ethtool": { "feature": { "rx-checksum": true, "tx-checksum-ip-generic": true, "tx-generic-segmentation": true,
                     "rx-gro": true, "tx-tcp-segmentation": true, "highdma": true, "rx-vlan-hw-parse": false } },
        "vlan": { "base-iface": "bond0", "id": id, "protocol": "802.1q", "registration-protocol": "none",
                  "reorder-headers": true, "loose-binding": false },
    })
}

fn fat(vlans: usize) -> Value {
    let interfaces: Vec<Value> = (1..=vlans).map(vlan).collect();
    let routes: Vec<Value> = (1..=vlans)
        .map(|id| json!({ "destination": format!("10.{}.{}.0/24", id / 256, id % 256), "table-id": 254,
                          "next-hop-interface": format!("bond0.{id}"), "next-hop-address": "0.0.0.0", "metric": 400 }))
        .collect();
    json!({ "interfaces": interfaces, "routes": { "running": routes, "config": [] } })
}

#[test]
fn fifteen_hundred_vlans_fit_and_omissions_are_listed() {
    let seen = fat(1500);
    assert!(serde_json::to_string(&seen).unwrap().len() > BUDGET, "the case is a case");
    let NodeStateReport { state, omitted } = report(&seen, &[], BUDGET);
    assert!(serde_json::to_string(&state).unwrap().len() <= BUDGET);
    assert_eq!(state["interfaces"].as_array().unwrap().len(), 1500, "no interface is lost: {omitted:?}");
    assert_eq!(state["interfaces"][7]["vlan"]["id"], 8);
    assert!(!omitted.is_empty());
}

#[test]
fn whatever_is_seen_fits() {
    for vlans in [4094, 8000] {
        let NodeStateReport { state, omitted } = report(&fat(vlans), &[], BUDGET);
        assert!(serde_json::to_string(&state).unwrap().len() <= BUDGET, "{vlans}: {omitted:?}");
    }
}

#[test]
fn a_veth_is_not_shown_before_it_is_known_whose_it_is() {
    let seen = |ipv4: Value| {
        let veth = json!({ "name": "veth1", "type": "veth", "state": "up", "ipv4": ipv4 });
        let shown = report(&json!({ "interfaces": [veth] }), &[], BUDGET).state;
        shown["interfaces"].as_array().unwrap().len()
    };
    assert_eq!(seen(json!({ "address": [] })), 0, "the kernel alone");
    assert_eq!(seen(json!({ "enabled": false })), 1);
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let seen = |lifetime: &str| {
        json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up",
        "ipv4": { "enabled": true, "address": [{ "ip": "10.0.0.1", "prefix-length": 24, "valid-life-time": lifetime }] } }] })
    };
    let reported = |old: Option<&_>, lifetime: &str, now| {
        update(old, report(&seen(lifetime), &[], BUDGET), &AgentFacts::default(), Time(now))
    };
    let first = reported(None, "90sec", 10).unwrap();
    assert_eq!(first.last_successful_update_time, Some(Time(10)));
    assert_eq!(reported(Some(&first), "60sec", 20), None);
    let newer = AgentFacts {
        network_manager: Some("1.58".into()),
        nmstate: None,
        sealing_key: None,
        first_boot: None,
    };
    let second = update(Some(&first), report(&seen("30sec"), &[], BUDGET), &newer, Time(30)).unwrap();
    assert_eq!(second.last_successful_update_time, Some(Time(30)));
    assert_eq!(second.conditions, first.conditions, "what did not change keeps its times");
}
