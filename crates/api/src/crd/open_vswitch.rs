//! NodeOpenVSwitch

use serde_json::{Value, json};

use super::Definition;
use super::schema::*;
use crate::kinds;
use crate::limits::{OVS_BRIDGES, OVS_INTERFACE_ERRORS, OVS_NAME, OVS_SETTINGS, OVS_TEXT};

pub fn crd() -> Value {
    let status = object([
        ("versions", versions()),
        (
            "skew",
            text().about("skew says which versions do not fit together. It is absent when all of them do."),
        ),
        (
            "datapathTypes",
            many(name(), OVS_BRIDGES).about("datapathTypes lists the datapath types of ovs-vswitchd."),
        ),
        ("units", many(unit(), 8).about("units are the systemd units of Open vSwitch.")),
        ("restarts", count().about("restarts is the number of restarts of all units since the host booted.")),
        ("bridges", many(bridge(), OVS_BRIDGES).about("bridges lists the first bridges by name.")),
        ("bridgeCount", count().about("bridgeCount is the number of all bridges.")),
        ("portCount", count().about("portCount is the number of ports of all bridges.")),
        (
            "interfaceErrors",
            many(interface_error(), OVS_INTERFACE_ERRORS)
                .about("interfaceErrors lists the first interfaces that Open vSwitch cannot use."),
        ),
        ("interfaceErrorCount", count().about("interfaceErrorCount is the number of all of them.")),
        ("settings", settings()),
        ("conditions", conditions("Available, Progressing and Degraded")),
    ])
    .about("status is the observed state of Open vSwitch, written by the keeper on the node.");
    Definition {
        kind: kinds::NODE_OPEN_VSWITCH,
        about: "NodeOpenVSwitch is Open vSwitch on one node, as the keeper on the node observes it.",
        fields: vec![("status", status)],
        columns: columns(),
    }
    .build(|schema| schema)
}

fn columns() -> Vec<Value> {
    let column = |name: &str, kind: &str, about: &str, path: &str| json!({ "name": name, "type": kind, "description": about, "jsonPath": path });
    let condition = |kind: &str, field: &str| format!(".status.conditions[?(@.type==\"{kind}\")].{field}");
    vec![
        column("Available", "string", "Whether Open vSwitch works", &condition("Available", "status")),
        column("Degraded", "string", "Whether something needs attention", &condition("Degraded", "status")),
        column("Reason", "string", "Why it is degraded", &condition("Degraded", "reason")),
        column("Version", "string", "Version of Open vSwitch", ".status.versions.ovs"),
        column("Bridges", "integer", "Number of bridges", ".status.bridgeCount"),
        column("Errors", "integer", "Interfaces with errors", ".status.interfaceErrorCount"),
        column("Refused", "integer", "Settings that are refused", ".status.settings.refusedCount"),
        column("Restarts", "integer", "Restarts since the host booted", ".status.restarts"),
        column("Age", "date", "Since when the node has the object", ".metadata.creationTimestamp"),
    ]
}

fn versions() -> Value {
    object([
        ("ovs", name().about("ovs is the version of the running ovs-vswitchd.")),
        ("ovsdbServer", name().about("ovsdbServer is the version of the running ovsdb-server.")),
        ("schema", name().about("schema is the version of the schema of the database.")),
        ("kernel", name().about("kernel is the release of the running kernel.")),
    ])
    .about("versions are the versions that run.")
}

fn unit() -> Value {
    object([
        ("name", name().about("name is the name of the unit.")),
        ("state", name().about("state is the active state that systemd reports, such as active or failed.")),
        ("pid", long().about("pid is its main process.")),
        ("started", time().about("started is when it last became active.")),
        ("restarts", count().about("restarts is the number of its restarts since the host booted.")),
        ("lastCrash", text().about("lastCrash says how its last process ended, if not in order.")),
        (
            "memoryMebibytes",
            long().about("memoryMebibytes is the memory it uses, updated when it changes by a fifth."),
        ),
    ])
}

fn bridge() -> Value {
    object([
        ("name", name().about("name is the name of the bridge.")),
        ("datapathType", name().about("datapathType is its datapath type.")),
        ("ports", count().about("ports is the number of its ports.")),
    ])
}

fn interface_error() -> Value {
    object([
        ("interface", name().about("interface is the name of the interface.")),
        ("bridge", name().about("bridge is the bridge that it is a port of.")),
        ("error", text().about("error is what Open vSwitch reports.")),
    ])
}

fn settings() -> Value {
    let applied = object([
        ("key", name().about("key is the key of the setting.")),
        ("value", text().about("value is its value.")),
    ]);
    let refused = object([
        ("key", name().about("key is the key of the setting.")),
        ("source", text().about("source is where it is written.")),
        (
            "reason",
            name().about(
                "reason is Unreadable, UnknownKey, InvalidValue, Contradiction, OwnedByAnother, Contested or NotAccepted.",
            ),
        ),
        ("message", text().about("message says what is wrong and what to do.")),
    ]);
    object([
        ("appliedCount", count().about("appliedCount is the number of settings in effect.")),
        ("refusedCount", count().about("refusedCount is the number of settings that are refused.")),
        ("applied", many(applied, OVS_SETTINGS).about("applied lists the first settings in effect.")),
        ("refused", many(refused, OVS_SETTINGS).about("refused lists the first settings that are refused.")),
        (
            "needsRestart",
            many(name(), OVS_SETTINGS)
                .about("needsRestart lists the keys that need a restart of ovs-vswitchd to take effect."),
        ),
    ])
    .about("settings says what became of the settings for this node.")
}

fn many(item: Value, most: usize) -> Value {
    list(item).at_most(most as u64).with("x-kubernetes-list-type", "atomic")
}

fn name() -> Value {
    short(OVS_NAME as u64)
}

fn text() -> Value {
    short(OVS_TEXT as u64)
}

fn count() -> Value {
    number(0, i64::from(u32::MAX))
}
