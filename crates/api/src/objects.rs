//! The kinds as whole objects, for clients of Kubernetes (`kube::Api<Policy>`).

use std::borrow::Cow;

use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::bounded::{self, Bounded, CONDITIONS, METADATA, Part};
use crate::enactment::{EnactmentSpec, EnactmentStatus};
use crate::kinds::{ENACTMENT, Kind, NODE_OPEN_VSWITCH, NODE_STATE, POLICY};
use crate::limits::READ_DEPTH;
use crate::node_state::NodeStateStatus;
use crate::open_vswitch::OpenVSwitchStatus;
use crate::policy::{PolicySpec, PolicyStatus};

/// Reading any of these never fails: one object that a newer version, a person or a stranger wrote must not keep the others
/// from being read. Only what is needed is read (`bounded`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    pub metadata: ObjectMeta,
    /// Without meaning if it is unreadable.
    pub spec: PolicySpec,
    pub status: PolicyStatus,
    /// Which field of the spec cannot be read, and why.
    pub unreadable: Option<String>,
}

/// A status that cannot be read counts as none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Enactment {
    pub metadata: ObjectMeta,
    /// None: unreadable, or of kubernetes-nmstate, which had no spec.
    pub spec: Option<EnactmentSpec>,
    pub status: EnactmentStatus,
    pub unreadable: Option<UnreadableSpec>,
    /// Which field of the status cannot be read, and why.
    pub unreadable_status: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableSpec {
    /// Which field, and why.
    pub error: String,
    /// 0 if it is what cannot be read.
    pub attempt: i64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeState {
    pub metadata: ObjectMeta,
    pub status: NodeStateStatus,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeOpenVSwitch {
    pub metadata: ObjectMeta,
    pub status: OpenVSwitchStatus,
}

/// A NodeNetworkState of which nothing else is of interest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeStateMeta {
    pub metadata: ObjectMeta,
}

const POLICY_PARTS: Part =
    Part::Fields(&[("metadata", METADATA), ("spec", Part::Document), ("status", Part::Excerpt)]);
const NODE_STATE_PARTS: Part = Part::Fields(&[("metadata", METADATA), ("status", Part::Document)]);
const NODE_OPEN_VSWITCH_PARTS: Part = Part::Fields(&[("metadata", METADATA), ("status", Part::Document)]);
const ENACTMENT_PARTS: Part = Part::Fields(&[
    ("metadata", METADATA),
    ("spec", Part::Document),
    (
        "status",
        Part::Fields(&[
            ("desiredState", Part::Excerpt),
            ("desiredStateMetaInfo", Part::Each(&Part::Scalar)),
            ("capturedStates", Part::Each(&Part::Excerpt)),
            ("policyGeneration", Part::Scalar),
            ("attempt", Part::Scalar),
            ("observedGeneration", Part::Scalar),
            ("conditions", CONDITIONS),
            ("requestsRelease", Part::Scalar),
            ("features", Part::Each(&Part::Scalar)),
            ("retryCount", Part::Each(&Part::Scalar)),
        ]),
    ),
]);
const METADATA_ONLY: Part = Part::Fields(&[("metadata", METADATA)]);

/// An object in parts; `metadata` is the API server's own, and always readable.
struct Parts {
    metadata: ObjectMeta,
    spec: Value,
    status: Value,
    too_deep: bool,
}

impl Parts {
    fn read<'de, D: Deserializer<'de>>(part: &'static Part, from: D) -> Result<Self, D::Error> {
        let Bounded { mut value, too_deep } = bounded::read(part, from)?;
        let mut take = |key| value.get_mut(key).map(Value::take).unwrap_or_default();
        let metadata = ObjectMeta::deserialize(take("metadata")).unwrap_or_default();
        Ok(Self { metadata, spec: take("spec"), status: take("status"), too_deep })
    }

    fn depth(&self) -> Result<(), String> {
        match self.too_deep {
            true => Err(format!("it is nested deeper than {READ_DEPTH} levels")),
            false => Ok(()),
        }
    }
}

/// `part` names it in the error.
fn typed<T: DeserializeOwned + Default>(part: &str, value: Value) -> Result<T, String> {
    if value.is_null() {
        return Ok(T::default());
    }
    serde_path_to_error::deserialize(value)
        .map_err(|error| format!("{part}.{}: {}", error.path(), error.inner()))
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let parts = Parts::read(&POLICY_PARTS, from)?;
        let spec = parts.depth().and_then(|()| typed("spec", parts.spec));
        let (spec, unreadable) = spec.map_or_else(|e| (PolicySpec::default(), Some(e)), |spec| (spec, None));
        let status = typed("status", parts.status).unwrap_or_default();
        Ok(Self { metadata: parts.metadata, spec, status, unreadable })
    }
}

impl<'de> Deserialize<'de> for Enactment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let parts = Parts::read(&ENACTMENT_PARTS, from)?;
        let attempt = parts.spec.get("attempt").and_then(Value::as_i64).unwrap_or_default();
        let (spec, unreadable) = match parts.depth().and_then(|()| typed("spec", parts.spec)) {
            Ok(spec) => (spec, None),
            Err(error) => (None, Some(UnreadableSpec { error, attempt })),
        };
        let status = typed("status", parts.status);
        let (status, unreadable_status) =
            status.map_or_else(|error| (EnactmentStatus::default(), Some(error)), |status| (status, None));
        Ok(Self { metadata: parts.metadata, spec, status, unreadable, unreadable_status })
    }
}

impl<'de> Deserialize<'de> for NodeState {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let parts = Parts::read(&NODE_STATE_PARTS, from)?;
        let status = parts.depth().and_then(|()| typed("status", parts.status)).unwrap_or_default();
        Ok(Self { metadata: parts.metadata, status })
    }
}

impl<'de> Deserialize<'de> for NodeOpenVSwitch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let parts = Parts::read(&NODE_OPEN_VSWITCH_PARTS, from)?;
        let status = parts.depth().and_then(|()| typed("status", parts.status)).unwrap_or_default();
        Ok(Self { metadata: parts.metadata, status })
    }
}

impl<'de> Deserialize<'de> for NodeStateMeta {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Parts::read(&METADATA_ONLY, from).map(|parts| Self { metadata: parts.metadata })
    }
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

impl Serialize for NodeOpenVSwitch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::new(NODE_OPEN_VSWITCH, &self.metadata, None::<&()>, &self.status).serialize(serializer)
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
                $kind.group.into()
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
resource!(NodeStateMeta, NODE_STATE);
resource!(NodeOpenVSwitch, NODE_OPEN_VSWITCH);

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
        let error = "status.conditions: invalid type: string \"none\", expected a sequence";
        assert_eq!(stranger.unreadable_status.as_deref(), Some(error));
        assert_eq!(stranger.spec.map(|spec| spec.attempt), Some(3));
        let newer = read(json!({ "attempt": 3, "options": { "patience": -1 } }), status.clone());
        assert_eq!((newer.metadata.name.as_deref(), newer.status.attempt), (Some("w1.blue"), Some(2)));
        let error = "spec.options.patience: invalid value: integer `-1`, expected u64".to_owned();
        assert_eq!((newer.spec, newer.unreadable), (None, Some(UnreadableSpec { error, attempt: 3 })));
        assert_eq!(read(spec, status).unreadable, None);
        assert_eq!(read(Value::Null, Value::Null), read(Value::Null, json!({})));
        assert_eq!(Policy::url_path(&(), None), "/apis/nmstate.io/v1/nodenetworkconfigurationpolicies");
    }

    /// As an object comes from the API server, after `metadata`.
    fn parse<T: DeserializeOwned>(rest: &str) -> T {
        serde_json::from_str(&format!(r#"{{"metadata":{{"name":"a"}},{rest}}}"#)).unwrap()
    }

    fn nested(levels: usize) -> String {
        format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn no_depth_keeps_an_object_from_being_read() {
        let deep = nested(10_000);
        let state: NodeState = parse(&format!(r#""status":{{"currentState":{deep}}}"#));
        assert_eq!((state.metadata.name.as_deref(), state.status.current_state), (Some("a"), None));
        let status =
            format!(r#""status":{{"attempt":2,"desiredState":{deep},"capturedStates":{{"c":{deep}}}}}"#);
        let enactment: Enactment = parse(&status);
        assert_eq!((enactment.status.attempt, enactment.unreadable_status), (Some(2), None));
        let enactment: Enactment = parse(&format!(r#""spec":{{"attempt":3,"desiredState":{deep}}}"#));
        assert_eq!(enactment.unreadable.map(|it| it.attempt), Some(3));
        let policy: Policy = parse(&format!(r#""spec":{{"desiredState":{}}}"#, nested(140)));
        assert_eq!(policy.unreadable.as_deref(), Some("it is nested deeper than 64 levels"));
        let policy: Policy = parse(&format!(r#""spec":{{"desiredState":{}}}"#, nested(40)));
        assert!(policy.unreadable.is_none() && policy.spec.desired_state.is_some());
    }

    #[test]
    fn a_policy_that_cannot_be_read_says_which_field() {
        let policy: Policy = parse(r#""spec":{"patience":-1},"status":{"observedGeneration":4}"#);
        let error = "spec.patience: invalid value: integer `-1`, expected u64";
        assert_eq!((policy.unreadable.as_deref(), policy.status.observed_generation), (Some(error), Some(4)));
    }
}
