//! A bond takes the MAC address of the port that comes first, and at boot that may be another one each time: its DHCP lease and the
//! switch's tables follow. So a new bond is given that of the first port in its list, unless the document states one.

use serde_json::Value;

use crate::compare::View;
use crate::interface_kind::InterfaceKind;
use crate::state::{self, is_up, kind, name, text};

pub(super) fn fill(document: &mut Value, observed: &Value) {
    let desired = document.clone();
    let view = View::new(&desired, observed, observed);
    let entries = document.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    for bond in entries.filter(|entry| kind(entry) == InterfaceKind::Bond && is_up(entry)) {
        let is_new = view.now(name(bond), InterfaceKind::Bond).is_none();
        let is_given = ["mac-address", "copy-mac-from"].iter().any(|key| text(bond, key).is_some());
        if let Some(port) = first_port(&view, bond).filter(|_| is_new && !is_given && keeps_one_mac(bond)) {
            bond["copy-mac-from"] = port.into();
        }
    }
}

/// One that is made by the same document has none yet.
fn first_port(view: &View<'_>, bond: &Value) -> Option<String> {
    let port = *state::ports(bond)?.first()?;
    let now = view.now(view.device(port), InterfaceKind::Unknown)?;
    text(now, "mac-address").map(|_| name(now).to_owned())
}

/// With `fail_over_mac` the ports keep theirs, and the bond has that of the one in use.
fn keeps_one_mac(bond: &Value) -> bool {
    let option = state::at(bond, &["link-aggregation", "options", "fail_over_mac"]).and_then(Value::as_str);
    option.is_none_or(|option| option == "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(bond: &Value) -> Value {
        let nic = |name: &str| json!({ "name": name, "type": "ethernet", "state": "up", "mac-address": "02:00:00:00:00:01" });
        let old = json!({ "name": "old", "type": "bond", "state": "up", "link-aggregation": { "port": [] } });
        let host = json!({ "interfaces": [nic("eth1"), nic("eth2"), old] });
        let mut document = json!({ "interfaces": [bond] });
        fill(&mut document, &host);
        document["interfaces"][0]["copy-mac-from"].clone()
    }

    fn bond(more: &Value) -> Value {
        let mut bond = json!({ "name": "bond0", "type": "bond", "state": "up",
            "link-aggregation": { "mode": "active-backup", "port": ["eth2", "eth1"] } });
        for (key, value) in more.as_object().into_iter().flatten() {
            bond[key] = value.clone();
        }
        bond
    }

    #[test]
    fn a_new_bond_has_the_mac_of_its_first_port() {
        assert_eq!(filled(&bond(&json!({}))), "eth2");
    }

    #[test]
    fn not_if_it_has_one_exists_or_shall_change_it() {
        for more in [
            json!({ "mac-address": "02:00:00:00:00:07" }),
            json!({ "name": "old" }),
            json!({ "state": "absent" }),
            json!({ "link-aggregation": { "port": ["eth2"], "options": { "fail_over_mac": "active" } } }),
            json!({ "link-aggregation": { "port": ["made-here", "eth1"] } }),
        ] {
            assert_eq!(filled(&bond(&more)), Value::Null, "{more}");
        }
        assert_eq!(filled(&bond(&json!({ "copy-mac-from": "eth1" }))), "eth1");
    }
}
