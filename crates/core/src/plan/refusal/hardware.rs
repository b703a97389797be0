//! What the hardware and the files of this host cannot give: virtual functions, DPDK, certificates, Libreswan.
//!
//! nmstate finds out after minutes of waiting, or NetworkManager does, with another reason.

use std::collections::BTreeSet;

use serde_json::Value;

use super::codes;
use crate::compare::{Declared, View};
use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, is_up, kind, name};

/// Files that 802.1X reads.
const FILES: [&str; 3] = ["ca-cert", "client-cert", "private-key"];

/// What somebody must ask this host before the plan is made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// NICs that shall have virtual functions.
    pub nics: BTreeSet<String>,
    pub files: BTreeSet<String>,
    pub dpdk: bool,
    pub libreswan: bool,
}

pub(in crate::plan) fn asked(view: &View<'_>) -> Asked {
    Asked {
        nics: functions(view).map(|(declared, _)| name(&declared.want).to_owned()).collect(),
        files: files(view).map(|(_, file)| file.to_owned()).collect(),
        dpdk: dpdk(view).next().is_some(),
        libreswan: ipsec(view).next().is_some(),
    }
}

pub(super) fn lacking(view: &View<'_>, facts: &Facts) -> Vec<Diagnostic> {
    let without_functions = functions(view).filter_map(|(declared, wanted)| {
        let most = *facts.virtual_functions.get(name(&declared.want))?;
        (wanted > most).then(|| too_many(declared, wanted, most))
    });
    let without_file = files(view).filter(|(_, file)| facts.missing_files.contains(*file)).map(no_file);
    let without_dpdk = dpdk(view).filter(|_| facts.lacks_dpdk).map(no_dpdk);
    let without_libreswan = ipsec(view).filter(|_| facts.lacks_libreswan).map(no_libreswan);
    without_functions.chain(without_file).chain(without_dpdk).chain(without_libreswan).collect()
}

fn up<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    view.declared.iter().filter(|declared| is_up(&declared.want))
}

fn functions<'v>(view: &'v View<'_>) -> impl Iterator<Item = (&'v Declared, u64)> {
    up(view).filter_map(|declared| {
        let wanted = state::at(&declared.want, &["ethernet", "sr-iov", "total-vfs"])?.as_u64()?;
        (wanted > 0).then_some((declared, wanted))
    })
}

fn too_many(Declared { path, want }: &Declared, wanted: u64, most: u64) -> Diagnostic {
    let nic = name(want);
    let (message, hint) = match most {
        0 => (
            format!("{nic} cannot have virtual functions: the NIC, its driver or the firmware has no SR-IOV"),
            "switch SR-IOV on in the firmware, or use another NIC".to_owned(),
        ),
        most => (
            format!("{nic} cannot have {wanted} virtual functions: the NIC has {most} at most"),
            format!("use at most {most}"),
        ),
    };
    let at = path.key("ethernet").key("sr-iov").key("total-vfs");
    Diagnostic::new(codes::NO_VIRTUAL_FUNCTIONS, message).at(at).hint(hint)
}

fn files<'v>(view: &'v View<'_>) -> impl Iterator<Item = (Path, &'v str)> {
    up(view).flat_map(|Declared { path, want }| {
        let section = want.get("802.1x");
        FILES.into_iter().filter_map(move |key| {
            let file = section?.get(key).and_then(Value::as_str)?;
            file.starts_with('/').then(|| (path.key("802.1x").key(key), file))
        })
    })
}

fn no_file((at, file): (Path, &str)) -> Diagnostic {
    let message = format!("the file {file} does not exist on this host");
    Diagnostic::new(codes::FILE_MISSING, message)
        .at(at)
        .hint("copy it to the host first, or correct the path")
}

fn dpdk<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    up(view).filter(|declared| declared.want.get("dpdk").is_some_and(Value::is_object))
}

fn no_dpdk(Declared { path, want }: &Declared) -> Diagnostic {
    let message =
        format!("{} cannot be created: Open vSwitch on this host does not run with DPDK", name(want));
    Diagnostic::new(codes::NO_DPDK, message).at(path.key("dpdk")).hint(
        "install Open vSwitch with DPDK, set `ovs-vsctl set Open_vSwitch . other_config:dpdk-init=true` and restart it",
    )
}

fn ipsec<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    up(view).filter(|declared| kind(&declared.want) == InterfaceKind::Ipsec)
}

fn no_libreswan(Declared { path, want }: &Declared) -> Diagnostic {
    let message =
        format!("{} cannot be created: NetworkManager on this host has no plugin for Libreswan", name(want));
    Diagnostic::new(codes::NO_LIBRESWAN, message)
        .at(path.key("type"))
        .hint("install NetworkManager-libreswan and restart NetworkManager")
}
