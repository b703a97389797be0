//! Whether the profiles on disk alone would bring the declared state up again at the next boot.

use serde_json::Value;

use super::change::subject;
use super::{Change, ChangeKind, Detail};
use crate::compare::View;
use crate::configure_ovs::is_named_by_it;
use crate::facts::{Facts, ProfileFact};
use crate::interface_kind::InterfaceKind;
use crate::state::{is_up, kind, name};

/// An up interface needs a profile of its own, on disk, that starts by itself and that no other would displace.
/// Without facts about profiles nothing is demanded.
pub(super) fn demand(view: &View<'_>, facts: &Facts, changes: &mut Vec<Change>) {
    if facts.profiles.is_empty() {
        return;
    }
    for declared in view.declared.iter().filter(|declared| is_up(&declared.want)) {
        let want = &declared.want;
        let lasting = kind(want) != InterfaceKind::Loopback && !facts.unmanaged.contains(name(want));
        let exists = view.now(name(want), kind(want)).is_some();
        let rewritten = changes.iter().any(|change| change.subject == subject(want));
        let at = declared.path.key("profile");
        let problems =
            problems(want, facts).into_iter().filter(|problem| problem.is_conflict() || !rewritten);
        let details: Vec<Detail> = problems.map(|problem| problem.detail(&at)).collect();
        if lasting && exists && !details.is_empty() {
            changes.push(Change { kind: ChangeKind::Persist, subject: subject(want), details });
        }
    }
}

enum ProfileProblem<'a> {
    NoProfile,
    NotOnDisk(&'a ProfileFact),
    NoAutoconnect(&'a ProfileFact),
    Conflict(&'a ProfileFact),
    OfConfigureOvs(&'a ProfileFact),
}

impl ProfileProblem<'_> {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }

    fn detail(&self, at: &crate::path::Path) -> Detail {
        let (path, want, got) = match self {
            Self::NoProfile => (at.clone(), "on disk".into(), Value::Null),
            Self::NotOnDisk(profile) => (at.item(&profile.id), "on disk".into(), "in memory only".into()),
            Self::NoAutoconnect(profile) => {
                (at.item(&profile.id).key("autoconnect"), true.into(), false.into())
            }
            Self::OfConfigureOvs(profile) => {
                (at.item(&profile.id), "a profile of its own".into(), "made by configure-ovs".into())
            }
            Self::Conflict(other) => (at.item(&other.id).key("autoconnect"), false.into(), true.into()),
        };
        Detail { path, want, got }
    }
}

fn problems<'f>(want: &Value, facts: &'f Facts) -> Vec<ProfileProblem<'f>> {
    let fitting = |profile: &&ProfileFact| fits(profile, &kind(want));
    let active = facts
        .profiles
        .iter()
        .filter(fitting)
        .find(|profile| profile.active_on.as_deref() == Some(name(want)));
    let of_name = |profile: &&ProfileFact| profile.interface.as_deref() == Some(name(want));
    let Some(active) = active else {
        let any = facts.profiles.iter().filter(fitting).any(|profile| of_name(&profile));
        return if any { Vec::new() } else { vec![ProfileProblem::NoProfile] };
    };
    let mut problems = Vec::new();
    if !active.on_disk {
        problems.push(ProfileProblem::NotOnDisk(active));
    } else if !active.autoconnect {
        problems.push(ProfileProblem::NoAutoconnect(active));
    } else if is_named_by_it(&active.id, &active.kind, facts.profiles.iter().map(|other| other.id.as_str())) {
        problems.push(ProfileProblem::OfConfigureOvs(active));
    }
    let conflicting =
        facts.profiles.iter().filter(fitting).filter(of_name).filter(|other| displaces(other, active));
    problems.extend(conflicting.map(ProfileProblem::Conflict));
    problems
}

/// Of two profiles for one device NetworkManager starts the one of higher priority, else the one used last:
/// with equal priority nobody knows which that will have been.
fn displaces(other: &ProfileFact, active: &ProfileFact) -> bool {
    other.uuid != active.uuid
        && other.on_disk
        && other.autoconnect
        && other.autoconnect_priority >= active.autoconnect_priority
}

/// An OVS bridge, its port and its interface are three profiles for one name.
fn fits(profile: &ProfileFact, kind: &InterfaceKind) -> bool {
    match profile.kind.as_str() {
        "ovs-bridge" | "ovs-interface" => profile.kind == kind.as_str(),
        "ovs-port" => false,
        _ => !matches!(kind, InterfaceKind::OvsBridge | InterfaceKind::OvsInterface),
    }
}
