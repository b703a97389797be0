//! Settings as folders: documents, what the host holds and what was written before give changes and refusals.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::fmt::Write;

use linesman_golden::{Case, Tree};
use linesman_ovs::settings::compose::Desired;
use linesman_ovs::settings::decide::{Decision, decide};
use linesman_ovs::settings::document::Source;
use linesman_ovs::settings::ledger::Ledger;
use linesman_ovs::settings::observed::Observed;

const NOW: u64 = 1_800_000_000;

const CASES: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/settings"),
    outputs: &["decision.txt", "ledger.after.yaml"],
    at_least: 25,
};

#[test]
fn decisions_are_as_the_cases_say() {
    CASES.compare(|case| {
        let (desired, observed, ledger) = read(case);
        let decision = decide(&desired, &observed, &ledger, NOW);
        let all = decision.changes.iter().map(|change| change.target.clone()).collect();
        [text(&decision), yaml_serde::to_string(&decision.after(&all)).unwrap()]
    });
}

/// `settings*` are the documents, `observed.yaml` the host, `ledger.yaml` what was written before.
fn read(case: &Case<'_>) -> (Desired, Observed, Ledger) {
    let inputs = case.inputs();
    let sources: Vec<Source> = inputs
        .iter()
        .filter(|(name, _)| name.starts_with("settings"))
        .map(|(name, text)| Source { name: name.clone(), text: text.clone() })
        .collect();
    let parse = |name: &str| case.input(name).unwrap_or_else(|| "{}".into());
    let observed: Observed = yaml_serde::from_str(&parse("observed.yaml"))
        .unwrap_or_else(|error| panic!("{}: observed.yaml: {error}", case.name()));
    let ledger: Ledger = yaml_serde::from_str(&parse("ledger.yaml"))
        .unwrap_or_else(|error| panic!("{}: ledger.yaml: {error}", case.name()));
    (Desired::compose(&sources, observed.ovs_version), observed, ledger)
}

fn text(decision: &Decision) -> String {
    let mut text = String::new();
    for change in &decision.changes {
        let from = change.from.as_deref().unwrap_or("absent");
        match &change.to {
            Some(to) => writeln!(text, "change   {} = {to} (was {from})", change.target).unwrap(),
            None => writeln!(text, "remove   {} (was {from})", change.target).unwrap(),
        }
    }
    for setting in &decision.settings {
        writeln!(
            text,
            "{:8} {} = {}",
            format!("{:?}", setting.stage).to_lowercase(),
            setting.key,
            setting.value
        )
        .unwrap();
    }
    for refusal in &decision.refusals {
        writeln!(text, "refused  {refusal} [{}]", refusal.cause).unwrap();
    }
    for note in &decision.notes {
        writeln!(text, "note     {note}").unwrap();
    }
    if !decision.restart_for.is_empty() {
        let allowed = if decision.may_restart { "allowed" } else { "not allowed" };
        writeln!(text, "restart  {allowed}, for {}", decision.restart_for.join(", ")).unwrap();
    }
    text
}

/// What was written is there afterwards: deciding again changes nothing.
#[test]
fn a_second_decision_changes_nothing() {
    for case in CASES.cases() {
        let (desired, mut observed, ledger) = read(&case);
        let first = decide(&desired, &observed, &ledger, NOW);
        for change in &first.changes {
            hold(&mut observed, change);
        }
        let all = first.changes.iter().map(|change| change.target.clone()).collect();
        let second = decide(&desired, &observed, &first.after(&all), NOW);
        assert_eq!(second.changes, [], "{}", case.name());
        // Nor if the keeper was killed before it could store that it had written.
        let killed = decide(&desired, &observed, &first.ledger, NOW);
        assert_eq!(killed.changes, [], "{}, killed", case.name());
    }
}

/// A keeper that is killed before it writes does not take that for the change of somebody else.
#[test]
fn an_announced_write_that_was_not_made_is_made() {
    for case in CASES.cases() {
        let (desired, observed, ledger) = read(&case);
        let first = decide(&desired, &observed, &ledger, NOW);
        let again = decide(&desired, &observed, &first.ledger, NOW);
        assert_eq!(again.changes, first.changes, "{}", case.name());
    }
}

fn hold(observed: &mut Observed, change: &linesman_ovs::settings::decide::Change) {
    use linesman_ovs::settings::key::{Column, Target};
    match &change.target {
        Target::Database { column, name } => {
            let database = observed.database.as_mut().unwrap();
            let keys = match column {
                Column::OtherConfig => &mut database.other_config,
                Column::ExternalIds => &mut database.external_ids,
            };
            match &change.to {
                Some(value) => keys.insert(name.clone(), value.clone()),
                None => keys.remove(name),
            };
        }
        Target::LogLevel { daemon, module, destination } => {
            let levels = observed.daemons.get_mut(daemon).unwrap().levels.as_mut().unwrap();
            levels.get_mut(module).unwrap()[*destination as usize] = change.to.clone().unwrap();
        }
        Target::Unit { daemon, property } => {
            let properties = observed.daemons.get_mut(daemon).unwrap().properties.as_mut().unwrap();
            properties.insert(*property, change.to.clone().unwrap());
        }
    }
}
