//! `linesman diff`: where the host differs from its policies.

use std::collections::BTreeMap;

use linesman_core::compare::Difference;
use linesman_core::plan::render::{LEGEND, difference, kind};
use linesman_core::verify::verify;
use linesman_engine::transaction::Settings;
use serde_json::{Value, json};

use crate::cli::{DiffArgs, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub async fn run(args: DiffArgs, format: Format, settings: &Settings) -> Exit {
    let ledger = match super::ledger(settings) {
        Ok(ledger) => ledger,
        Err(exit) => return exit,
    };
    if let Some(name) = args.policy.as_ref().filter(|name| ledger.get(name).is_none()) {
        let failure = Failure::new(Exit::Usage, format!("policy {name} is not applied on this host"));
        return failure.hint("`linesman status` lists the policies").report();
    }
    let observed = match super::observed().await {
        Ok(observed) => observed,
        Err(exit) => return exit,
    };
    let differences: BTreeMap<String, Vec<Difference>> = ledger
        .0
        .iter()
        .filter(|(name, entry)| {
            !entry.applied_state.is_null() && args.policy.as_ref().is_none_or(|p| p == *name)
        })
        .map(|(name, entry)| (name.clone(), verify(&entry.applied_state, &observed, &observed)))
        .collect();
    let differs = differences.values().any(|d| !d.is_empty());
    match format {
        Format::Text => {
            for (name, found) in differences.iter().filter(|(_, found)| !found.is_empty()) {
                output::line(name);
                output::line(lines(found).join("\n"));
            }
            if differs {
                output::line(LEGEND);
            } else {
                let count = differences.len();
                let policies = if count == 1 { "policy" } else { "policies" };
                output::line(format!("no differences: {count} {policies} in sync"));
            }
        }
        other => output::data(other, &labelled(&differences)),
    }
    if differs { Exit::Differences } else { Exit::Done }
}

/// As the plan that would end them.
pub fn lines(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(|found| format!("      {}", difference(found, output::colour()))).collect()
}

/// With the word of a plan for what would be done about it.
fn labelled(differences: &BTreeMap<String, Vec<Difference>>) -> BTreeMap<&String, Vec<Value>> {
    let label = |difference: &Difference| {
        let mut labelled = json!(difference);
        labelled["kind"] = json!(kind(difference));
        labelled
    };
    differences.iter().map(|(name, found)| (name, found.iter().map(label).collect())).collect()
}
