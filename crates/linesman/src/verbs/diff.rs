//! `linesman diff`: where the host differs from its policies.

use std::collections::BTreeMap;

use linesman_core::compare::Difference;
use linesman_core::verify::verify;
use linesman_engine::transaction::Settings;

use super::status::paint;
use crate::cli::{DiffArgs, Format};
use crate::exit::Exit;
use crate::output;

pub async fn run(args: DiffArgs, format: Format, settings: &Settings) -> Exit {
    let ledger = match super::ledger(settings) {
        Ok(ledger) => ledger,
        Err(exit) => return exit,
    };
    if let Some(name) = args.policy.as_ref().filter(|name| ledger.get(name).is_none()) {
        output::error(format!(
            "linesman: policy {name} is not applied on this host; `linesman status` lists the policies"
        ));
        return Exit::Usage;
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
            for (name, found) in &differences {
                print_policy(name, found, true);
            }
            if !differs {
                let count = differences.len();
                let policies = if count == 1 { "policy" } else { "policies" };
                output::line(format!("no differences: {count} {policies} in sync"));
            }
        }
        other => output::data(other, &differences),
    }
    if differs { Exit::Differences } else { Exit::Done }
}

/// `-` is what the policy wants, `+` what the host has instead.
pub fn print_policy(name: &str, differences: &[Difference], title: bool) {
    if differences.is_empty() {
        return;
    }
    if title {
        output::line(name);
    }
    for difference in differences {
        let said = difference.to_string();
        let (path, values) = said.split_once(": wanted ").unwrap_or((&said, ""));
        let (want, found) = values.split_once(", found ").unwrap_or((values, "nothing"));
        output::line(format!("      {path}"));
        output::line(format!("        {}", paint(&format!("- {want}"), "31")));
        output::line(format!("        {}", paint(&format!("+ {found}"), "32")));
    }
}
