//! The golden cases of `cases/plan`, `cases/compose` and `cases/verify`; `cases/README.md` says how to add one.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use linesman_core::codes::CONFLICT;
use linesman_core::compare::Difference;
use linesman_core::compose::{compose, in_order};
use linesman_core::document::{Document, tree};
use linesman_core::facts::Facts;
use linesman_core::interface_name::InterfaceName;
use linesman_core::plan::plan;
use linesman_core::verify::verify;
use linesman_golden::{Case, Tree};
use serde_json::Value;

const PLAN: Tree =
    Tree { root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/plan"), outputs: &["plan.txt"], at_least: 60 };
const COMPOSE: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/compose"),
    outputs: &["composed.txt"],
    at_least: 18,
};
const VERIFY: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/verify"),
    outputs: &["differences.txt"],
    at_least: 203,
};

fn yaml(case: &Case, file: &str) -> Option<Value> {
    let read =
        |text: String| tree(&text).unwrap_or_else(|faults| panic!("{}/{file}: {faults:?}", case.name()));
    Some(read(case.input(file)?).to_value())
}

/// A state through NMState's own types, as the engine hands it over.
fn state(case: &Case, file: &str) -> Option<Value> {
    let state: Result<nmstate::NetworkState, _> = serde_json::from_value(yaml(case, file)?);
    let state = state.unwrap_or_else(|error| panic!("{}/{file}: {error}", case.name()));
    Some(serde_json::to_value(state).unwrap())
}

fn facts(case: &Case) -> Facts {
    let known = |facts| serde_json::from_value(facts).unwrap_or_else(|e| panic!("{}: {e}", case.name()));
    yaml(case, "facts.yaml").map_or_else(|| Facts { ovs_running: true, ..Facts::default() }, known)
}

fn planned(case: &Case) -> String {
    let (desired, observed) = (state(case, "desired.yaml").unwrap(), state(case, "observed.yaml").unwrap());
    match plan(&desired, &observed, &facts(case)) {
        Ok(plan) => {
            let list = |names: &BTreeSet<InterfaceName>| {
                names.iter().map(InterfaceName::as_str).collect::<Vec<_>>().join(" ")
            };
            let sets = [
                ("touched", &plan.touched),
                ("created", &plan.created),
                ("removed", &plan.removed),
                ("own path", &plan.own_path),
            ];
            let sets = sets.iter().filter(|(_, names)| !names.is_empty());
            let number = |ofport: Option<u16>| ofport.map_or("a new number".into(), |n| n.to_string());
            let uplinks = plan.uplinks.iter().map(|uplink| {
                format!(
                    "# uplink of {}: {} keeps {}\n",
                    uplink.bridge,
                    uplink.interface,
                    number(uplink.ofport)
                )
            });
            plan.render(false)
                + &uplinks.collect::<String>()
                + &sets.map(|(label, names)| format!("# {label}: {}\n", list(names))).collect::<String>()
        }
        Err(refusals) => refusals.iter().map(refused).collect(),
    }
}

fn refused(diagnostic: &linesman_core::diagnostic::Diagnostic) -> String {
    let place = diagnostic.path.as_ref().filter(|path| !path.is_root()).map(|path| format!("\n  at {path}"));
    let hint = diagnostic.hint.as_ref().map(|hint| format!("\n  hint: {hint}"));
    format!(
        "refused[{}]: {}{}{}\n",
        diagnostic.code,
        diagnostic.message,
        place.unwrap_or_default(),
        hint.unwrap_or_default()
    )
}

fn verified(case: &Case) -> String {
    let (desired, after) = (state(case, "desired.yaml").unwrap(), state(case, "after.yaml").unwrap());
    let before = state(case, "before.yaml").unwrap_or_else(|| after.clone());
    verify(&desired, &before, &after).iter().map(different).collect()
}

fn different(Difference { path, want, got }: &Difference) -> String {
    format!("{path}: want {want}, got {got}\n")
}

/// Every input is a policy, named as its file.
fn composed(case: &Case) -> String {
    let policy = |(file, text): (&String, &String)| {
        let name = file.trim_end_matches(".yaml");
        Document::parse(name, text).unwrap().to_policy(name)
    };
    let policies: Vec<_> = case.inputs().iter().map(policy).collect();
    let all: Vec<_> = policies.iter().collect();
    let order: Vec<&str> = in_order(&all).iter().map(|p| p.name.as_str()).collect();
    let order = format!("# order: {}\n", order.join(" "));
    match compose(&all) {
        Ok(state) => order + &yaml_serde::to_string(&state).unwrap(),
        Err(conflicts) => {
            let refusals = conflicts.iter().map(|c| format!("refused[{CONFLICT}]: {c}\n"));
            order + &refusals.collect::<String>()
        }
    }
}

#[test]
fn plans_are_as_expected() {
    PLAN.compare(|case| [planned(case)]);
}

#[test]
fn compositions_are_as_expected() {
    COMPOSE.compare(|case| [composed(case)]);
}

#[test]
fn verifications_are_as_expected() {
    VERIFY.compare(|case| [verified(case)]);
}

#[test]
fn cases_without_differences_are_called_so_and_others_not() {
    for case in VERIFY.cases() {
        let (name, differs) = (case.name(), !case.output("differences.txt").is_empty());
        assert_eq!(name.ends_with("differs"), differs, "{name}");
    }
}
