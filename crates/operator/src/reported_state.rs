//! A NodeNetworkState of which only the NICs and the key are read: the rest of it can be a megabyte, and is the node's own to write.

use std::borrow::Cow;
use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use linesman_api::bounded::{self, METADATA, Part};
use linesman_api::objects::NodeState;
use linesman_fleet::rollout::MacAddress;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const PARTS: Part = Part::Fields(&[
    ("metadata", METADATA),
    (
        "status",
        Part::Fields(&[
            ("currentState", Part::Fields(&[("interfaces", Part::Each(&NIC))])),
            ("sealingKey", Part::Scalar),
        ]),
    ),
]);
const NIC: Part = Part::Fields(&[
    ("type", Part::Scalar),
    ("mac-address", Part::Scalar),
    ("permanent-mac-address", Part::Scalar),
]);

/// Reading it never fails: an interface that makes no sense has no MAC address.
#[derive(Debug, Clone, Default)]
pub struct ReportedState {
    pub metadata: ObjectMeta,
    pub report: NodeReport,
}

/// What a node says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeReport {
    pub macs: BTreeSet<MacAddress>,
    pub sealing_key: Option<String>,
}

impl<'de> Deserialize<'de> for ReportedState {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut value = bounded::read(&PARTS, from)?.value;
        let metadata = value.get_mut("metadata").map(Value::take).unwrap_or_default();
        let interfaces = value.pointer("/status/currentState/interfaces").and_then(Value::as_array);
        let macs = interfaces.into_iter().flatten().flat_map(macs).collect();
        let sealing_key = value.pointer("/status/sealingKey").and_then(Value::as_str).map(str::to_owned);
        let metadata = ObjectMeta::deserialize(metadata).unwrap_or_default();
        Ok(Self { metadata, report: NodeReport { macs, sealing_key } })
    }
}

fn macs(interface: &Value) -> impl Iterator<Item = MacAddress> {
    let text = |key: &str| interface.get(key).and_then(Value::as_str);
    // The NICs of a node that is itself a container are veth.
    let physical = text("type").is_some_and(|kind| ["ethernet", "veth"].contains(&kind));
    let written = [text("mac-address"), text("permanent-mac-address")].into_iter().flatten();
    written
        .filter(move |_| physical)
        .filter_map(|address| address.parse().ok())
        .collect::<Vec<_>>()
        .into_iter()
}

impl Resource for ReportedState {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macs_are_those_of_nics_whatever_else_a_node_writes() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        let text = format!(
            r#"{{"metadata":{{"name":"w1","managedFields":[{deep}]}},"status":{{"sealingKey":"k","x":{deep},"currentState":{{"routes":{deep},"interfaces":[
            {{"name":"eth0","type":"ethernet","mac-address":"52:54:00:00:00:01","permanent-mac-address":"52:54:00:00:00:02","x":{deep}}},
            {{"name":"br0","type":"linux-bridge","mac-address":"52:54:00:00:00:03"}},
            {{"type":"ethernet","mac-address":{deep}}}, {{"type":7,"mac-address":-1}}, "eth7", [],
            {{"name":"eth1","type":"veth","mac-address":"52:54:00:00:00:04"}}]}}}}}}"#
        );
        let nics: ReportedState = serde_json::from_str(&text).unwrap();
        let want = ["52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:04"];
        assert_eq!(nics.report.macs.iter().map(ToString::to_string).collect::<Vec<_>>(), want);
        assert_eq!(nics.report.sealing_key.as_deref(), Some("k"));
        let strange: ReportedState =
            serde_json::from_str(&format!(r#"{{"status":{{"sealingKey":{deep}}}}}"#)).unwrap();
        assert_eq!(strange.report, NodeReport::default());
        assert_eq!(nics.metadata.name.as_deref(), Some("w1"));
    }
}
