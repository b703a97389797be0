//! kubernetes-nmstate makes every port of a bridge a trunk unless the policy says something of VLANs there. Virtual machines with
//! VLANs of their own rely on that, so policies of a cluster mean the same here; `vlan: {}` on a port opts out, as ever.

use serde_json::{Value, json};

pub fn with_trunks(state: &mut Value) {
    let interfaces = state.get_mut("interfaces").and_then(Value::as_array_mut);
    for interface in interfaces.into_iter().flatten() {
        if interface["type"] != "linux-bridge" || interface["state"] != "up" {
            continue;
        }
        let ports = interface.pointer_mut("/bridge/port").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
            port.entry("vlan").or_insert_with(
                || json!({ "mode": "trunk", "trunk-tags": [{ "id-range": { "min": 2, "max": 4094 } }] }),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trunks(ports: Value, state: &str) -> Value {
        let mut all = json!({ "interfaces": [
            { "name": "br1", "type": "linux-bridge", "state": state, "bridge": { "port": ports } },
            { "name": "eth1", "type": "ethernet", "state": "up" },
        ] });
        with_trunks(&mut all);
        all["interfaces"][0]["bridge"]["port"].clone()
    }

    #[test]
    fn only_ports_that_say_nothing_become_trunks() {
        let ports = json!([{ "name": "eth1" }, { "name": "eth2", "vlan": {} }]);
        let made = trunks(ports.clone(), "up");
        assert_eq!(made[0]["vlan"]["trunk-tags"][0]["id-range"]["max"], 4094);
        assert_eq!(made[1]["vlan"], json!({}));
        assert_eq!(trunks(ports.clone(), "absent"), ports);
        assert_eq!(trunks(json!("{{ capture.ports }}"), "up"), json!("{{ capture.ports }}"));
    }
}
