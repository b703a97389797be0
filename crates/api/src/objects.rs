//! The kinds as whole objects, for clients of Kubernetes (`kube::Api<Policy>`).

use std::borrow::Cow;

use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use serde::{Deserialize, Serialize, Serializer};

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

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Enactment {
    pub metadata: ObjectMeta,
    /// None: of kubernetes-nmstate, which had no spec.
    pub spec: Option<EnactmentSpec>,
    pub status: EnactmentStatus,
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
        assert_eq!(Policy::url_path(&(), None), "/apis/nmstate.io/v1/nodenetworkconfigurationpolicies");
    }
}
