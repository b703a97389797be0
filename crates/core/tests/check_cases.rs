//! Golden cases: `cases/check/NAME/input.yaml` and what is said about it, `errors.txt`.
//! `UPDATE_GOLDEN=1` writes what is said now. `cases/README.md` tells how to add one.

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::check::{check, without_cluster};
use linesman_core::diagnostic::render;
use linesman_core::document::Document;
use nmstate::NetworkState;
use serde_json::Value;

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/check");
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .expect("the cases are there")
        .map(|entry| entry.expect("a case can be read").path())
        .collect();
    cases.sort();
    cases
}

/// The text of a case; the last line as often as the file `repeat` says.
fn input(case: &Path) -> String {
    let text = fs::read_to_string(case.join("input.yaml")).expect("a case has an input");
    let Ok(times) = fs::read_to_string(case.join("repeat")) else { return text };
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
fn documents_are_told_what_is_wrong_with_them() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let said = said_about(&input(&case), case.join("without-cluster").exists());
        let golden = case.join("errors.txt");
        if update {
            fs::write(&golden, &said).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if said != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- said\n{said}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn cases_without_errors_are_called_valid_and_others_not() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return;
    }
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let is_empty = fs::read_to_string(case.join("errors.txt")).unwrap().is_empty();
        assert_eq!(name.starts_with("valid-"), is_empty, "{name}");
    }
}

#[test]
fn there_are_enough_cases() {
    assert!(cases().len() >= 40);
}
