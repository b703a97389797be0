//! What the daemons of this host cannot do: Open vSwitch without a datapath, 802.1X without a supplicant, NetworkManager
//! with a bridge that others made.
//!
//! NetworkManager would wait for either of them, or try again, without an end.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{codes, observed};
use crate::compare::{Declared, View};
use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::interface_kind::InterfaceKind;
use crate::state::{self, is_up, kind, name};

/// Of bridges that would be created, or moved to another datapath.
pub(in crate::plan) fn datapaths(view: &View<'_>) -> BTreeSet<String> {
    new_datapaths(view).map(|(_, datapath)| datapath.to_owned()).collect()
}

/// 802.1X, and MACsec with keys by MKA.
pub(in crate::plan) fn needs_supplicant(view: &View<'_>) -> bool {
    supplicants(view).next().is_some()
}

pub(super) fn lacking(view: &View<'_>, facts: &Facts) -> Vec<Diagnostic> {
    let without_datapath = new_datapaths(view)
        .filter(|(_, datapath)| facts.lacking_datapaths.contains(*datapath))
        .map(no_datapath);
    let without_supplicant = supplicants(view).filter(|_| facts.lacks_supplicant).map(no_supplicant);
    let of_others = new_bridges(view)
        .filter(|declared| facts.bridges_of_others.contains(name(&declared.want)))
        .map(bridge_of_others);
    without_datapath.chain(without_supplicant).chain(of_others).collect()
}

fn new_datapaths<'v>(view: &'v View<'_>) -> impl Iterator<Item = (&'v Declared, &'v str)> {
    ovs_bridges(view).filter_map(|declared| {
        let said = datapath(&declared.want);
        let now = observed(view, &declared.want);
        match (said, now) {
            (Some(said), Some(now)) => {
                (plain(said) != plain(datapath(now).unwrap_or_default())).then_some((declared, plain(said)))
            }
            (None, Some(_)) => None,
            (said, None) => Some((declared, plain(said.unwrap_or_default()))),
        }
    })
}

fn ovs_bridges<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    view.declared.iter().filter(|d| is_up(&d.want) && kind(&d.want) == InterfaceKind::OvsBridge)
}

fn new_bridges<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    ovs_bridges(view).filter(|declared| observed(view, &declared.want).is_none())
}

fn bridge_of_others(Declared { path, want }: &Declared) -> Diagnostic {
    let message = format!(
        "{} already exists in Open vSwitch and was not created by NetworkManager, which cannot take it over",
        name(want)
    );
    let hint = format!(
        "remove it from the document if another program maintains it; or delete it (`ovs-vsctl del-br {}`) and apply \
         the document again",
        name(want)
    );
    Diagnostic::new(codes::BRIDGE_OF_OTHERS, message).at(path.clone()).hint(hint)
}

fn datapath(bridge: &Value) -> Option<&str> {
    state::at(bridge, &["bridge", "options", "datapath"]).and_then(Value::as_str)
}

/// Open vSwitch takes an empty name for the kernel's datapath.
fn plain(datapath: &str) -> &str {
    if datapath.is_empty() { "system" } else { datapath }
}

fn no_datapath((Declared { path, want }, datapath): (&Declared, &str)) -> Diagnostic {
    let (message, hint) = match datapath {
        "system" => (
            format!("{} cannot be created: the kernel of this host has no Open vSwitch datapath", name(want)),
            "load the kernel module openvswitch (package kernel-modules-core or linux-modules), or declare \
             bridge.options.datapath: netdev",
        ),
        other => (
            format!("{} cannot be created: Open vSwitch on this host has no datapath '{other}'", name(want)),
            "`ovs-vsctl get Open_vSwitch . datapath_types` lists what it has",
        ),
    };
    Diagnostic::new(codes::NO_DATAPATH, message)
        .at(path.key("bridge").key("options").key("datapath"))
        .hint(hint)
}

fn supplicants<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    let up = view.declared.iter().filter(|declared| is_up(&declared.want));
    up.filter(|Declared { want, .. }| {
        want.get("802.1x").is_some_and(Value::is_object) || state::at(want, &["macsec", "mka-cak"]).is_some()
    })
}

fn no_supplicant(Declared { path, want }: &Declared) -> Diagnostic {
    let (what, key) = if want.get("802.1x").is_some() { ("802.1X", "802.1x") } else { ("MACsec", "macsec") };
    let message = format!("{} cannot use {what}: this host has no wpa_supplicant", name(want));
    Diagnostic::new(codes::NO_SUPPLICANT, message)
        .at(path.key(key))
        .hint("install the package wpa_supplicant (Debian, Ubuntu: wpasupplicant)")
}
