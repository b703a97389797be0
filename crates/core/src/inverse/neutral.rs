//! Values that mean "not set", for properties that were not there before.
//!
//! NMState merges a document into the state of the host: what a revert does not mention stays as the policy made it.

use serde_json::{Value, json};

use crate::path::PathStep;

/// Of a whole section or property of an interface.
pub(super) fn section(key: &str) -> Option<Value> {
    Some(match key {
        "controller" => "".into(),
        "wait-ip" => "any".into(),
        "accept-all-mac-addresses" => false.into(),
        "lldp" | "ipv4" | "ipv6" => json!({ "enabled": false }),
        "mptcp" => json!({ "address-flags": [] }),
        _ => return None,
    })
}

/// Of a property inside a section that was there without it.
fn property(key: &str) -> Option<Value> {
    Some(match key {
        "auto-dns" | "auto-gateway" | "auto-routes" | "dhcp-send-hostname" => true.into(),
        "auto-route-table-id" => 0.into(),
        // The kernel's, or NetworkManager's choice.
        "auto-route-metric" | "prefix-route-metric" => (-1).into(),
        "dhcp-custom-hostname" | "token" => "".into(),
        "forwarding" => false.into(),
        "vlan" => json!({}),
        "mptcp-flags" => json!([]),
        _ => return None,
    })
}

/// Follows the path of a property, and says at its place that it was missing, if it was. `got` is what the plan
/// compared with: the default, for some.
pub(super) fn fill(interface: &mut Value, path: &[PathStep], got: &Value) {
    let mut place = interface;
    for (depth, step) in path.iter().enumerate() {
        let next = match step {
            PathStep::Key(key) if depth > 0 && place.is_object() && place.get(key).is_none() => {
                let default = (depth + 1 == path.len() && !got.is_null()).then(|| got.clone());
                if let Some(value) = default.or_else(|| property(key)) {
                    place[key] = value;
                }
                return;
            }
            PathStep::Key(key) => place.get_mut(key),
            PathStep::Item(name) => place
                .as_array_mut()
                .and_then(|items| items.iter_mut().find(|item| crate::state::name(item) == name)),
            PathStep::Index(index) => place.get_mut(*index),
        };
        match next {
            Some(next) => place = next,
            None => return,
        }
    }
}
