//! The golden cases of `cases/check`; `cases/README.md` says how to add one.

use linesman_core::check::{check, without_cluster};
use linesman_core::diagnostic::render;
use linesman_core::document::Document;
use linesman_golden::{Case, Tree};
use nmstate::NetworkState;
use serde_json::Value;

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

const CHECK: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/check"),
    outputs: &["errors.txt"],
    at_least: 89,
};

/// The text of a case; the last line as often as the file `repeat` says.
fn input(case: &Case) -> String {
    let text = case.text("input.yaml");
    let Some(times) = case.input("repeat") else { return text };
    let last = text.lines().last().unwrap_or_default();
    format!("{text}{}", format!("{last}\n").repeat(times.trim().parse().expect("'repeat' holds a number")))
}

/// `alone`: by a host outside a cluster.
fn said_about(text: &str, alone: bool) -> String {
    match Document::parse("input.yaml", text) {
        Ok(document) => {
            let mut problems = check(&document, &schema);
            if alone {
                problems.extend(without_cluster(&document));
            }
            problems.iter().map(|diagnostic| render(diagnostic, &document, false)).collect()
        }
        Err(faults) => faults.iter().map(|fault| render(fault, ("input.yaml", text), false)).collect(),
    }
}

#[test]
fn errors_are_as_expected() {
    CHECK.compare(|case| [said_about(&input(case), case.input("without-cluster").is_some())]);
}

#[test]
fn cases_without_errors_are_called_valid_and_others_not() {
    for case in CHECK.cases() {
        let (name, is_valid) = (case.name(), case.output("errors.txt").is_empty());
        let called_valid = name.rsplit('/').next().is_some_and(|name| name.starts_with("valid-"));
        assert_eq!(called_valid, is_valid, "{name}");
    }
}
