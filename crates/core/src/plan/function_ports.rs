//! Ports that are virtual functions and that the same document makes: NMState waits only for those that are declared.

use serde_json::{Value, json};

use crate::compare::View;
use crate::interface_kind::InterfaceKind;
use crate::state::{is_up, ports};
use crate::virtual_function::VirtualFunction;

pub(super) fn declare(document: &mut Value, observed: &Value) {
    let desired = document.clone();
    let view = View::new(&desired, observed, observed);
    let up = view.declared.iter().map(|declared| &declared.want).filter(|want| is_up(want));
    let called = up.flat_map(|want| ports(want).unwrap_or_default());
    let is_new = |called: &&str| {
        VirtualFunction::parse(called).is_some()
            && view.declares(called).is_none()
            && view.now(view.device(called), InterfaceKind::Ethernet).is_none()
    };
    let new = called.filter(is_new).map(|called| json!({"name": called, "type": "ethernet", "state": "up"}));
    if let Some(entries) = document.get_mut("interfaces").and_then(Value::as_array_mut) {
        entries.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_that_are_not_there_yet_are_declared() {
        let host = json!({ "interfaces": [
            { "name": "eth1", "type": "ethernet", "state": "up", "ethernet": { "sr-iov": {
                "total-vfs": 1, "vfs": [{ "id": 0, "iface-name": "eth4" }] } } },
            { "name": "eth4", "type": "ethernet", "state": "up" } ] });
        let mut document = json!({ "interfaces": [
            { "name": "eth1", "type": "ethernet", "state": "up", "ethernet": { "sr-iov": { "total-vfs": 3 } } },
            { "name": "sriov:eth1:2", "type": "ethernet", "state": "up" },
            { "name": "bond0", "type": "bond", "state": "up", "link-aggregation": {
                "mode": "active-backup", "port": ["sriov:eth1:0", "sriov:eth1:1", "sriov:eth1:2"] } } ] });
        declare(&mut document, &host);
        let added = &document["interfaces"].as_array().unwrap()[3..];
        assert_eq!(added, [json!({"name": "sriov:eth1:1", "type": "ethernet", "state": "up"})]);
    }
}
