//! What the kernel cannot make.

use std::collections::BTreeSet;

use super::{codes, observed};
use crate::compare::{Declared, View};
use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::interface_kind::InterfaceKind;
use crate::state::{is_up, kind, name};

/// Types of which an interface would be made.
pub(in crate::plan) fn made(view: &View<'_>) -> BTreeSet<InterfaceKind> {
    new(view).map(|declared| kind(&declared.want)).collect()
}

pub(super) fn lacking(view: &View<'_>, facts: &Facts) -> Vec<Diagnostic> {
    new(view).filter(|declared| facts.lacking.contains(&kind(&declared.want))).map(refusal).collect()
}

fn new<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Declared> {
    view.declared.iter().filter(|declared| is_up(&declared.want) && observed(view, &declared.want).is_none())
}

fn refusal(Declared { path, want }: &Declared) -> Diagnostic {
    let (name, kind) = (name(want), kind(want));
    let message = format!(
        "{name} cannot be created: the kernel of this host does not support interfaces of type {kind}"
    );
    Diagnostic::new(codes::KERNEL_LACKS_TYPE, message).at(path.key("type")).hint(
        "install additional kernel modules (kernel-modules-extra, linux-modules-extra), or boot another kernel",
    )
}
