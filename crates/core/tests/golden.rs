//! Golden cases: every folder under `cases/plan`, `cases/compose` and `cases/verify` is one. `UPDATE_GOLDEN=1` writes what comes
//! out; read it before it is committed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::codes::CONTRADICTION;
use linesman_core::compare::Difference;
use linesman_core::compose::{compose, in_order};
use linesman_core::document::Document;
use linesman_core::facts::Facts;
use linesman_core::plan::plan;
use linesman_core::verify::verify;
use serde_json::Value;

fn cases(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(kind);
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// A state through NMState's own types, as the engine hands it over.
fn state(folder: &Path, file: &str) -> Value {
    let text = fs::read_to_string(folder.join(file))
        .unwrap_or_else(|error| panic!("{}/{file}: {error}", folder.display()));
    let state: nmstate::NetworkState =
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}/{file}: {error}", folder.display()));
    serde_json::to_value(state).unwrap()
}

fn facts(folder: &Path) -> Facts {
    match fs::read_to_string(folder.join("facts.yaml")) {
        Ok(text) => {
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        }
        Err(_) => Facts { ovs_running: true, ..Facts::default() },
    }
}

fn planned(folder: &Path) -> String {
    match plan(&state(folder, "desired.yaml"), &state(folder, "observed.yaml"), &facts(folder)) {
        Ok(plan) => {
            let list = |names: &std::collections::BTreeSet<String>| {
                names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
            };
            let sets = [
                ("touched", &plan.touched),
                ("created", &plan.created),
                ("removed", &plan.removed),
                ("own path", &plan.own_path),
            ];
            let sets = sets.iter().filter(|(_, names)| !names.is_empty());
            plan.render(false)
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

fn verified(folder: &Path) -> String {
    let before = if folder.join("before.yaml").exists() {
        state(folder, "before.yaml")
    } else {
        state(folder, "after.yaml")
    };
    let found = verify(&state(folder, "desired.yaml"), &before, &state(folder, "after.yaml"));
    if found.is_empty() { "holds\n".into() } else { found.iter().map(different).collect() }
}

fn different(Difference { path, want, got }: &Difference) -> String {
    format!("{path}: want {want}, got {got}\n")
}

fn run(kind: &str, golden: &str, produce: fn(&Path) -> String) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for folder in cases(kind) {
        let (file, now) = (folder.join(golden), produce(&folder));
        if update {
            fs::write(&file, &now).unwrap();
        }
        let then = fs::read_to_string(&file).unwrap_or_default();
        if then != now {
            wrong.push(format!("{}\n--- golden\n{then}--- now\n{now}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{} case(s) differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn plans_are_as_written() {
    run("plan", "plan.txt", planned);
}

/// Every other file of the folder is a policy, named as its file.
fn composed(folder: &Path) -> String {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    let policy = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let document = Document::parse(&name, &fs::read_to_string(file).unwrap()).unwrap();
        document.to_policy(&name)
    };
    let policies: Vec<_> = files.iter().map(policy).collect();
    let all: Vec<_> = policies.iter().collect();
    let order: Vec<&str> = in_order(&all).iter().map(|p| p.name.as_str()).collect();
    let order = format!("# order: {}\n", order.join(" "));
    match compose(&all) {
        Ok(state) => order + &serde_yaml::to_string(&state).unwrap(),
        Err(conflicts) => {
            let told = conflicts.iter().map(|c| format!("refused[{CONTRADICTION}]: {c}\n"));
            order + &told.collect::<String>()
        }
    }
}

#[test]
fn compositions_are_as_written() {
    run("compose", "composed.txt", composed);
}

#[test]
fn verifications_are_as_written() {
    run("verify", "differences.txt", verified);
}
