//! From differences to changes, one per subject.

use serde_json::Value;

use super::{Change, ChangeKind, Detail, Subject};
use crate::compare::{self, Declared, Difference, View, ovs, route, rule};
use crate::path::{Path, PathStep};
use crate::state::{self, is_absent, kind, name};

impl From<Difference> for Detail {
    fn from(Difference { path, want, got }: Difference) -> Self {
        Self { path, want, got }
    }
}

pub(super) fn of_interfaces(view: &View<'_>) -> Vec<Change> {
    let changes = view.declared.iter().filter_map(|declared| {
        let mut differences = compare::of_interface(view, declared);
        differences.retain(|difference| difference.path.starts_with(&declared.path));
        (!differences.is_empty()).then(|| of_interface(declared, differences))
    });
    changes.collect()
}

fn of_interface(Declared { path, want }: &Declared, differences: Vec<Difference>) -> Change {
    let subject = subject(want);
    let whole = differences.iter().find(|difference| difference.path == *path);
    match whole {
        Some(missing) if missing.got.is_null() => {
            Change { kind: ChangeKind::Add, subject, details: leaves(path, &missing.want) }
        }
        Some(_) => Change { kind: ChangeKind::Remove, subject, details: Vec::new() },
        None => {
            let kind = if is_absent(want) { ChangeKind::Remove } else { ChangeKind::Modify };
            Change { kind, subject, details: differences.into_iter().map(Detail::from).collect() }
        }
    }
}

pub(super) fn subject(interface: &Value) -> Subject {
    Subject::Interface { name: name(interface).into(), kind: kind(interface) }
}

/// Every single thing that a new interface is declared to have.
fn leaves(path: &Path, want: &Value) -> Vec<Detail> {
    let mut details = Vec::new();
    for (key, value) in want.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "name" | "type" | "state") {
            collect(path.key(key), value, &mut details);
        }
    }
    details
}

fn collect(path: Path, value: &Value, details: &mut Vec<Detail>) {
    match value {
        Value::Null => {}
        Value::Object(keys) if is_database_map(&path) => {
            ovs::by_key(keys).into_iter().for_each(|(key, value)| collect(path.key(key), value, details));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| collect(path.key(key), value, details));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                let at = if name(item).is_empty() { path.index(index) } else { path.item(name(item)) };
                details.push(Detail { path: at, want: item.clone(), got: Value::Null });
            }
        }
        leaf => details.push(Detail { path, want: leaf.clone(), got: Value::Null }),
    }
}

fn is_database_map(path: &Path) -> bool {
    matches!(path.last(), Some(PathStep::Key(key)) if key == "external_ids" || key == "other_config")
}

/// Changes of what is no interface; one per route and rule, one for each of the rest.
pub(super) fn of_host(differences: Vec<Difference>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for difference in differences {
        let subject = host_subject(&difference);
        let shared = !matches!(subject, Subject::Route { .. } | Subject::RouteRule { .. });
        let detail = Detail::from(difference);
        match changes.iter_mut().find(|change| shared && change.subject == subject) {
            Some(change) => change.details.push(detail),
            None => changes.push(Change { kind: ChangeKind::Modify, subject, details: vec![detail] }),
        }
    }
    for change in &mut changes {
        change.kind = host_kind(change);
    }
    changes
}

fn host_subject(Difference { path, want, got }: &Difference) -> Subject {
    let entry = if want.is_object() { want } else { got };
    match path.steps() {
        [PathStep::Key(section), ..] if section == "dns-resolver" => Subject::Dns,
        [PathStep::Key(section), ..] if section == "hostname" => Subject::Hostname,
        [PathStep::Key(section), ..] if section == "route-rules" => {
            Subject::RouteRule { selector: rule::label(entry) }
        }
        [PathStep::Key(section), _, PathStep::Item(destination), ..] if section == "routes" => {
            Subject::Route { destination: destination.clone() }
        }
        [PathStep::Key(section), ..] if section == "routes" => {
            Subject::Route { destination: route::label(entry) }
        }
        _ => Subject::OvsDb,
    }
}

fn host_kind(change: &Change) -> ChangeKind {
    let entries = matches!(change.subject, Subject::Route { .. } | Subject::RouteRule { .. });
    let all = |test: fn(&Detail) -> bool| entries && change.details.iter().all(test);
    if all(|detail| detail.want.is_null()) {
        ChangeKind::Remove
    } else if all(|detail| detail.got.is_null() && state::text(&detail.want, "state").is_none()) {
        ChangeKind::Add
    } else {
        ChangeKind::Modify
    }
}
