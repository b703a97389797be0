//! The enactment object of a policy on a node.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use linesman_api::enactment::EnactmentSpec;
use linesman_api::labels;
use linesman_api::objects::Enactment;

/// Owned by its node: Kubernetes deletes it with the node.
pub fn enactment(
    name: String,
    policy: &str,
    node: &str,
    uid: &str,
    spec: Option<&EnactmentSpec>,
) -> Enactment {
    let owner = OwnerReference {
        api_version: "v1".into(),
        kind: "Node".into(),
        name: node.into(),
        uid: uid.into(),
        ..OwnerReference::default()
    };
    let value = labels::node_value(node);
    let labels = [(labels::POLICY, policy), (labels::NODE, &*value)];
    let metadata = ObjectMeta {
        name: Some(name),
        labels: Some(labels.map(|(key, value)| (key.into(), value.into())).into()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    Enactment { metadata, spec: spec.cloned(), ..Enactment::default() }
}
