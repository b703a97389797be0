//! The golden cases of `cases/import`; `cases/README.md` says how to add one.

#![allow(clippy::unwrap_used, clippy::panic)]

use linesman_core::check::check;
use linesman_core::diagnostic::render;
use linesman_core::document::{Document, tree};
use linesman_core::facts::Facts;
use linesman_core::plan::plan;
use linesman_golden::{Case, Tree};
use linesman_tools::import::{ImportError, Imported, Input, import, running};
use nmstate::NetworkState;
use serde_json::Value;

const IMPORT: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/import"),
    outputs: &["state.yaml", "notes.txt", "errors.txt"],
    at_least: 45,
};

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn inputs(case: &Case) -> Vec<Input> {
    case.inputs().into_iter().map(|(name, text)| Input { name, text }).collect()
}

/// The state of a running host through NMState's own types, as the engine hands it over.
fn host(case: &Case) -> Option<(Value, Facts)> {
    let state = tree(&case.input("observed.yaml")?).unwrap().to_value();
    let state: NetworkState =
        serde_json::from_value(state).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    let facts = case.input("facts.yaml").map_or_else(
        || Facts { ovs_running: true, ..Facts::default() },
        |text| serde_json::from_value(tree(&text).unwrap().to_value()).unwrap(),
    );
    Some((serde_json::to_value(state).unwrap(), facts))
}

fn imported(case: &Case) -> Result<Imported, Vec<ImportError>> {
    match host(case) {
        Some((state, facts)) => Ok(running(&state, &facts)),
        None => import(None, &inputs(case)),
    }
}

fn document(imported: &Imported) -> String {
    imported.header("this case") + &yaml_serde::to_string(&imported.state).unwrap()
}

fn outputs(case: &Case) -> [String; 3] {
    match imported(case) {
        Ok(imported) => {
            let notes = imported.notes.iter().map(|note| format!("{note}\n")).collect();
            [document(&imported), notes, String::new()]
        }
        Err(faults) => {
            let inputs = inputs(case);
            let said = |fault: &ImportError| {
                let input = &inputs[fault.file];
                render(&fault.diagnostic, (input.name.as_str(), input.text.as_str()), false)
            };
            [String::new(), String::new(), faults.iter().map(said).collect()]
        }
    }
}

#[test]
fn imports_are_as_expected() {
    IMPORT.compare(outputs);
}

#[test]
fn whatever_is_imported_passes_the_checks() {
    for case in IMPORT.cases() {
        let Ok(imported) = imported(&case) else { continue };
        let text = document(&imported);
        if imported.state.as_object().unwrap().is_empty() {
            continue;
        }
        let document = Document::parse("state.yaml", &text)
            .unwrap_or_else(|faults| panic!("{}: {faults:?}", case.name()));
        let said: String =
            check(&document, &schema).iter().map(|problem| render(problem, &document, false)).collect();
        assert!(said.is_empty(), "{}\n{said}", case.name());
    }
}

#[test]
fn nothing_is_to_do_on_the_host_that_was_imported() {
    let cases = IMPORT.cases();
    let hosts = cases.iter().filter_map(|case| Some((case, host(case)?)));
    assert!(hosts.clone().count() >= 4);
    for (case, (state, facts)) in hosts {
        let typed: NetworkState = serde_json::from_value(running(&state, &facts).state).unwrap();
        let plan = plan(&serde_json::to_value(typed).unwrap(), &state, &facts)
            .unwrap_or_else(|refusals| panic!("{}: {refusals:?}", case.name()));
        assert!(plan.is_empty(), "{}\n{}", case.name(), plan.render(false));
    }
}

/// Every word of a profile or netplan file that holds a secret in these cases.
#[test]
fn secrets_stay_where_they_are() {
    for case in IMPORT.cases() {
        let Ok(imported) = imported(&case) else { continue };
        let text = document(&imported) + &imported.notes.iter().map(ToString::to_string).collect::<String>();
        assert!(!text.contains("hunter2"), "{}", case.name());
    }
    let holding = IMPORT
        .cases()
        .iter()
        .filter(|case| inputs(case).iter().any(|input| input.text.contains("hunter2")))
        .count();
    assert!(holding >= 2, "no case has a secret any more");
}
