//! Overrides of the desired state for single hosts.

use linesman_api::policy::{HostMatch, HostOverlay, PolicySpec};
use serde_json::{Map, Value};

use super::facts::NodeFacts;
use linesman_core::codes::CLEAR_SECRET;
use linesman_core::mac_address::MacAddress;
use linesman_core::path::Path;
use linesman_core::secrets::in_clear;
use linesman_core::state;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverlayError {
    #[error("{first} and {second} both match this node; remove one of them")]
    Ambiguous { first: String, second: String },
    #[error("hosts are matched by MAC address, and the node has not reported its NICs yet")]
    MacsUnknown,
    #[error(
        "the node reports the MAC address {mac}, and so does {others}; match these hosts by node, or correct the NICs"
    )]
    MacShared { mac: MacAddress, others: String },
    #[error(
        "the node reports the MAC address {mac}, which belongs to node {owner}; if the NIC was moved, delete the enactments of {owner}, or match \
         the host by node"
    )]
    MacTaken { mac: MacAddress, owner: String },
    #[error(
        "[{CLEAR_SECRET}] desiredState.{place} contains a secret in plain text; store it in a Secret in the namespace of the agents, and write \
         {{secretKeyRef: {{name: NAME, key: KEY}}}} here"
    )]
    ClearSecret { place: Path },
}

/// The desired state of one node. With a secret in plain text it is an error: many may read enactments.
pub fn state_for(spec: &PolicySpec, node: &NodeFacts) -> Result<Option<Value>, OverlayError> {
    let state = overlaid_for(spec, node)?;
    match state.as_ref().and_then(in_clear) {
        Some(place) => Err(OverlayError::ClearSecret { place }),
        None => Ok(state),
    }
}

fn overlaid_for(spec: &PolicySpec, node: &NodeFacts) -> Result<Option<Value>, OverlayError> {
    let mut matching = spec.hosts.iter().enumerate().filter(|(_, host)| matches(&host.matching, node));
    let (first, second) = (matching.next(), matching.next());
    match (first, second) {
        (Some(first), Some(second)) => {
            Err(OverlayError::Ambiguous { first: called(first), second: called(second) })
        }
        (Some((_, host)), None) => Ok(overlaid(spec.desired_state.as_ref(), host.desired_state.as_ref())),
        // Its NICs may decide, and they are not known.
        (None, _) if node.macs.is_empty() && spec.hosts.iter().any(|h| h.matching.mac_address.is_some()) => {
            Err(OverlayError::MacsUnknown)
        }
        (None, _) => Ok(spec.desired_state.clone()),
    }
}

fn matches(host: &HostMatch, node: &NodeFacts) -> bool {
    let mac = |wanted: &String| wanted.parse().is_ok_and(|wanted| node.macs.contains(&wanted));
    let wants = [
        host.node.as_ref().map(|name| *name == node.name),
        host.hostname.as_ref().map(|name| name == node.hostname()),
        host.mac_address.as_ref().map(mac),
    ];
    wants.contains(&Some(true)) && !wants.contains(&Some(false))
}

/// `hosts[2] (node worker-1)`
fn called((index, host): (usize, &HostOverlay)) -> String {
    let HostMatch { node, hostname, mac_address } = &host.matching;
    let by = [("node", node), ("hostname", hostname), ("macAddress", mac_address)];
    let by = by.iter().find_map(|(field, value)| value.as_ref().map(|value| format!("{field} {value}")));
    format!("hosts[{index}] ({})", by.unwrap_or_default())
}

fn overlaid(base: Option<&Value>, over: Option<&Value>) -> Option<Value> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base).cloned(),
    }
}

/// `over` on top of `base`: mappings key by key, interfaces by name, routes and rules added, all else replaced; null
/// takes away.
pub fn merge(base: &Value, over: &Value) -> Value {
    let (Value::Object(base), Value::Object(over)) = (base, over) else { return over.clone() };
    let mut merged = base.clone();
    for (key, value) in over {
        let value = match (merged.get(key), value) {
            (_, Value::Null) => {
                merged.shift_remove(key);
                continue;
            }
            (Some(Value::Array(base)), Value::Array(over)) if key == "interfaces" => interfaces(base, over),
            (Some(base @ Value::Object(_)), over) if key == "routes" || key == "route-rules" => {
                entries(base, over)
            }
            (Some(base), over) => merge(base, over),
            (None, over) => over.clone(),
        };
        merged.insert(key.clone(), value);
    }
    Value::Object(merged)
}

fn interfaces(base: &[Value], over: &[Value]) -> Value {
    let mut merged = base.to_vec();
    for interface in over {
        match merged.iter_mut().find(|known| is_same(known, interface)) {
            Some(known) => *known = merge(known, interface),
            None => merged.push(interface.clone()),
        }
    }
    merged.into()
}

/// An OVS bridge and its internal interface share a name; a host that leaves the type open means the first.
fn is_same(known: &Value, over: &Value) -> bool {
    let userspace = |interface| state::kind(interface).is_userspace();
    state::name(known) == state::name(over)
        && (over.get("type").is_none() || userspace(known) == userspace(over))
}

fn entries(base: &Value, over: &Value) -> Value {
    let mut merged = base.as_object().cloned().unwrap_or_else(Map::new);
    for (key, value) in over.as_object().into_iter().flatten() {
        let both = match (merged.get(key), value) {
            (Some(Value::Array(base)), Value::Array(over)) => {
                let new = over.iter().filter(|entry| !base.contains(entry));
                base.iter().chain(new).cloned().collect()
            }
            (_, value) => value.clone(),
        };
        merged.insert(key.clone(), both);
    }
    Value::Object(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(hosts: Value) -> PolicySpec {
        serde_json::from_value(json!({
            "desiredState": { "interfaces": [{ "name": "eth1", "type": "ethernet", "mtu": 9000 }],
                              "routes": { "config": [{ "destination": "10.0.0.0/8" }] } },
            "hosts": hosts
        }))
        .unwrap()
    }

    fn node() -> NodeFacts {
        let labels = [("kubernetes.io/hostname".to_string(), "w1.example.com".to_string())].into();
        NodeFacts {
            name: "w1".into(),
            labels,
            macs: ["52:54:00:00:00:0a".parse().unwrap()].into(),
            ..NodeFacts::default()
        }
    }

    #[test]
    fn a_host_is_found_by_node_hostname_or_mac() {
        let state = json!({ "interfaces": [{ "name": "eth1", "mtu": 1500 }] });
        let by = |matching: Value| {
            let hosts = json!([{ "match": matching, "desiredState": state }]);
            state_for(&spec(hosts), &node()).unwrap().unwrap()["interfaces"][0]["mtu"].clone()
        };
        assert_eq!(by(json!({ "node": "w1" })), 1500);
        assert_eq!(by(json!({ "hostname": "w1.example.com" })), 1500);
        assert_eq!(by(json!({ "macAddress": "52:54:00:00:00:0A" })), 1500);
        assert_eq!(by(json!({ "node": "w2" })), 9000);
        assert_eq!(by(json!({})), 9000);
    }

    #[test]
    fn two_that_match_are_both_named() {
        let hosts =
            json!([{ "match": { "node": "w1" } }, { "match": { "macAddress": "52:54:00:00:00:0a" } }]);
        let error = state_for(&spec(hosts), &node()).unwrap_err().to_string();
        assert_eq!(
            error,
            "hosts[0] (node w1) and hosts[1] (macAddress 52:54:00:00:00:0a) both match this node; remove one of them"
        );
    }

    #[test]
    fn no_host_is_matched_while_the_nics_are_unknown() {
        let hosts = json!([{ "match": { "macAddress": "52:54:00:00:00:0b" } }]);
        assert!(state_for(&spec(hosts.clone()), &node()).is_ok());
        let unknown = NodeFacts { macs: [].into(), ..node() };
        assert_eq!(state_for(&spec(hosts), &unknown), Err(OverlayError::MacsUnknown));
    }

    #[test]
    fn the_state_of_a_host_overrides_the_policy() {
        let over = json!({ "interfaces": [{ "name": "eth1", "mtu": null, "ipv4": { "enabled": true } }, { "name": "eth2" }],
                           "routes": { "config": [{ "destination": "10.0.0.0/8" }, { "destination": "0.0.0.0/0" }] },
                           "hostname": { "config": "w1" } });
        let merged =
            state_for(&spec(json!([{ "match": { "node": "w1" }, "desiredState": over }])), &node()).unwrap();
        assert_eq!(
            merged.unwrap(),
            json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "ipv4": { "enabled": true } }, { "name": "eth2" }],
                    "routes": { "config": [{ "destination": "10.0.0.0/8" }, { "destination": "0.0.0.0/0" }] },
                    "hostname": { "config": "w1" } })
        );
    }

    #[test]
    fn a_bridge_of_ovs_and_its_interface_stay_two() {
        let base = json!({ "interfaces": [{ "name": "br-ex", "type": "ovs-bridge" }, { "name": "br-ex", "type": "ovs-interface" }] });
        let over = json!({ "interfaces": [{ "name": "br-ex", "type": "ovs-interface", "ipv4": { "enabled": true } }] });
        let merged = merge(&base, &over);
        assert_eq!(merged["interfaces"][0], json!({ "name": "br-ex", "type": "ovs-bridge" }));
        assert_eq!(merged["interfaces"][1]["ipv4"]["enabled"], true);
    }
}
