//! Golden cases: `cases/import/NAME` holds profiles (`*.nmconnection`), netplan files (`*.yaml`) or a running host
//! (`observed.yaml`, `facts.yaml`), and what becomes of them: `state.yaml` with `notes.txt`, or `errors.txt`.
//! `UPDATE_GOLDEN=1` writes what comes out; read it before it is committed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::check::check;
use linesman_core::diagnostic::render;
use linesman_core::document::Document;
use linesman_core::facts::Facts;
use linesman_core::plan::plan;
use linesman_tools::import::{Fault, Imported, Input, import, running};
use nmstate::NetworkState;
use serde_json::Value;

const OUTPUTS: [&str; 3] = ["state.yaml", "notes.txt", "errors.txt"];

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/import");
    let mut cases: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn inputs(case: &Path) -> Vec<Input> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut paths: Vec<PathBuf> = fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !OUTPUTS.contains(&name(path).as_str()));
    paths.sort();
    paths.iter().map(|path| Input { name: name(path), text: fs::read_to_string(path).unwrap() }).collect()
}

/// The state of a running host through NMState's own types, as the engine hands it over.
fn host(case: &Path) -> Option<(Value, Facts)> {
    let text = fs::read_to_string(case.join("observed.yaml")).ok()?;
    let state: NetworkState =
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    let facts = fs::read_to_string(case.join("facts.yaml"));
    let facts = facts.map_or_else(
        |_| Facts { ovs_running: true, ..Facts::default() },
        |text| serde_yaml::from_str(&text).unwrap(),
    );
    Some((serde_json::to_value(state).unwrap(), facts))
}

fn imported(case: &Path) -> Result<Imported, Vec<Fault>> {
    match host(case) {
        Some((state, facts)) => Ok(running(&state, &facts)),
        None => import(None, &inputs(case)),
    }
}

fn document(imported: &Imported) -> String {
    imported.header("this case") + &serde_yaml::to_string(&imported.state).unwrap()
}

/// The three files as they should be; None for one that should not be there.
fn outputs(case: &Path) -> [Option<String>; 3] {
    match imported(case) {
        Ok(imported) => {
            let notes = imported.notes.iter().map(|note| format!("{note}\n")).collect();
            [Some(document(&imported)), Some(notes), None]
        }
        Err(faults) => {
            let inputs = inputs(case);
            let said = |fault: &Fault| {
                let input = &inputs[fault.file];
                render(&fault.diagnostic, (input.name.as_str(), input.text.as_str()), false)
            };
            [None, None, Some(faults.iter().map(said).collect())]
        }
    }
}

#[test]
fn imports_are_as_written() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        for (file, now) in OUTPUTS.iter().zip(outputs(&case)) {
            let path = case.join(file);
            if update {
                match &now {
                    Some(text) => fs::write(&path, text).unwrap(),
                    None => drop(fs::remove_file(&path)),
                }
            }
            let then = fs::read_to_string(&path).ok();
            if then != now {
                wrong.push(format!(
                    "{}\n--- golden\n{}--- now\n{}",
                    path.display(),
                    then.unwrap_or_default(),
                    now.unwrap_or_default()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} file(s) differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn whatever_is_imported_passes_the_checks() {
    for case in cases() {
        let Ok(imported) = imported(&case) else { continue };
        let text = document(&imported);
        if imported.state.as_object().unwrap().is_empty() {
            continue;
        }
        let document = Document::parse("state.yaml", &text)
            .unwrap_or_else(|faults| panic!("{}: {faults:?}", case.display()));
        let said: String =
            check(&document, &schema).iter().map(|problem| render(problem, &document, false)).collect();
        assert!(said.is_empty(), "{}\n{said}", case.display());
    }
}

#[test]
fn nothing_is_to_do_on_the_host_that_was_imported() {
    let hosts: Vec<PathBuf> =
        cases().into_iter().filter(|case| case.join("observed.yaml").exists()).collect();
    assert!(hosts.len() >= 4);
    for case in hosts {
        let (state, facts) = host(&case).unwrap();
        let typed: NetworkState = serde_json::from_value(running(&state, &facts).state).unwrap();
        let plan = plan(&serde_json::to_value(typed).unwrap(), &state, &facts)
            .unwrap_or_else(|refusals| panic!("{}: {refusals:?}", case.display()));
        assert!(plan.is_empty(), "{}\n{}", case.display(), plan.render(false));
    }
}

/// Every word of a profile or netplan file that holds a secret in these cases.
#[test]
fn secrets_stay_where_they_are() {
    for case in cases() {
        let Ok(imported) = imported(&case) else { continue };
        let text = document(&imported) + &imported.notes.iter().map(ToString::to_string).collect::<String>();
        assert!(!text.contains("hunter2"), "{}", case.display());
    }
    let holding =
        cases().iter().filter(|case| inputs(case).iter().any(|input| input.text.contains("hunter2"))).count();
    assert!(holding >= 2, "no case has a secret any more");
}
