//! Types and schemas speak of the same fields.

#![allow(clippy::unwrap_used)]

use linesman_api::condition::{Condition, Truth};
use linesman_api::enactment::*;
use linesman_api::nmstate::*;
use linesman_api::node_state::{FirstBootStatus, NodeStateStatus};
use linesman_api::objects::{Enactment, NodeOpenVSwitch, NodeState, Policy};
use linesman_api::open_vswitch::*;
use linesman_api::options::{Drift, OnDelete, Options};
use linesman_api::policy::*;
use linesman_api::selector::{Operator, Requirement, Selector};
use linesman_api::time::Time;
use linesman_api::{crd, kinds};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

fn schema(plural: &str, part: &str) -> Value {
    let crds = crd::all();
    let crd = crds.iter().find(|crd| crd["spec"]["names"]["plural"] == plural).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][part].clone()
}

/// A value with everything that the schema allows.
fn instance(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words.last().unwrap().clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return "30%".into();
    }
    if schema["type"].is_null() && schema["x-kubernetes-preserve-unknown-fields"] == true {
        return "dns".into();
    }
    match schema["type"].as_str().unwrap() {
        "object" => match (&schema["properties"], &schema["additionalProperties"]) {
            (Value::Object(fields), _) => fields
                .iter()
                .map(|(name, schema)| (name.clone(), instance(schema)))
                .collect::<Map<_, _>>()
                .into(),
            (_, Value::Null) => json!({ "anything": 1 }),
            (_, value) => json!({ "key": instance(value) }),
        },
        "array" => json!([instance(&schema["items"])]),
        "string" if schema["format"] == "date-time" => "2026-07-20T10:00:00Z".into(),
        "string" => "True".into(),
        "integer" => schema["maximum"].as_i64().unwrap_or(7).into(),
        "boolean" => true.into(),
        other => unreachable!("{other}"),
    }
}

/// Without what the schema does not know, as the API server prunes it.
fn pruned(value: &Value, schema: &Value) -> Value {
    match (value, &schema["properties"], &schema["additionalProperties"]) {
        _ if schema["x-kubernetes-preserve-unknown-fields"] == true => value.clone(),
        (Value::Object(fields), Value::Object(known), _) => fields
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), pruned(value, known.get(name)?))))
            .collect::<Map<_, _>>()
            .into(),
        (Value::Object(fields), _, of @ Value::Object(_)) => {
            fields.iter().map(|(name, value)| (name.clone(), pruned(value, of))).collect::<Map<_, _>>().into()
        }
        (Value::Array(items), ..) => items.iter().map(|item| pruned(item, &schema["items"])).collect(),
        _ => value.clone(),
    }
}

fn agree<T: Serialize + DeserializeOwned>(plural: &str, part: &str, full: &T) {
    let schema = schema(plural, part);
    let all = instance(&schema);
    let read: T = serde_json::from_value(all.clone()).unwrap();
    assert_eq!(
        sorted(&serde_json::to_value(read).unwrap()),
        sorted(&all),
        "the type lost fields of the schema"
    );
    let written = serde_json::to_value(full).unwrap();
    assert_eq!(pruned(&written, &schema), written, "the schema lacks fields of the type");
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields.into_iter().collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn conditions() -> Vec<Condition> {
    vec![Condition {
        kind: "Available".into(),
        status: Truth::True,
        reason: "R".into(),
        message: "m".into(),
        last_heartbeat_time: Some(Time(1)),
        last_transition_time: Some(Time(1)),
        observed_generation: Some(1),
    }]
}

fn labels<T: Into<String>>(value: T) -> std::collections::BTreeMap<String, String> {
    [("k".to_string(), value.into())].into()
}

fn selector() -> Option<Selector> {
    let requirement = Requirement { key: "k".into(), operator: Operator::In, values: vec!["v".into()] };
    Some(Selector { match_labels: labels("v"), match_expressions: vec![requirement] })
}

#[test]
fn policies() {
    let rollout = Rollout {
        paused: true,
        abort: true,
        undo: true,
        canary: vec!["n".into()],
        wait_for_ready: true,
        max_failures: Some(1),
        soak: Some(1),
    };
    let matching =
        HostMatch { node: Some("n".into()), hostname: Some("h".into()), mac_address: Some("m".into()) };
    let spec = PolicySpec {
        node_selector: labels("v"),
        node_label_selector: selector(),
        capture: labels("c"),
        desired_state: Some(json!({ "interfaces": [] })),
        hosts: vec![HostOverlay { matching, desired_state: Some(json!({})) }],
        max_unavailable: Some(IntOrPercent::Int(3)),
        rollout: Some(rollout),
        probes: Some(vec!["dns".into()]),
        patience: Some(1),
        priority: Some(1),
        on_delete: Some(OnDelete::Revert),
        drift: Some(Drift::Correct),
        machine_config_pool_selector: selector(),
    };
    agree(kinds::POLICY.plural, "spec", &spec);
    let status = PolicyStatus {
        conditions: conditions(),
        observed_generation: Some(1),
        max_unavailable: Some(1),
        nodes: Some(NodeCounts {
            matching: 1,
            available: 1,
            progressing: 1,
            pending: 1,
            failing: 1,
            aborted: 1,
            not_ready: 1,
        }),
        waves: Some(Waves { current: 1, total: 1 }),
        blocked_nodes: vec![BlockedNode { node: "n".into(), reason: "r".into() }],
        failed_nodes: vec!["n".into()],
        soaking_nodes: vec!["n".into()],
        unavailable_node_count_map: [("1".to_string(), 1)].into(),
        unavailable_node_count: Some(1),
        last_unavailable_node_count_update: Some(Time(1)),
    };
    agree(kinds::POLICY.plural, "status", &status);
    let read: Policy = serde_json::from_value(json!({ "spec": spec, "status": status })).unwrap();
    assert_eq!((read.spec, read.status), (spec, status));
}

#[test]
fn enactments() {
    let options = Options {
        priority: 1,
        on_delete: OnDelete::Revert,
        drift: Drift::Correct,
        probes: Some(vec!["dns".into()]),
        patience: Some(1),
    };
    let spec = EnactmentSpec {
        policy: PolicyRef { name: "p".into(), uid: "u".into(), generation: 1 },
        desired_state: Some(json!({})),
        capture: labels("c"),
        options,
        revert: true,
        purpose: Purpose::Undo,
        stage: Stage::Released,
        attempt: 1,
        release_expires: Some(Time(1)),
        not_ready_since: Some(Time(1)),
        failed_soak: Some(Time(1)),
        matched_mac: Some("m".into()),
        sealed_secrets: Some(SealedSecrets { key: format!("{}=", "k".repeat(43)), message: "s".into() }),
        previous: Some(Previous { generation: 1, desired_state: Some(json!({})), capture: labels("c") }),
    };
    agree(kinds::ENACTMENT.plural, "spec", &spec);
    let info = || Some(MetaInfo { version: "v".into(), time: Some(Time(1)) });
    let captured = CapturedState { state: Some(json!({})), meta_info: info() };
    let status = EnactmentStatus {
        desired_state: Some(json!({})),
        desired_state_meta_info: info(),
        captured_states: [("c".to_string(), captured)].into(),
        policy_generation: Some(1),
        attempt: Some(1),
        observed_generation: Some(1),
        conditions: conditions(),
        requests_release: Some("Drifted".into()),
        features: vec!["f".into()],
        retry_count: [("1".to_string(), 1)].into(),
    };
    agree(kinds::ENACTMENT.plural, "status", &status);
    // Objects are read in parts: no field may be missing among them.
    let read: Enactment = serde_json::from_value(json!({ "spec": spec, "status": status })).unwrap();
    assert_eq!((read.spec, read.status), (Some(spec), status));
}

#[test]
fn states_of_nodes() {
    let status = NodeStateStatus {
        current_state: Some(json!({})),
        omitted: vec!["o".into()],
        last_successful_update_time: Some(Time(1)),
        host_network_manager_version: Some("v".into()),
        handler_nmstate_version: Some("v".into()),
        handler_network_manager_version: Some("v".into()),
        sealing_key: Some(format!("{}=", "k".repeat(43))),
        first_boot: Some(FirstBootStatus {
            state: "Applied".into(),
            message: "m".into(),
            document: Some("d".into()),
            hash: Some("h".into()),
            applied_hash: Some("h".into()),
            since: Some(Time(1)),
        }),
        conditions: conditions(),
    };
    agree(kinds::NODE_STATE.plural, "status", &status);
    let read: NodeState = serde_json::from_value(json!({ "status": status })).unwrap();
    assert_eq!(read.status, status);
}

#[test]
fn open_vswitches_of_nodes() {
    let version = || Some("v".to_owned());
    let unit = UnitStatus {
        name: "u".into(),
        state: "active".into(),
        pid: Some(1),
        started: Some(Time(1)),
        restarts: 1,
        last_crash: Some("c".into()),
        memory_mebibytes: Some(1),
    };
    let refused = RefusedSetting {
        key: "k".into(),
        source: "s".into(),
        reason: "UnknownKey".into(),
        message: "m".into(),
    };
    let settings = SettingsStatus {
        applied_count: 1,
        refused_count: 1,
        applied: vec![AppliedSetting { key: "k".into(), value: "v".into() }],
        refused: vec![refused],
        needs_restart: vec!["k".into()],
    };
    let error = InterfaceError { interface: "i".into(), bridge: "b".into(), error: "e".into() };
    let status = OpenVSwitchStatus {
        versions: Some(Versions {
            ovs: version(),
            ovsdb_server: version(),
            schema: version(),
            kernel: version(),
        }),
        skew: Some("s".into()),
        datapath_types: vec!["netdev".into()],
        units: vec![unit],
        restarts: 1,
        bridges: vec![BridgeStatus { name: "b".into(), datapath_type: "system".into(), ports: 1 }],
        bridge_count: 1,
        port_count: 1,
        interface_errors: vec![error],
        interface_error_count: 1,
        settings,
        conditions: conditions(),
    };
    agree(kinds::NODE_OPEN_VSWITCH.plural, "status", &status);
    let read: NodeOpenVSwitch = serde_json::from_value(json!({ "status": status })).unwrap();
    assert_eq!(read.status, status);
}

#[test]
fn nmstates() {
    let toleration = Toleration {
        key: Some("k".into()),
        operator: Some("o".into()),
        value: Some("v".into()),
        effect: Some("e".into()),
        toleration_seconds: Some(1),
    };
    let interval = || Some("24h".to_string());
    let spec = NMStateSpec {
        node_selector: Some(labels("v")),
        tolerations: Some(vec![toleration.clone()]),
        affinity: Some(json!({})),
        infra_node_selector: Some(labels("v")),
        infra_tolerations: Some(vec![toleration]),
        infra_affinity: Some(json!({})),
        self_sign_configuration: Some(SelfSign {
            ca_rotate_interval: interval(),
            ca_overlap_interval: interval(),
            cert_rotate_interval: interval(),
            cert_overlap_interval: interval(),
        }),
        probe_configuration: Some(ProbeConfiguration { dns: Some(DnsProbe { host: Some("h".into()) }) }),
        metrics_configuration: Some(MetricsConfiguration { bind_address: Some(":1".into()) }),
        log_level: Some(LogLevel::Debug),
        interface_filter: vec!["veth*".into()],
        ephemeral: true,
    };
    agree(kinds::NMSTATE.plural, "spec", &spec);
    agree(
        kinds::NMSTATE.plural,
        "status",
        &NMStateStatus { conditions: conditions(), observed_generation: Some(1) },
    );
}
