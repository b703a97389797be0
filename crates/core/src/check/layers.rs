//! What is built on what: controllers on their ports, VLANs and the like on their base. No circles.

use std::collections::{HashMap, HashSet};

use super::bases::base_of;
use super::view::State;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;

/// A name, and whether it is that of a bridge which lives only in Open vSwitch.
type Layer<'a> = (&'a str, bool);

/// Circles often share members; the rest shows once these are mended.
const MAX_CIRCLES: usize = 3;

struct Dependency<'a> {
    upper: Layer<'a>,
    lower: Layer<'a>,
    path: Path,
}

fn steps<'a>(state: &State<'a>) -> Vec<Dependency<'a>> {
    let ports = state.ports.iter().map(|port| Dependency {
        upper: (port.controller, port.controller_kind == InterfaceKind::OvsBridge),
        lower: (port.name, false),
        path: port.path.clone(),
    });
    let bases = state.up().filter_map(|interface| {
        let (path, base) = base_of(interface)?;
        Some(Dependency { upper: (interface.name, false), lower: (base, false), path })
    });
    ports.chain(bases).filter(|step| !step.upper.0.is_empty()).collect()
}

pub(super) fn own_ports(state: &State<'_>) -> Vec<Diagnostic> {
    let own = steps(state).into_iter().filter(|step| step.upper == step.lower);
    own.map(|step| {
        let message = format!("'{}' cannot be based on itself", step.upper.0);
        Diagnostic::new(codes::OWN_PORT, message).at(step.path).hint("name another interface here")
    })
    .collect()
}

pub(super) fn cycles(state: &State<'_>) -> Vec<Diagnostic> {
    let mut steps: Vec<Dependency<'_>> =
        steps(state).into_iter().filter(|step| step.upper != step.lower).collect();
    let mut found = Vec::new();
    while found.len() < MAX_CIRCLES {
        drop_what_ends(&mut steps);
        let Some(circle) = circle(&steps) else { break };
        found.push(describe(&circle));
        let members: HashSet<Layer<'_>> = circle.iter().map(|step| step.upper).collect();
        steps.retain(|step| !members.contains(&step.upper));
    }
    found
}

/// Leaves only steps from which one can go on for ever.
fn drop_what_ends(steps: &mut Vec<Dependency<'_>>) {
    let mut uppers: HashMap<Layer<'_>, Vec<usize>> = HashMap::new();
    let mut open: HashMap<Layer<'_>, usize> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        uppers.entry(step.lower).or_default().push(index);
        *open.entry(step.upper).or_default() += 1;
    }
    let mut dropped = vec![false; steps.len()];
    let mut ends: Vec<Layer<'_>> =
        uppers.keys().filter(|layer| !open.contains_key(*layer)).copied().collect();
    while let Some(layer) = ends.pop() {
        for &index in uppers.get(&layer).into_iter().flatten() {
            dropped[index] = true;
            if let Some(count) = open.get_mut(&steps[index].upper) {
                *count -= 1;
                if *count == 0 {
                    ends.push(steps[index].upper);
                }
            }
        }
    }
    let mut dropped = dropped.into_iter();
    steps.retain(|_| !dropped.next().unwrap_or(false));
}

/// Follows steps, all of which go on for ever, until a layer comes up again.
fn circle<'s, 'a>(steps: &'s [Dependency<'a>]) -> Option<Vec<&'s Dependency<'a>>> {
    let mut below: HashMap<Layer<'_>, &Dependency<'_>> = HashMap::new();
    for step in steps {
        below.entry(step.upper).or_insert(step);
    }
    let mut walked: Vec<&Dependency<'_>> = vec![steps.first()?];
    let mut seen: HashMap<Layer<'_>, usize> = HashMap::from([(walked[0].upper, 0)]);
    loop {
        let here = walked.last()?.lower;
        if let Some(start) = seen.get(&here) {
            return Some(walked.split_off(*start));
        }
        seen.insert(here, walked.len());
        walked.push(below.get(&here)?);
    }
}

fn describe(circle: &[&Dependency<'_>]) -> Diagnostic {
    let names: Vec<&str> =
        circle.iter().map(|step| step.upper.0).chain(circle.first().map(|s| s.upper.0)).collect();
    let message = format!("circular dependency between interfaces: {}", names.join(" -> "));
    let path = circle.first().map_or_else(Path::root, |step| step.path.clone());
    Diagnostic::new(codes::CYCLE, message).at(path).hint("remove one of these dependencies")
}
