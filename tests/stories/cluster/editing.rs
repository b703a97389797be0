//! A policy can be edited at any time: also while nodes are being changed.

use linesman_tests::api::{Api, accepted, conditions, policy};
use serde_json::json;

#[test]
fn a_policy_in_progress_can_be_edited_paused_and_given_other_captures() {
    let api = Api::shared();
    let spec = json!({ "capture": { "gw": "routes" }, "desiredState": { "interfaces": [] } });
    api.cluster.apply(&policy("edited", &spec).to_string()).unwrap();
    let progressing = json!({ "conditions": conditions(&["Available", "Progressing"], "Progressing", "ConfigurationProgressing") });
    accepted(&api.report(&api.operator(), "nncp/edited", &progressing));
    let edits = [
        json!({ "rollout": { "paused": true } }),
        json!({ "capture": { "gw": "interfaces" } }),
        json!({ "desiredState": { "interfaces": [{ "name": "br1" }] } }),
        json!({ "rollout": { "paused": null, "abort": true } }),
    ];
    for edit in &edits {
        let patch = json!({ "spec": edit }).to_string();
        api.cluster.run(&["patch", "nncp/edited", "--type=merge", "--patch", &patch]).unwrap();
    }
    let edited = api.object("nncp/edited");
    assert_eq!(edited["metadata"]["generation"], 1 + edits.len());
    assert_eq!(edited["status"]["conditions"][1]["status"], "True");
}

#[test]
fn a_rollout_continues_when_its_options_are_removed() {
    let api = Api::shared();
    for rollout in [json!({ "paused": true }), json!({}), json!({ "abort": true })] {
        let spec = json!({ "rollout": rollout, "desiredState": { "interfaces": [] } });
        api.cluster.apply(&policy("emptied", &spec).to_string()).unwrap();
        let written = &api.object("nncp/emptied")["spec"]["rollout"];
        assert_eq!(written.as_object().cloned().unwrap_or_default(), *rollout.as_object().unwrap());
    }
}
