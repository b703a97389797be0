//! The kinds as whole objects, for clients of Kubernetes (`kube::Api<Policy>`).

use std::borrow::Cow;

use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::enactment::{EnactmentSpec, EnactmentStatus};
use crate::kinds::{ENACTMENT, GROUP, Kind, NODE_STATE, POLICY};
use crate::node_state::NodeStateStatus;
use crate::policy::{PolicySpec, PolicyStatus};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Policy {
    pub metadata: ObjectMeta,
    pub spec: PolicySpec,
    pub status: PolicyStatus,
}

/// Reading one never fails: an enactment that a newer version, a person or a stranger wrote must not keep the others from
/// being read. A status that cannot be read counts as none.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Parts")]
pub struct Enactment {
    pub metadata: ObjectMeta,
    /// None: unreadable, or of kubernetes-nmstate, which had no spec.
    pub spec: Option<EnactmentSpec>,
    pub status: EnactmentStatus,
    pub unreadable: Option<UnreadableSpec>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableSpec {
    /// Which field, and why.
    pub error: String,
    /// 0 if it is what cannot be read.
    pub attempt: i64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parts {
    metadata: ObjectMeta,
    spec: Option<Value>,
    status: Value,
}

impl From<Parts> for Enactment {
    fn from(Parts { metadata, spec, status }: Parts) -> Self {
        let status = EnactmentStatus::deserialize(status).unwrap_or_default();
        let attempt = spec.as_ref().and_then(|spec| spec["attempt"].as_i64()).unwrap_or_default();
        let (spec, unreadable) = match spec.map(serde_path_to_error::deserialize).transpose() {
            Ok(spec) => (spec, None),
            Err(error) => {
                let error = format!("spec.{}: {}", error.path(), error.inner());
                (None, Some(UnreadableSpec { error, attempt }))
            }
        };
        Self { metadata, spec, status, unreadable }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NodeState {
    pub metadata: ObjectMeta,
    pub status: NodeStateStatus,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a, Spec: Serialize, Status: Serialize> {
    api_version: String,
    kind: &'static str,
    metadata: &'a ObjectMeta,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<&'a Spec>,
    status: &'a Status,
}

impl<'a, Spec: Serialize, Status: Serialize> Written<'a, Spec, Status> {
    fn new(kind: Kind, metadata: &'a ObjectMeta, spec: Option<&'a Spec>, status: &'a Status) -> Self {
        Self { api_version: kind.api_version(), kind: kind.kind, metadata, spec, status }
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::new(POLICY, &self.metadata, Some(&self.spec), &self.status).serialize(serializer)
    }
}

impl Serialize for Enactment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::new(ENACTMENT, &self.metadata, self.spec.as_ref(), &self.status).serialize(serializer)
    }
}

impl Serialize for NodeState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::new(NODE_STATE, &self.metadata, None::<&()>, &self.status).serialize(serializer)
    }
}

macro_rules! resource {
    ($name:ident, $kind:expr) => {
        impl Resource for $name {
            type DynamicType = ();
            type Scope = ClusterResourceScope;

            fn kind(_: &()) -> Cow<'_, str> {
                $kind.kind.into()
            }

            fn group(_: &()) -> Cow<'_, str> {
                GROUP.into()
            }

            fn version(_: &()) -> Cow<'_, str> {
                $kind.version().into()
            }

            fn plural(_: &()) -> Cow<'_, str> {
                $kind.plural.into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

resource!(Policy, POLICY);
resource!(Enactment, ENACTMENT);
resource!(NodeState, NODE_STATE);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_written_with_their_kind() {
        let metadata = ObjectMeta { name: Some("w1.blue".into()), ..ObjectMeta::default() };
        let enactment = Enactment { metadata, ..Enactment::default() };
        let written = serde_json::to_value(&enactment).unwrap();
        let want = json!({ "apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkConfigurationEnactment",
                           "metadata": { "name": "w1.blue" }, "status": {} });
        assert_eq!(written, want, "a spec that is not there is not null either");
        assert_eq!(serde_json::from_value::<Enactment>(written).unwrap(), enactment);
    }

    #[test]
    fn a_part_that_cannot_be_read_does_not_hide_the_others() {
        let read = |spec, status| -> Enactment {
            serde_json::from_value(
                json!({ "metadata": { "name": "w1.blue" }, "spec": spec, "status": status }),
            )
            .unwrap()
        };
        let (spec, status) = (json!({ "attempt": 3 }), json!({ "attempt": 2 }));
        let stranger = read(spec.clone(), json!({ "attempt": 2, "conditions": "none" }));
        assert_eq!(stranger.status, EnactmentStatus::default());
        assert_eq!(stranger.spec.map(|spec| spec.attempt), Some(3));
        let newer = read(json!({ "attempt": 3, "options": { "patience": -1 } }), status.clone());
        assert_eq!((newer.metadata.name.as_deref(), newer.status.attempt), (Some("w1.blue"), Some(2)));
        let error = "spec.options.patience: invalid value: integer `-1`, expected u64".to_owned();
        assert_eq!((newer.spec, newer.unreadable), (None, Some(UnreadableSpec { error, attempt: 3 })));
        assert_eq!(read(spec, status).unreadable, None);
        assert_eq!(read(Value::Null, Value::Null), read(Value::Null, json!({})));
        assert_eq!(Policy::url_path(&(), None), "/apis/nmstate.io/v1/nodenetworkconfigurationpolicies");
    }
}
