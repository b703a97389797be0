//! A NodeNetworkState of which only the NICs are read: the rest of it can be a megabyte.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use linesman_api::objects::NodeState;
use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Nics {
    pub metadata: ObjectMeta,
    pub status: Status,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    pub current_state: State,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct State {
    pub interfaces: Vec<Nic>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Nic {
    #[serde(rename = "type")]
    pub kind: String,
    pub mac_address: Option<String>,
    pub permanent_mac_address: Option<String>,
}

impl Resource for Nics {
    type DynamicType = ();
    type Scope = <NodeState as Resource>::Scope;

    fn kind(_: &()) -> Cow<'_, str> {
        NodeState::kind(&())
    }

    fn group(_: &()) -> Cow<'_, str> {
        NodeState::group(&())
    }

    fn version(_: &()) -> Cow<'_, str> {
        NodeState::version(&())
    }

    fn plural(_: &()) -> Cow<'_, str> {
        NodeState::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
