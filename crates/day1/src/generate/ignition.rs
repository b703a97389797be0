//! Ignition configs: files and units in the form that the initramfs of CoreOS systems and the machine config operator
//! read.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::host_files::FileOnHost;

/// The unit that applies a host's document at first boot.
pub const UNIT: &str = "linesman-firstboot.service";
const UNIT_TEXT: &str =
    include_str!("../../../../deploy/host/usr/lib/systemd/system/linesman-firstboot.service");

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
        "systemd": { "units": [{ "name": UNIT, "enabled": true, "contents": UNIT_TEXT }] },
    })
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
