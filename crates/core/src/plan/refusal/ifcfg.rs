//! Profiles in a format that no rollback restores.

use super::codes;
use crate::diagnostic::Diagnostic;
use crate::facts::{Facts, IfcfgProfile};
use crate::path::Path;
use crate::plan::Plan;

/// Only those that the plan touches: the others stay as they are.
pub(in crate::plan) fn profiles(plan: &Plan, facts: &Facts) -> Vec<Diagnostic> {
    let touched = facts.ifcfg.iter().filter(|profile| plan.touched.contains(profile.interface.as_str()));
    touched.map(refusal).collect()
}

fn refusal(IfcfgProfile { interface, file }: &IfcfgProfile) -> Diagnostic {
    let message = format!(
        "the profile of {interface} is in the deprecated ifcfg format ({file}): a rollback could not restore it"
    );
    Diagnostic::new(codes::IFCFG_PROFILE, message)
        .at(Path::interface(interface))
        .hint("run `nmcli connection migrate`, which keeps the connection up, and apply again")
}
