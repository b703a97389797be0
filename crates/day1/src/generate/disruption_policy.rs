//! The NodeDisruptionPolicy that lets documents change without a reboot: they are applied when a host is installed, so a
//! document for a new host must not reboot the others.

use linesman_core::yaml;
use serde_json::json;

use super::GeneratedFile;
use super::host_files::DIRECTORY;
use super::ignition::unit_names;

/// For server-side apply: entries of others, keyed by path and by name, stay.
pub fn file() -> GeneratedFile {
    let object = json!({
        "apiVersion": "operator.openshift.io/v1",
        "kind": "MachineConfiguration",
        "metadata": { "name": "cluster" },
        "spec": { "nodeDisruptionPolicy": {
            "files": [{ "path": DIRECTORY, "actions": [{ "type": "None" }] }],
            "units": unit_names().map(|name| json!({ "name": name, "actions": [{ "type": "DaemonReload" }] })).collect::<Vec<_>>(),
        }},
    });
    GeneratedFile {
        name: "node-disruption-policy.yaml".to_owned(),
        text: yaml::write(&object),
        is_secret: false,
    }
}
