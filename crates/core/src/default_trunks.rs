//! Ports of a Linux bridge are trunks of all VLANs unless their policy says otherwise, as in kubernetes-nmstate: a virtual machine
//! with a VLAN of its own makes the bridge filter, and what the uplink is not a trunk of is dropped from then on.

use serde_json::{Value, json};

use crate::state::{interfaces, is_up};

/// Both spellings.
const PORTS: [&str; 2] = ["port", "ports"];

/// Fills it in where the state of a policy names a port without `vlan`, and none of `others` gives that port one.
pub fn fill(state: &mut Value, others: &[&Value]) {
    let bridges = state.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    for bridge in bridges.filter(|interface| is_linux_bridge(interface) && is_up(interface)) {
        let name = bridge["name"].clone();
        let Some(options) = bridge.get_mut("bridge").and_then(Value::as_object_mut) else { continue };
        let lists = options.iter_mut().filter(|(key, _)| PORTS.contains(&key.as_str()));
        for port in lists.filter_map(|(_, list)| list.as_array_mut()).flatten() {
            if port.is_object() && port.get("vlan").is_none() && !is_given(&name, &port["name"], others) {
                port["vlan"] =
                    json!({"mode": "trunk", "trunk-tags": [{"id-range": {"min": 2, "max": 4094}}]});
            }
        }
    }
}

fn is_linux_bridge(interface: &Value) -> bool {
    interface["type"] == "linux-bridge"
}

fn is_given(bridge: &Value, port: &Value, others: &[&Value]) -> bool {
    let bridges = others.iter().flat_map(|state| interfaces(state));
    let same = bridges.filter(|interface| is_linux_bridge(interface) && interface["name"] == *bridge);
    let lists = same.flat_map(|same| PORTS.iter().filter_map(|key| same["bridge"][key].as_array()));
    lists.flatten().any(|other| other["name"] == *port && other.get("vlan").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bridge(port: &Value) -> Value {
        json!({"interfaces": [{"name": "br1", "type": "linux-bridge", "state": "up", "bridge": {"port": [port]}}]})
    }

    fn filled(mut state: Value, others: &[&Value]) -> Value {
        fill(&mut state, others);
        state["interfaces"][0]["bridge"]["port"][0]["vlan"].clone()
    }

    #[test]
    fn a_port_without_vlan_is_a_trunk() {
        let trunk = json!({"mode": "trunk", "trunk-tags": [{"id-range": {"min": 2, "max": 4094}}]});
        assert_eq!(filled(bridge(&json!({"name": "eth1"})), &[]), trunk);
        assert_eq!(filled(bridge(&json!({"name": "eth1", "vlan": {}})), &[]), json!({}));
        let mut absent = bridge(&json!({"name": "eth1"}));
        absent["interfaces"][0]["state"] = "absent".into();
        assert_eq!(filled(absent, &[]), Value::Null);
    }

    #[test]
    fn another_policy_may_have_said_it() {
        let other = bridge(&json!({"name": "eth1", "vlan": {"mode": "access", "tag": 5}}));
        assert_eq!(filled(bridge(&json!({"name": "eth1"})), &[&other]), Value::Null);
        assert_ne!(filled(bridge(&json!({"name": "eth2"})), &[&other]), Value::Null);
    }
}
