//! A document that has to be applied although policies declare its interfaces, since its NICs have other names now.

use linesman_core::policy::Policy;
use linesman_core::state::is_same_interface;
use serde_json::Value;

/// The interfaces of the document as the policies want them. What only policies declare is theirs to bring.
#[must_use]
pub fn under_policies(document: &Value, policies: &[Policy]) -> Value {
    let mut document = document.clone();
    let interfaces = document.get_mut("interfaces").and_then(Value::as_array_mut);
    for interface in interfaces.into_iter().flatten() {
        let declared = policies.iter().flat_map(|policy| linesman_core::state::interfaces(&policy.state));
        let same: Vec<&Value> = declared.filter(|declared| is_same_interface(declared, interface)).collect();
        same.into_iter().for_each(|declared| lay(interface, declared));
    }
    document
}

/// Lists are complete in NMState: the policy's replaces the document's.
fn lay(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(fields), Value::Object(over)) => {
            for (key, over) in over.iter().filter(|(_, over)| !over.is_null()) {
                lay(fields.entry(key.as_str()).or_insert(Value::Null), over);
            }
        }
        (value, over) => *value = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::policy::Options;
    use serde_json::json;

    fn policy(name: &str, state: Value) -> Policy {
        Policy { name: name.into(), state, capture: None, options: Options::default() }
    }

    #[test]
    fn what_policies_have_set_since_stays() {
        let document = json!({
            "interfaces": [
                { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "ens3" }, { "name": "br-ex" }] } },
                { "name": "br-ex", "type": "ovs-interface", "mtu": 1500, "ipv4": { "enabled": true, "dhcp": true } },
                { "name": "ens3", "type": "ethernet", "mtu": 1500 }
            ],
            "routes": { "config": [{ "destination": "0.0.0.0/0", "next-hop-interface": "br-ex" }] }
        });
        let policies = [
            policy(
                "mtu",
                json!({ "interfaces": [{ "name": "br-ex", "type": "ovs-interface", "mtu": 9000, "description": null }] }),
            ),
            policy(
                "ports",
                json!({ "interfaces": [
                { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "ens3" }, { "name": "br-ex" }, { "name": "vm0" }] } },
                { "name": "eth7.5", "type": "vlan" } ] }),
            ),
        ];
        let expected = json!({
            "interfaces": [
                { "name": "br-ex", "type": "ovs-bridge", "bridge": { "port": [{ "name": "ens3" }, { "name": "br-ex" }, { "name": "vm0" }] } },
                { "name": "br-ex", "type": "ovs-interface", "mtu": 9000, "ipv4": { "enabled": true, "dhcp": true } },
                { "name": "ens3", "type": "ethernet", "mtu": 1500 }
            ],
            "routes": { "config": [{ "destination": "0.0.0.0/0", "next-hop-interface": "br-ex" }] }
        });
        assert_eq!(under_policies(&document, &policies), expected);
        assert_eq!(under_policies(&document, &[]), document);
    }
}
