//! Both versions of a policy are served, with the same content.

use linesman_tests::api::{Api, policy};
use serde_json::json;

#[test]
fn v1beta1_policies_are_served_as_v1() {
    let api = Api::shared();
    let mut old = policy("old-version", &json!({ "maxUnavailable": "30%", "rollout": { "paused": true } }));
    old["apiVersion"] = json!("nmstate.io/v1beta1");
    let words = ["create", "-f", "-"];
    let made = api.cluster.kubectl_with(&api.cluster.admin(), &words, &old.to_string()).unwrap();
    assert!(made.success(), "{}", made.stderr);
    assert!(made.stderr.contains("v1beta1 NodeNetworkConfigurationPolicy is deprecated; use nmstate.io/v1"));
    for version in ["v1", "v1beta1"] {
        let kind = format!("nodenetworkconfigurationpolicies.{version}.nmstate.io/old-version");
        let seen = api.object(&kind);
        assert_eq!(seen["apiVersion"], format!("nmstate.io/{version}"));
        assert_eq!(seen["spec"], old["spec"]);
    }
}

#[test]
fn nmstate_objects_are_served_in_both_versions() {
    let api = Api::shared();
    let object =
        json!({ "apiVersion": "nmstate.io/v1beta1", "kind": "NMState", "metadata": { "name": "nmstate" } });
    api.cluster.apply(&object.to_string()).unwrap();
    assert_eq!(api.object("nmstates.v1.nmstate.io/nmstate")["spec"], json!({}));
    assert_eq!(api.object("nmstates.v1beta1.nmstate.io/nmstate")["spec"], json!({}));
}
