//! Ignition configs: files and units in the form that the initramfs of CoreOS systems and the machine config operator
//! read.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::host_files::FileOnHost;

/// A unit as packages install it.
macro_rules! unit {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../deploy/host/usr/lib/systemd/system/", $name)))
    };
}

/// Apply a host's document at first boot, watch for one that changes, and end what a power cut interrupted.
const ENABLED: [(&str, &str); 4] = [
    unit!("linesman-firstboot.service"),
    unit!("linesman-firstboot-changed.path"),
    unit!("linesman-recover-boot.service"),
    unit!("linesman-recover.service"),
];
const STARTED_BY_OTHERS: (&str, &str) = unit!("linesman-firstboot-changed.service");
const NMSTATE_CONFIGURATION: &str = "nmstate-configuration.service";
const DROP_IN: &str = "10-linesman.conf";
const DROP_IN_TEXT: &str = include_str!(
    "../../../../deploy/host/usr/lib/systemd/system/nmstate-configuration.service.d/10-linesman.conf"
);

/// Versions of Ignition's specification. Nothing that is written here differs between them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpecVersion {
    /// What OpenShift documents.
    #[default]
    V3_2,
    V3_3,
    V3_4,
    V3_5,
}

impl fmt::Display for SpecVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V3_2 => "3.2.0",
            Self::V3_3 => "3.3.0",
            Self::V3_4 => "3.4.0",
            Self::V3_5 => "3.5.0",
        })
    }
}

pub fn config(version: SpecVersion, files: &[FileOnHost]) -> Value {
    json!({
        "ignition": { "version": version.to_string() },
        "storage": { "files": files.iter().map(file).collect::<Vec<_>>() },
        "systemd": { "units": units() },
    })
}

/// Of all units that are written.
pub fn unit_names() -> impl Iterator<Item = &'static str> {
    ENABLED.iter().chain([&STARTED_BY_OTHERS]).map(|(name, _)| *name).chain([NMSTATE_CONFIGURATION])
}

fn units() -> Vec<Value> {
    let enabled =
        ENABLED.iter().map(|(name, text)| json!({ "name": name, "enabled": true, "contents": text }));
    let (name, text) = STARTED_BY_OTHERS;
    let drop_in = json!({ "name": DROP_IN, "contents": DROP_IN_TEXT });
    let rest = [
        json!({ "name": name, "contents": text }),
        json!({ "name": NMSTATE_CONFIGURATION, "dropins": [drop_in] }),
    ];
    enabled.chain(rest).collect()
}

/// The mode is decimal: JSON has no octal numbers, and in YAML 1.2 `0644` is none either.
fn file(file: &FileOnHost) -> Value {
    let source = format!("data:text/plain;charset=utf-8;base64,{}", STANDARD.encode(&file.text));
    json!({
        "path": file.path,
        "mode": file.mode,
        "overwrite": true,
        "contents": { "source": source },
    })
}
