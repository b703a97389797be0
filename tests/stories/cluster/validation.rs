//! The API server rejects invalid policies with a helpful message, and accepts valid ones.

use linesman_tests::api::{Api, accepted, enactment, policy, refused};
use serde_json::{Value, json};

fn try_policy(api: &Api, name: &str, spec: &Value) -> linesman_lab::Output {
    let words = ["create", "--dry-run=server", "-f", "-"];
    let text = policy(name, spec).to_string();
    api.cluster.kubectl_with(&api.cluster.admin(), &words, &text).unwrap()
}

fn bad() -> Vec<(Value, &'static str)> {
    let expression = |expression: Value| json!({ "nodeLabelSelector": { "matchExpressions": [expression] } });
    let host = |matching: Value| json!({ "hosts": [{ "match": matching, "desiredState": {} }] });
    vec![
        (
            json!({ "machineConfigPoolSelector": { "matchLabels": { "pool": "worker" } } }),
            "machineConfigPoolSelector is not supported by this version",
        ),
        (json!({ "nodeSelector": { "a zone": "x" } }), "a label key must be a name such as zone"),
        (json!({ "nodeSelector": { "zone": "-x" } }), "a label value must have at most 63 letters"),
        (expression(json!({ "key": "zone", "operator": "In" })), "values must be set for In and NotIn"),
        (
            expression(json!({ "key": "zone", "operator": "Exists", "values": ["a"] })),
            "must be empty for Exists and DoesNotExist",
        ),
        (
            expression(json!({ "key": "zone", "operator": "Near" })),
            "\"In\", \"NotIn\", \"Exists\", \"DoesNotExist\"",
        ),
        (expression(json!({ "key": "a zone", "operator": "Exists" })), "a label key must be a name"),
        (host(json!({})), "exactly one of node, hostname and macAddress must be set"),
        (host(json!({ "node": "a", "hostname": "b" })), "exactly one of node, hostname and macAddress"),
        (
            host(json!({ "macAddress": "52-54-00-12-34-56" })),
            "six pairs of hexadecimal digits separated by colons",
        ),
        (json!({ "hosts": [{ "match": { "node": "a" } }] }), "spec.hosts[0].desiredState: Required value"),
        (
            json!({ "maxUnavailable": -1 }),
            "maxUnavailable must be a number of nodes (3) or a percentage ('30%')",
        ),
        (json!({ "maxUnavailable": "half" }), "maxUnavailable must be a number of nodes (3) or a percentage"),
        (
            json!({ "maxUnavailable": "1000%" }),
            "maxUnavailable must be a number of nodes (3) or a percentage",
        ),
        (json!({ "rollout": { "abort": true, "undo": true } }), "abort and undo must not both be set"),
        (json!({ "rollout": { "maxFailures": 0 } }), "greater than or equal to 1"),
        (json!({ "rollout": { "canary": ["a", "a"] } }), "Duplicate value: \"a\""),
        (json!({ "probes": ["telepathy"] }), "a probe must be gateway, gateway:v6, dns"),
        (json!({ "probes": ["tcp:10.9.0.1"] }), "a probe must be gateway, gateway:v6, dns"),
        (
            json!({ "probes": ["dns", "gateway,timout=5s"] }),
            "spec.probes: \"gateway,timout=5s\": a probe must be gateway",
        ),
        (json!({ "probes": [{ "probe": "tcp:10.0.0.1:70000" }] }), "\"tcp:10.0.0.1:70000\": a probe must be"),
        (json!({ "probes": ["tcp:10.0.0.256:22"] }), "\"tcp:10.0.0.256:22\": a probe must be"),
        (json!({ "probes": ["tcp:10.0.0.1:0"] }), "\"tcp:10.0.0.1:0\": a probe must be"),
        (json!({ "probes": ["ping:999.1.1.1"] }), "\"ping:999.1.1.1\": a probe must be"),
        (json!({ "probes": ["dns:two..dots"] }), "\"dns:two..dots\": a probe must be"),
        (
            json!({ "probes": ["gateway,timeout=61s"] }),
            "optionally followed by ',timeout=5s', of at most 60s",
        ),
        (json!({ "probes": ["gateway,timeout=99999999999m"] }), "of at most 60s"),
        (
            json!({ "probes": ["http://10.0.0.1/,timeout=2m"] }),
            "must be a duration such as 500ms, 5s or 1m, of",
        ),
        (
            json!({ "probes": [{ "probe": "dns", "timeout": "61s" }] }),
            "must be a duration such as 500ms, 5s or 1m, of",
        ),
        (
            json!({ "probes": [{ "probe": "dns", "timeout": 3_155_760_000_u64 }] }),
            "such as 500ms, 5s or 1m, of",
        ),
        (json!({ "probes": [{ "probe": "dns,timeout=5s", "timeout": "6s" }] }), "must be given only once"),
        (json!({ "patience": -1 }), "greater than or equal to 1"),
        (json!({ "patience": 0 }), "greater than or equal to 1"),
        (json!({ "priority": 1_000_001 }), "less than or equal to 1000000"),
        (json!({ "onDelete": "Forget" }), "supported values: \"Retain\", \"Revert\""),
        (json!({ "drift": "Maybe" }), "supported values: \"Ignore\", \"Report\", \"Correct\""),
        (json!({ "desiredState": "br1" }), "spec.desiredState in body must be of type object"),
        (json!({ "maxUnavailble": 3 }), "unknown field \"spec.maxUnavailble\""),
    ]
}

fn good() -> Vec<Value> {
    let expressions = json!([
        { "key": "zone", "operator": "In", "values": ["a", "b"] },
        { "key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist" },
    ]);
    let hosts = json!([
        { "match": { "node": "n1.example.com" }, "desiredState": { "interfaces": [] } },
        { "match": { "hostname": "n2" }, "desiredState": {} },
        { "match": { "macAddress": "52:54:00:AB:cd:ef" }, "desiredState": {} },
    ]);
    let probes =
        ["gateway", "gateway:v6", "dns", "dns:example.com", "apiServer", "nodeReady", "tcp:10.9.0.1:22"]
            .into_iter()
            .chain(["http://10.9.0.1/", "https://example.com/healthz,timeout=5s", "ping:fe80::1%eth0"])
            .chain([
                "dns:example.com.,server=10.9.0.1,server=fd09::1,timeout=1500ms",
                "tcp:[fd09::1]:65535,timeout=1m",
            ])
            .chain([
                "tcp:db-1.example.com:1,timeout=0.5s",
                "tcp:[fe80::1%eth0]:22",
                "ping:10.255.255.255,timeout=60",
            ])
            .map(Value::from)
            .chain([
                json!({ "probe": "dns", "timeout": 60 }),
                json!({ "probe": "gateway:v4", "timeout": "5s" }),
            ]);
    vec![
        json!({}),
        json!({ "nodeSelector": { "kubernetes.io/hostname": "n1", "empty": "" } }),
        json!({ "nodeLabelSelector": { "matchLabels": { "zone": "a" }, "matchExpressions": expressions } }),
        json!({ "capture": { "gw": "routes.running.destination==\"0.0.0.0/0\"" } }),
        json!({ "desiredState": { "interfaces": [{ "name": "br1", "type": "linux-bridge", "anything": [1] }] } }),
        json!({ "hosts": hosts }),
        json!({ "maxUnavailable": 3 }),
        json!({ "maxUnavailable": "30%" }),
        json!({ "maxUnavailable": "3" }),
        json!({ "maxUnavailable": 0 }),
        json!({ "rollout": { "paused": true, "canary": ["n1", "n2"], "maxFailures": 1 } }),
        json!({ "rollout": { "abort": true } }),
        json!({ "rollout": { "undo": true, "abort": false } }),
        json!({ "probes": probes.collect::<Vec<_>>() }),
        json!({ "probes": [] }),
        json!({ "patience": 60 }),
        json!({ "priority": -5 }),
        json!({ "onDelete": "Revert" }),
        json!({ "drift": "Correct" }),
    ]
}

#[test]
fn invalid_policies_are_rejected_with_a_reason() {
    let api = Api::shared();
    let wrong: Vec<String> = bad()
        .iter()
        .filter_map(|(spec, because)| {
            let said = try_policy(&api, "bad", spec);
            let right = !said.success() && said.stderr.contains(because);
            (!right).then(|| format!("{spec}\n  wanted: {because}\n  said:   {}{}", said.stdout, said.stderr))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let long = try_policy(&api, &"x".repeat(64), &json!({}));
    assert!(long.stderr.contains("must be no more than 63 characters"), "{}", long.stderr);
}

#[test]
fn valid_policies_are_accepted_and_stored_unchanged() {
    let api = Api::shared();
    for (number, spec) in good().iter().enumerate() {
        let name = format!("good-{number}");
        let said = try_policy(&api, &name, spec);
        assert!(said.success(), "{spec}\n{}", said.stderr);
    }
    let mut all = json!({});
    for spec in good() {
        spec.as_object().unwrap().iter().for_each(|(key, value)| all[key] = value.clone());
    }
    api.cluster.apply(&policy("good-all", &all).to_string()).unwrap();
    assert_eq!(api.object("nncp/good-all")["spec"], all);
}

#[test]
fn a_release_has_an_end_and_the_policy_of_an_enactment_is_immutable() {
    let api = Api::shared();
    let operator = api.operator();
    let object = enactment("elsewhere", "kept");
    accepted(&api.create(&operator, &object));
    let patch = |spec: Value| api.patch(&operator, "nnce/elsewhere.kept", &json!({ "spec": spec }), &[]);
    refused(&patch(json!({ "stage": "Released" })), "releaseExpires is required when stage is Released");
    refused(&patch(json!({ "policy": { "name": "other" } })), "policy.name is immutable");
    accepted(&patch(json!({ "stage": "Released", "releaseExpires": "2026-01-01T00:00:00Z" })));
    accepted(&patch(json!({ "policy": { "generation": 2 }, "stage": "Expired" })));
}
