//! Ethernet hardware: link settings, virtual functions, offloads.

use serde_json::Value;

use super::findings::Findings;
use super::interface::without;
use super::view::{Declared, View};
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, flag, text};

/// The names `ethtool -K` takes, and what the kernel calls the same thing.
const FEATURE_NAMES: [(&str, &str); 19] = [
    ("generic-receive-offload", "rx-gro"),
    ("generic-segmentation-offload", "tx-generic-segmentation"),
    ("gro", "rx-gro"),
    ("gso", "tx-generic-segmentation"),
    ("large-receive-offload", "rx-lro"),
    ("lro", "rx-lro"),
    ("ntuple", "rx-ntuple-filter"),
    ("ntuple-filters", "rx-ntuple-filter"),
    ("receive-hashing", "rx-hashing"),
    ("rx", "rx-checksum"),
    ("rx-checksumming", "rx-checksum"),
    ("rx-vlan-offload", "rx-vlan-hw-parse"),
    ("rxhash", "rx-hashing"),
    ("rxvlan", "rx-vlan-hw-parse"),
    ("tcp-segmentation-offload", "tx-tcp-segmentation"),
    ("tso", "tx-tcp-segmentation"),
    ("tx-vlan-offload", "tx-vlan-hw-insert"),
    ("txvlan", "tx-vlan-hw-insert"),
    ("ufo", "tx-udp-fragmentation"),
];

pub(super) fn compare(at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    let negotiated: &[&str] = match flag(want, "auto-negotiation") {
        Some(true) => &["sr-iov", "speed", "duplex"],
        _ => &["sr-iov"],
    };
    found.holds(at, &without(want, negotiated), got);
    let Some(sriov) = want.get("sr-iov").filter(|sriov| !sriov.is_null()) else {
        return;
    };
    let (at, got) = (at.key("sr-iov"), got.and_then(|got| got.get("sr-iov")));
    found.holds(&at, &without(sriov, &["max-vfs", "vfs"]), got);
    for vf in state::list(sriov, &["vfs"]) {
        let id = vf.get("id").and_then(Value::as_u64).unwrap_or_default();
        let all = got.map_or(&[][..], |got| state::list(got, &["vfs"]));
        let same = all.iter().find(|got| got.get("id").and_then(Value::as_u64) == Some(id));
        found.holds(&at.key("vfs").item(id.to_string()), &without(vf, &["id", "iface-name"]), same);
    }
}

pub(super) fn tuning(at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    found.holds(at, &without(want, &["feature"]), got);
    for (feature, want) in want.get("feature").and_then(Value::as_object).into_iter().flatten() {
        let kernel = FEATURE_NAMES
            .iter()
            .find(|(short, _)| short == feature)
            .map_or(feature.as_str(), |(_, name)| name);
        found.holds(
            &at.key("feature").key(feature),
            want,
            got.and_then(|got| state::at(got, &["feature", kernel])),
        );
    }
}

/// Virtual functions take their time: each must have become an interface.
pub(super) fn virtual_functions(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let wanted = state::at(&declared.want, &["ethernet", "sr-iov"]);
    let enabled =
        |sriov: &&Value| sriov.get("total-vfs").and_then(Value::as_u64).is_some_and(|total| total > 0);
    let probes = |sriov: &Value| flag(sriov, "drivers-autoprobe") != Some(false);
    let (Some(wanted), Some(got)) = (wanted.filter(enabled), state::at(got, &["ethernet", "sr-iov"])) else {
        return;
    };
    if !probes(wanted) || !probes(got) {
        return;
    }
    for vf in state::list(got, &["vfs"]) {
        let device = text(vf, "iface-name").unwrap_or_default();
        if view.now(device, InterfaceKind::Ethernet).is_none() {
            let id = vf.get("id").and_then(Value::as_u64).unwrap_or_default();
            let at = declared.path.key("ethernet").key("sr-iov").key("vfs").item(id.to_string());
            found.missing(at.key("iface-name"), if device.is_empty() { "an interface" } else { device });
        }
    }
}
