//! Secrets reach the node that needs them, and no other: what the token of an agent can read is of no use without its key.

use linesman_api::enactment::EnactmentSpec;
use linesman_api::limits::SECRETS;
use linesman_daemon::sealing::PrivateKey;
use linesman_fleet::sealed_secrets::{Secrets, context, read_message};
use linesman_lab::Output;
use linesman_lab::cluster::NAMESPACE;
use linesman_tests::api::{accepted, node_state, refused};
use linesman_tests::simulated_fleet::SimulatedFleet;
use serde_json::{Value, json};

const OWN_STATE: &str = "an agent may write only the NodeNetworkState of its own node";

/// A node whose agent has a token and a key, and answers nothing.
struct Member {
    name: &'static str,
    token: String,
    key: PrivateKey,
}

impl Member {
    fn new(fleet: &SimulatedFleet, name: &'static str) -> Self {
        fleet.stop_answers_of(name);
        let member =
            Self { name, token: fleet.cluster.agent_token(name).unwrap(), key: PrivateKey::generate() };
        let created = ["create", "-f", "-"];
        accepted(&fleet.cluster.kubectl_as(&member.token, &created, &node_state(name).to_string()).unwrap());
        member
    }

    /// With this member's token, as the key of that node.
    fn publish(&self, fleet: &SimulatedFleet, node: &str, key: &str) -> Output {
        let patch = json!({ "status": { "sealingKey": key } }).to_string();
        let words = ["patch", "nns", node, "--subresource=status", "--type=merge", "--patch", &patch];
        fleet.cluster.kubectl_as(&self.token, &words, "").unwrap()
    }

    fn publish_own(&self, fleet: &SimulatedFleet) {
        accepted(&self.publish(fleet, self.name, &self.key.public().to_string()));
    }

    /// What this member's key opens of the enactment, taken for one of `node`.
    fn open(&self, enactment: &Value, node: &str) -> Option<Secrets> {
        let spec: EnactmentSpec = serde_json::from_value(enactment["spec"].clone()).unwrap();
        let sealed = &spec.sealed_secrets.as_ref()?.message;
        read_message(&self.key.open(sealed, &context(node, &spec), SECRETS).ok()?)
    }

    fn values(&self, enactment: &Value) -> Vec<String> {
        let secrets = self.open(enactment, self.name).expect("its own key opens it");
        secrets.0.into_values().map(Result::unwrap).collect()
    }
}

fn secret(fleet: &SimulatedFleet, data: &Value) {
    let object = json!({ "apiVersion": "v1", "kind": "Secret", "stringData": data,
        "metadata": { "name": "psk", "namespace": NAMESPACE } });
    fleet.cluster.apply(&object.to_string()).unwrap();
}

/// Each node has a key of its own in the Secret.
fn tunnels(nodes: &[&str]) -> Value {
    let host = |node: &&str| {
        let psk = json!({ "secretKeyRef": { "name": "psk", "key": node } });
        json!({ "match": { "node": node }, "desiredState": { "ovs-db": { "external_ids": { "tunnel-psk": psk } } } })
    };
    json!({ "maxUnavailable": "100%", "desiredState": {}, "hosts": nodes.iter().map(host).collect::<Vec<_>>() })
}

/// The enactment once it is released with secrets for this key.
#[track_caller]
fn released(fleet: &SimulatedFleet, node: &Member) -> Value {
    let mut enactment = Value::Null;
    fleet.wait(&format!("{} is released with its secrets", node.name), || {
        enactment = fleet.enactments("tunnel").remove(node.name).unwrap_or_default();
        let spec = &enactment["spec"];
        spec["stage"] == "Released" && spec["sealedSecrets"]["key"] == node.key.public().to_string()
    });
    enactment
}

#[test]
fn a_stolen_token_yields_no_secret_of_another_node() {
    let fleet = SimulatedFleet::new("sealed", &["thief", "w1"]);
    let [thief, victim] = ["thief", "w1"].map(|name| Member::new(&fleet, name));
    secret(&fleet, &json!({ "thief": "its-own-phrase", "w1": "phrase-of-the-other" }));
    thief.publish_own(&fleet);
    victim.publish_own(&fleet);
    let _operator = fleet.operator("first", &[]);
    fleet.policy("tunnel", &tunnels(&["thief", "w1"]));
    let (own, others) = (released(&fleet, &thief), released(&fleet, &victim));
    assert_eq!(thief.values(&own), ["its-own-phrase"]);
    assert_eq!(victim.values(&others), ["phrase-of-the-other"], "nothing else was released");

    // It reads no Secret, and what it reads is sealed.
    let ask = |words: &[&str]| fleet.cluster.kubectl_as(&thief.token, words, "").unwrap();
    refused(&ask(&["get", "secret", "psk", "-n", NAMESPACE]), "forbidden");
    let read = ask(&["get", "nnce,nns", "-o", "json"]);
    accepted(&read);
    let items: Value = serde_json::from_str(&read.stdout).unwrap();
    let name = |item: &&Value| item["metadata"]["name"] == "w1.tunnel";
    let stolen = items["items"].as_array().unwrap().iter().find(name).expect("RBAC cannot hide it");
    assert!(stolen["spec"]["sealedSecrets"]["message"].as_str().is_some_and(|message| !message.is_empty()));
    for node in ["thief", "w1"] {
        assert!(thief.open(stolen, node).is_none(), "its key opens nothing of w1");
    }
    assert!(!read.stdout.contains("phrase"), "{}", read.stdout);

    // Nor does it make the operator seal to its key.
    let mine = thief.key.public().to_string();
    refused(&thief.publish(&fleet, "w1", &mine), OWN_STATE);
    refused(&thief.publish(&fleet, "thief", "no key"), "status.sealingKey");
    assert_eq!(
        fleet.cluster.get("nns", "w1").unwrap().unwrap()["status"]["sealingKey"],
        victim.key.public().to_string()
    );
    refused(
        &ask(&["patch", "nnce", "thief.tunnel", "--type=merge", "--patch", r#"{"spec":{"stage":"Bound"}}"#]),
        "forbidden",
    );

    // What was sealed for one release is of no use in another.
    let mut moved = own.clone();
    moved["spec"]["attempt"] = json!(99);
    assert!(thief.open(&moved, "thief").is_none() && victim.open(&own, "w1").is_none());
}

#[test]
fn secrets_are_sealed_to_the_key_that_the_node_has_now() {
    let fleet = SimulatedFleet::new("resealed", &["w1"]);
    let mut node = Member::new(&fleet, "w1");
    let _operator = fleet.operator("first", &[]);

    // An older agent has no key; nothing is released without one, nor without the Secret.
    fleet.policy("tunnel", &tunnels(&["w1"]));
    let waits_for = |why: &str| {
        fleet.wait(why, || {
            let enactment = fleet.enactments("tunnel").remove("w1").unwrap_or_default();
            let conditions = enactment["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let pending = conditions.iter().find(|it| it["type"] == "Pending" && it["status"] == "True");
            pending.is_some_and(|it| it["message"].as_str().unwrap().contains(why))
                && enactment["spec"]["stage"] == "Bound"
        });
    };
    waits_for("has not published a key");
    node.publish_own(&fleet);
    waits_for("[LM2016] there is no Secret nmstate/psk, needed at desiredState.ovs-db");
    let policy = fleet.wait_policy("tunnel", "Degraded");
    let degraded =
        policy["status"]["conditions"].as_array().unwrap().iter().find(|it| it["type"] == "Degraded");
    assert_eq!(degraded.unwrap()["reason"], "SecretUnavailable", "{policy}");
    secret(&fleet, &json!({ "other": "x" }));
    waits_for("[LM2016] the Secret nmstate/psk has no key w1");
    secret(&fleet, &json!({ "w1": "first-phrase" }));
    let first = released(&fleet, &node);
    assert_eq!(node.values(&first), ["first-phrase"]);

    // The agent has lost its key: the same release, sealed to the new one, with what the Secret says now.
    secret(&fleet, &json!({ "w1": "second-phrase" }));
    node.key = PrivateKey::generate();
    node.publish_own(&fleet);
    let second = released(&fleet, &node);
    assert_eq!(node.values(&second), ["second-phrase"]);
    for field in ["attempt", "releaseExpires", "stage"] {
        assert_eq!(first["spec"][field], second["spec"][field], "{field}");
    }
}
