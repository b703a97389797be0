//! Virtual functions that a document makes, and the interfaces that they become.

use serde_json::Value;

use super::codes;
use crate::compare::View;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{is_up, kind, list, name, text};
use crate::virtual_function::{VirtualFunction, count};

/// A NIC gets more of them than it has.
pub(super) fn are_made(view: &View<'_>) -> bool {
    let has = |nic: &str| view.now(nic, InterfaceKind::Ethernet).and_then(count).unwrap_or_default();
    let mut up = view.declared.iter().filter(|declared| is_up(&declared.want));
    up.any(|declared| count(&declared.want).is_some_and(|wanted| wanted > has(name(&declared.want))))
}

/// The document makes them, and says what they shall have, though they are not there yet.
pub(super) fn are_made_and_used(view: &View<'_>) -> bool {
    let is_new = |name: &str| view.now(name, InterfaceKind::Ethernet).is_none();
    let mut up = view.declared.iter().map(|declared| &declared.want).filter(|want| is_up(want));
    let is_port = |port: &&str| VirtualFunction::parse(port).is_some() && is_new(view.device(port));
    are_made(view)
        && up.any(|want| {
            let ports = crate::state::ports(want).unwrap_or_default();
            (kind(want) == InterfaceKind::Ethernet && is_new(name(want))) || ports.iter().any(is_port)
        })
}

/// Interfaces of functions that the document takes away from their NIC.
pub(super) fn going<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v str> {
    let up = view.declared.iter().map(|declared| &declared.want).filter(|want| is_up(want));
    up.filter_map(|want| Some((count(want)?, view.now(name(want), InterfaceKind::Ethernet)?))).flat_map(
        |(wanted, nic)| {
            let all = list(nic, &["ethernet", "sr-iov", "vfs"]).iter();
            let beyond =
                move |vf: &&Value| vf.get("id").and_then(Value::as_u64).is_some_and(|id| id >= wanted);
            all.filter(beyond).filter_map(|vf| text(vf, "iface-name")).filter(|name| !name.is_empty())
        },
    )
}

/// Interfaces of functions whose NIC gets another number of them: a driver takes it only after all of them are gone.
pub(super) fn made_anew<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v str> {
    let up = view.declared.iter().map(|declared| &declared.want).filter(|want| is_up(want));
    let nics = up.filter_map(|want| {
        let nic = view.now(name(want), InterfaceKind::Ethernet)?;
        (count(want)? != count(nic)?).then_some(nic)
    });
    nics.flat_map(|nic| list(nic, &["ethernet", "sr-iov", "vfs"]))
        .filter_map(|vf| text(vf, "iface-name"))
        .filter(|name| !name.is_empty())
}

/// How many a NIC has after the change.
fn shall_have(view: &View<'_>, nic: &str) -> u64 {
    let has = || view.now(nic, InterfaceKind::Ethernet).and_then(count);
    view.declares(nic).and_then(count).or_else(has).unwrap_or_default()
}

/// Called by its number, and there after the change.
pub(super) fn will_be(view: &View<'_>, called: &str) -> bool {
    VirtualFunction::parse(called).is_some_and(|function| function.id < shall_have(view, function.nic))
}

/// A function that its NIC does not have, and shall not have.
pub(super) fn unknown(view: &View<'_>, called: &str, at: &Path) -> Option<Diagnostic> {
    let VirtualFunction { nic, id } = VirtualFunction::parse(called).filter(|_| !will_be(view, called))?;
    let shall_have = shall_have(view, nic);
    let message = format!("{nic} has no virtual function {id} on this host");
    let hint = match shall_have {
        0 => format!("create it with `ethernet.sr-iov.total-vfs: {}` of {nic}", id + 1),
        count => {
            format!("{nic} has {count}, which are numbered from 0; or raise `ethernet.sr-iov.total-vfs`")
        }
    };
    Some(Diagnostic::new(codes::UNKNOWN_INTERFACE, message).at(at.key("name")).hint(hint))
}
