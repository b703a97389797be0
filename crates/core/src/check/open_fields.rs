//! Mappings of which NMState silently drops what it does not know, or complains without a word to go by; of all others
//! its own parse names the key.

use serde_json::Value;

use super::MAX_DIAGNOSTICS;
use super::schema_errors::hint_for;
use super::view::{Presence, State, items};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::path::Path;

/// Keys to follow, `*` for every item of a list, and the fields of what is there.
type Fields = (&'static [&'static str], &'static [&'static str]);

const OF_INTERFACES: &[Fields] = &[
    (
        &["802.1x"],
        &[
            "identity",
            "eap-methods",
            "private-key",
            "client-cert",
            "ca-cert",
            "private-key-password",
            "phase2-auth",
            "password",
        ],
    ),
    (&["dispatch"], &["post-activation", "post-deactivation"]),
    (&["veth"], &["peer"]),
    (&["link-aggregation", "ports-config", "*"], &["name", "priority", "queue-id"]),
    (&["vlan", "ingress-qos-map", "*"], &["from", "to"]),
    (&["vlan", "egress-qos-map", "*"], &["from", "to"]),
    (&["ovs-db"], OVS_DB),
    (&["bridge", "port", "*", "vlan", "trunk-tags", "*"], &["id", "id-range"]),
    (&["bridge", "port", "*", "link-aggregation", "port", "*"], &["name"]),
    (&["bridge", "port", "*", "link-aggregation", "ovs-db"], OVS_DB),
];
const OVS_DB: &[&str] = &["external_ids", "other_config"];
const OF_THE_HOST: &[Fields] = &[(&["ovn", "bridge-mappings", "*"], &["localnet", "state", "bridge"])];

pub(super) fn unknown(state: &State<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (keys, fields) in OF_THE_HOST {
        follow(state.value, &Path::root(), keys, fields, &mut found);
    }
    let kept = state.interfaces.iter().filter(|i| !matches!(i.presence, Presence::Absent | Presence::Ignore));
    for interface in kept {
        for (keys, fields) in OF_INTERFACES {
            follow(interface.value, &interface.path, keys, fields, &mut found);
        }
    }
    found
}

fn follow(value: &Value, path: &Path, keys: &[&str], fields: &[&str], found: &mut Vec<Diagnostic>) {
    let Some((key, rest)) = keys.split_first() else {
        let keys = value.as_object().into_iter().flat_map(|map| map.keys());
        let unknown = keys.filter(|key| !fields.contains(&key.as_str()));
        return found.extend(unknown.take(MAX_DIAGNOSTICS).map(|key| diagnostic(key, path, fields)));
    };
    if *key == "*" {
        return items(Some(value), path).for_each(|(path, item)| follow(item, &path, rest, fields, found));
    }
    // NMState takes `ports` for `port` and `bond` for `link-aggregation`.
    let spellings: &[&str] = match *key {
        "port" => &["port", "ports"],
        "link-aggregation" => &["link-aggregation", "bond"],
        _ => &[key],
    };
    for key in spellings {
        value.get(key).into_iter().for_each(|below| follow(below, &path.key(*key), rest, fields, found));
    }
}

fn diagnostic(key: &str, path: &Path, fields: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new(codes::UNKNOWN_FIELD, format!("unknown field '{key}'"));
    diagnostic.at(path.key(key)).hint(hint_for(key, fields).unwrap_or_default())
}
