//! Interfaces that a document finds by their MAC address and whose profile it names: NMState then takes `name` for the device's own
//! name and finds none. It gets the device's name.

use serde_json::Value;

use crate::compare::View;
use crate::path::Path;
use crate::state::{name, text};

pub(super) fn name_devices(document: &mut Value, observed: &Value) {
    let desired = document.clone();
    let view = View::new(&desired, observed, observed);
    let entries = document.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    let found = |entry: &&mut Value| {
        text(entry, "identifier") == Some("mac-address") && text(entry, "profile-name").is_some()
    };
    for entry in entries.filter(found) {
        let place = Path::interface(name(entry));
        if let Some(declared) = view.declared.iter().find(|declared| declared.path == place) {
            entry["name"] = name(&declared.want).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_with_a_profile_of_its_own_gets_the_name_of_the_device() {
        let host = json!({ "interfaces": [
            { "name": "eth1", "type": "ethernet", "state": "up", "mac-address": "02:00:00:00:00:01" } ] });
        let named = |more: &Value| {
            let mut entry = json!({ "name": "uplink", "type": "ethernet", "state": "up", "identifier": "mac-address",
                "mac-address": "02:00:00:00:00:01" });
            for (key, value) in more.as_object().into_iter().flatten() {
                entry[key] = value.clone();
            }
            let mut document = json!({ "interfaces": [entry] });
            name_devices(&mut document, &host);
            document["interfaces"][0]["name"].clone()
        };
        assert_eq!(named(&json!({ "profile-name": "storage" })), "eth1");
        assert_eq!(named(&json!({})), "uplink", "NMState finds it, and names the profile so");
        let nowhere = json!({ "profile-name": "storage", "mac-address": "02:00:00:00:00:09" });
        assert_eq!(named(&nowhere), "uplink");
    }
}
