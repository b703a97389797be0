//! Enactments that the schema allows and that Linesman cannot read: written by another version, by hand, or by a stranger.

use linesman_tests::fleet::{Fleet, bridge};
use serde_json::{Value, json};

fn patch(fleet: &Fleet, enactment: &str, part: &[&str], patch: &Value) {
    let patch = patch.to_string();
    let words = [&["patch", "nnce", enactment, "--type=merge", "--patch", &patch], part].concat();
    fleet.cluster.run(&words).unwrap();
}

#[test]
fn an_unreadable_enactment_is_reported_and_its_policy_is_kept() {
    let fleet = Fleet::new("unreadable", 1);
    fleet.policy("kept", &json!({ "desiredState": bridge("br-kept") }));
    fleet.wait_policy("kept", "Available");
    fleet.kill_operator("one");

    patch(
        &fleet,
        "n1.kept",
        &["--as=system:serviceaccount:nmstate:nmstate-operator"],
        &json!({ "spec": { "options": { "patience": -1 } } }),
    );
    fleet.wait_enactment("n1", "kept", "Failing");
    let message = fleet.message("n1", "kept", "Failing");
    assert!(message.contains("spec.options.patience: invalid value: integer `-1`"), "{message}");
    assert!(message.ends_with("no changes made"), "{message}");
    let log = fleet.agent_log("n1");
    assert!(log.contains("cannot read the enactment") && log.contains("policy=\"kept\""), "{log}");

    // A new agent lists all enactments: this one is there, though it cannot be read.
    fleet.kill_agent("n1");
    fleet.start_agent(fleet.node("n1"));
    fleet.wait_agent_status("n1", "1 policy in sync");
    assert!(fleet.has_interface("n1", "br-kept"));
    assert!(!fleet.agent_log("n1").contains("its enactment was deleted"), "{}", fleet.agent_log("n1"));

    // The operator wrote it, and writes it again.
    fleet.start_operator("two", &[]);
    fleet.wait_enactment("n1", "kept", "Available");
    fleet.wait_policy("kept", "Available");
    let log = fleet.operator_log("two");
    assert!(log.contains("cannot read the spec") && log.contains("enactment=\"n1.kept\""), "{log}");
}

#[test]
fn an_unreadable_status_does_not_keep_other_policies_waiting() {
    let fleet = Fleet::new("strange", 1);
    fleet.policy("first", &json!({ "desiredState": bridge("br-first") }));
    fleet.wait_policy("first", "Available");
    let time = json!({ "status": { "desiredStateMetaInfo": { "time": "2026-01-01T00:00:00+02:00" } } });
    patch(&fleet, "n1.first", &["--subresource=status"], &time);
    fleet.kill_operator("one");
    fleet.start_operator("two", &[]);
    fleet.policy("second", &json!({ "desiredState": bridge("br-second") }));
    fleet.wait_policy("second", "Available");
    fleet.wait_policy("first", "Available");
}
