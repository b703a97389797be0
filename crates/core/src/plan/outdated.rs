//! Interfaces that NetworkManager cannot change while they exist.
//!
//! What it makes on top of another interface has to fit the profile (its base, its mode, its remote end), or the profile is
//! not activated at all. NMState takes such an interface away before, but only where the number of a VLAN or VXLAN changes.

use super::{Change, ChangeKind, Plan, Subject};
use crate::interface_kind::InterfaceKind;
use crate::interface_name::InterfaceName;
use crate::path::PathStep;

/// An interface that has to be taken away before its new profile is activated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    pub interface: InterfaceName,
    /// It moves to another base, which nobody but the document can want: the kernel does not let others do that.
    pub moves: bool,
}

/// Those that a plan changes in what NetworkManager compares.
pub fn outdated(plan: &Plan) -> Vec<Outdated> {
    plan.changes.iter().filter(|change| change.kind == ChangeKind::Modify).filter_map(of_change).collect()
}

fn of_change(change: &Change) -> Option<Outdated> {
    let Subject::Interface { name, kind } = &change.subject else { return None };
    let changed: Vec<&str> =
        change.details.iter().filter_map(|detail| key(kind, detail.path.steps())).collect();
    let compared = changed.iter().any(|key| compares(kind, key));
    compared.then(|| Outdated { interface: name.clone(), moves: changed.contains(&BASE) })
}

const BASE: &str = "base-iface";

/// The key below the section of its own kind: `base-iface` of `interfaces[v1].vlan.base-iface`.
fn key<'a>(kind: &InterfaceKind, steps: &'a [PathStep]) -> Option<&'a str> {
    match steps {
        [_, _, PathStep::Key(section), PathStep::Key(key), ..]
            if kind.sections().contains(&section.as_str()) =>
        {
            Some(key)
        }
        _ => None,
    }
}

fn compares(kind: &InterfaceKind, key: &str) -> bool {
    match kind {
        InterfaceKind::Vlan | InterfaceKind::Macsec => key == BASE,
        InterfaceKind::MacVlan
        | InterfaceKind::MacVtap
        | InterfaceKind::Ipvlan
        | InterfaceKind::Vxlan
        | InterfaceKind::IpTunnel => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::path::Path;
    use crate::plan::Detail;

    fn changed(name: &str, kind: InterfaceKind, keys: &[&str]) -> Change {
        let path = keys.iter().fold(Path::interface(name), |path, key| path.key(*key));
        let details = vec![Detail { path, want: Value::Null, got: Value::Null }];
        Change { kind: ChangeKind::Modify, subject: Subject::Interface { name: name.into(), kind }, details }
    }

    fn of(changes: Vec<Change>) -> Vec<(String, bool)> {
        let found = outdated(&Plan { changes, ..Plan::default() });
        found.into_iter().map(|found| (found.interface.to_string(), found.moves)).collect()
    }

    #[test]
    fn what_does_not_fit_its_profile_any_more_is_outdated() {
        let changes = vec![
            changed("v1", InterfaceKind::Vlan, &["vlan", "base-iface"]),
            changed("m1", InterfaceKind::MacVlan, &["mac-vlan", "mode"]),
            changed("t1", InterfaceKind::MacVtap, &["mac-vtap", "base-iface"]),
            changed("x1", InterfaceKind::Vxlan, &["vxlan", "remote"]),
            changed("u1", InterfaceKind::IpTunnel, &["ip-tunnel", "ttl"]),
        ];
        let expected = [("v1", true), ("m1", false), ("t1", true), ("x1", false), ("u1", false)];
        assert_eq!(of(changes), expected.map(|(name, moves)| (name.to_owned(), moves)));
    }

    #[test]
    fn what_networkmanager_changes_in_place_or_nmstate_takes_away_is_not() {
        let mut new = changed("m2", InterfaceKind::MacVlan, &["mac-vlan", "mode"]);
        new.kind = ChangeKind::Add;
        let changes = vec![
            changed("v1", InterfaceKind::Vlan, &["vlan", "id"]),
            changed("v2", InterfaceKind::Vlan, &["vlan", "loose-binding"]),
            changed("m1", InterfaceKind::MacVlan, &["mtu"]),
            changed("br1", InterfaceKind::LinuxBridge, &["bridge", "options"]),
            new,
        ];
        assert_eq!(of(changes), []);
    }
}
