//! The golden cases of `cases/check`; `cases/README.md` says how to add one.

use linesman_core::check::{check, unnamed_among_several, without_cluster};
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

/// What every document in `text` is told; by a host outside a cluster and by a directory of policies, if these are meant.
fn said_about(text: &str, case: &Case) -> String {
    let mut said = String::new();
    for read in Document::parse_all("input.yaml", text) {
        match read {
            Ok(document) => {
                let mut problems = check(&document, &schema);
                if case.input("without-cluster").is_some() {
                    problems.extend(without_cluster(&document));
                }
                if case.input("policy-directory").is_some() {
                    problems.extend(unnamed_among_several(&document));
                }
                said.extend(problems.iter().map(|diagnostic| render(diagnostic, &document, false)));
            }
            Err(faults) => said.extend(faults.iter().map(|fault| render(fault, ("input.yaml", text), false))),
        }
    }
    said
}

#[test]
fn errors_are_as_expected() {
    CHECK.compare(|case| [said_about(&input(case), case)]);
}

#[test]
fn cases_without_errors_are_called_valid_and_others_not() {
    for case in CHECK.cases() {
        let (name, is_valid) = (case.name(), case.output("errors.txt").is_empty());
        let called_valid = name.rsplit('/').next().is_some_and(|name| name.starts_with("valid-"));
        assert_eq!(called_valid, is_valid, "{name}");
    }
}
