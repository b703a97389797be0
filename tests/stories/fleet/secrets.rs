//! Secrets are referenced: only the host stores them.

use linesman_lab::cluster::NAMESPACE;
use linesman_tests::fleet::{ENACTMENTS, Fleet, STATES};
use linesman_tests::{NO_SUPPLICANT, observe};
use serde_json::{Value, json};

const CLEAR: &str = "correct-horse-battery";

fn pointer(key: &str) -> Value {
    json!({ "secretKeyRef": { "name": "eap", "key": key } })
}

/// A shared key among Open vSwitch's settings: it is committed without anybody to answer for it.
fn tunnel(psk: Value) -> Value {
    json!({ "desiredState": { "ovs-db": { "external_ids": { "tunnel-psk": psk } } } })
}

/// 802.1X; the switch of the lab has none, so this is rolled back.
fn dot1x() -> Value {
    json!({ "patience": 2, "desiredState": { "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up",
        "802.1x": { "eap-methods": ["tls"], "identity": "n1", "private-key": "/etc/pki/n1.key",
                    "client-cert": "/etc/pki/n1.crt", "ca-cert": "/etc/pki/ca.crt",
                    "private-key-password": pointer("n1") } }] } })
}

fn secret(fleet: &Fleet, data: &Value) {
    let object = json!({ "apiVersion": "v1", "kind": "Secret", "stringData": data,
        "metadata": { "name": "eap", "namespace": NAMESPACE } });
    fleet.cluster.apply(&object.to_string()).expect("the Secret is taken");
}

#[test]
fn a_secret_is_stored_only_on_the_host() {
    let fleet = Fleet::new("secrets", 1);
    let node = fleet.node("n1");

    // In plain text, it is released to no node.
    fleet.policy("tunnel", &tunnel(CLEAR.into()));
    fleet.wait_policy("tunnel", "Degraded");
    let message = fleet.message_of_policy("tunnel");
    assert!(message.contains("desiredState.ovs-db.external_ids.tunnel-psk"), "{message}");
    assert!(message.contains("[LM0021]") && message.contains("secretKeyRef"), "{message}");
    assert_eq!(fleet.get(ENACTMENTS, "n1.tunnel"), None, "no node has it");

    // As a reference, it waits for the Secret, and then for its key.
    fleet.policy("tunnel", &tunnel(pointer("psk")));
    let waits = |why: &str| {
        fleet.eventually(why, || fleet.message("n1", "tunnel", "Failing").contains(why));
        let message = fleet.message("n1", "tunnel", "Failing");
        assert!(
            message.starts_with("[LM2016] ")
                && message.contains("needed at desiredState.ovs-db")
                && message.contains("no changes made"),
            "{message}"
        );
    };
    waits("there is no Secret nmstate/eap");
    secret(&fleet, &json!({ "other": "x" }));
    waits("the Secret nmstate/eap has no key psk");
    assert_eq!(observe::ovs(node, "Open_vSwitch", ".", "external_ids:tunnel-psk"), "");
    secret(&fleet, &json!({ "psk": format!("{CLEAR}\n"), "n1": CLEAR }));
    fleet.wait_policy("tunnel", "Available");
    assert_eq!(observe::ovs(node, "Open_vSwitch", ".", "external_ids:tunnel-psk"), CLEAR);

    // Into a profile on disk, as long as it is tried.
    let profiles = "/etc/NetworkManager/system-connections";
    let wait = format!("until grep -qsF {CLEAR} {profiles}/*; do sleep 0.02; done; echo seen");
    let watch = node.spawn(["timeout", "120", "sh", "-c", &wait]).expect("the node has a shell");
    let pki = "mkdir -p /etc/pki && openssl req -x509 -newkey rsa:2048 -subj /CN=n1 -days 30 -out /etc/pki/n1.crt \
               -keyout /etc/pki/n1.key -passout pass:";
    let made = node.exec(["sh", "-c", &format!("{pki}{CLEAR} && cp /etc/pki/n1.crt /etc/pki/ca.crt")]);
    made.expect("the node has a shell");
    node.sh(NO_SUPPLICANT).expect("a service can be pretended");
    fleet.policy("dot1x", &dot1x());
    fleet.eventually("the 802.1x profile ends", || {
        ["Available", "Failing"].contains(&fleet.enactment_condition("n1", "dot1x").as_str())
    });
    assert!(watch.wait().expect("the watch ends").stdout.contains("seen"), "{}", fleet.diagnostics());

    nobody_else_reads_it(&fleet);
}

fn nobody_else_reads_it(fleet: &Fleet) {
    let kinds = ["nncp", "nnce", "nns", "events"];
    // A policy once contained it in plain text, and kubectl keeps that in its annotation.
    let objects = kinds.map(|kind| fleet.cluster.run(&["get", kind, "-A", "-o", "yaml"]).unwrap()).concat();
    assert!(objects.contains("tunnel-psk"), "there is something to be read");
    let kept = fleet.node("n1").sh("grep -rlsF correct-horse-battery /var/lib/linesman || true").unwrap();
    let texts = [
        ("the API", objects),
        ("the agent's log", fleet.agent_log("n1")),
        ("the operator's log", fleet.operator_log("one")),
    ];
    for (place, text) in texts {
        assert!(!text.contains(CLEAR), "{place} holds it:\n{text}");
    }
    assert_eq!(kept, "", "what the agent remembers holds it");
}

#[test]
fn an_agent_that_lost_its_key_makes_another_and_gets_its_secrets_again() {
    const KEY: &str = "/var/lib/linesman/sealing-key.json";
    let fleet = Fleet::new("lost-key", 1);
    let node = fleet.node("n1");
    let published = || {
        let state = fleet.get(STATES, "n1").unwrap_or_default();
        state["status"]["sealingKey"].as_str().map(str::to_owned)
    };
    let psk = || observe::ovs(node, "Open_vSwitch", ".", "external_ids:tunnel-psk");
    secret(&fleet, &json!({ "psk": "first-phrase" }));
    fleet.policy("tunnel", &tunnel(pointer("psk")));
    fleet.wait_policy("tunnel", "Available");
    assert_eq!(psk(), "first-phrase");
    let first = published().expect("the agent publishes its key");
    assert_eq!(node.sh(&format!("stat -c %a {KEY}")).unwrap().trim(), "600");
    let kept = node.sh(&format!("cat {KEY}")).unwrap();
    let private = kept.split('"').find(|text| text.len() == 44).expect("a key in base64").to_owned();

    // Damaged: the rest of what the agent remembers is still there, and so is the policy.
    fleet.kill_agent("n1");
    node.sh(&format!("echo damaged > {KEY}")).unwrap();
    fleet.start_agent(node);
    fleet.eventually("another key is published", || published().is_some_and(|key| key != first));
    let mut edited = tunnel(pointer("psk"));
    edited["desiredState"]["ovs-db"]["external_ids"]["edited"] = json!("yes");
    secret(&fleet, &json!({ "psk": "second-phrase" }));
    fleet.policy("tunnel", &edited);
    fleet.eventually("the Secret as it is now is applied", || psk() == "second-phrase");
    fleet.wait_policy("tunnel", "Available");
    let second = published().expect("the agent publishes its key");
    fleet.kill_agent("n1");
    fleet.start_agent(node);
    fleet.refresh("n1");
    assert_eq!(published(), Some(second), "a key that is not lost stays");

    let objects = fleet.cluster.run(&["get", "nnce,nns,events", "-A", "-o", "yaml"]).unwrap();
    for text in [objects, fleet.agent_log("n1"), fleet.operator_log("one")] {
        assert!(!text.contains(&private) && !text.contains("-phrase"), "{text}");
    }
}
