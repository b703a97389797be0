//! The golden cases of `cases/brex`; `cases/README.md` says how to add one.

#![allow(clippy::panic)]

use linesman_core::document::{Document, tree};
use linesman_core::facts::Facts;
use linesman_core::plan::{plan, with_implied};
use linesman_core::{check, yaml};
use linesman_day1::brex::{BrexDocument, BrexError, Bridge, Derived, Options, derive};
use linesman_day1::input::Input;
use linesman_day1::load;
use linesman_golden::{Case, Tree};
use nmstate::NetworkState;
use serde_json::Value;

const BREX: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/brex"),
    outputs: &["document.yaml", "error.txt"],
    at_least: 40,
};

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn canonical(state: Value, case: &Case) -> Value {
    let state: NetworkState =
        serde_json::from_value(state).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    serde_json::to_value(state).expect("was read")
}

fn yaml_of(case: &Case, file: &str) -> Option<Value> {
    let read = tree(&case.input(file)?).unwrap_or_else(|error| panic!("{}/{file}: {error:?}", case.name()));
    Some(read.to_value())
}

/// The state through NMState's own types, as the engine hands it over.
fn observed(case: &Case) -> Value {
    canonical(yaml_of(case, "observed.yaml").expect("every case has a host"), case)
}

fn facts(case: &Case) -> Facts {
    let facts =
        yaml_of(case, "facts.yaml").map(|facts| serde_json::from_value(facts).expect("these are facts"));
    Facts { ovs_running: true, ..facts.unwrap_or_default() }
}

fn options(case: &Case) -> Options {
    let written = yaml_of(case, "options.yaml").unwrap_or_default();
    let text = |key: &str| written[key].as_str().map(str::to_owned);
    let bridge = match written["bridge"].as_str() {
        None | Some("br-ex") => Bridge::BrEx,
        Some("br-ex1") => Bridge::BrEx1,
        Some(other) => panic!("{}: no bridge is called {other}", case.name()),
    };
    Options {
        bridge,
        interface: text("interface"),
        earlier: text("earlier"),
        userspace_datapath: written["userspace-datapath"] == true,
    }
}

fn derived(case: &Case) -> Result<Derived, BrexError> {
    derive(&observed(case), &facts(case), &options(case))
}

fn shown(document: &BrexDocument) -> String {
    document.header() + &yaml::write(&document.state)
}

#[test]
fn documents_and_errors_are_as_expected() {
    BREX.compare(|case| match derived(case) {
        Ok(Derived::Document(document)) => [shown(&document), String::new()],
        Ok(Derived::Already { uplink }) => [format!("# already on {uplink}\n"), String::new()],
        Err(error) => [String::new(), format!("{}: {error}; {}\n", error.code(), error.hint())],
    });
}

fn documents() -> Vec<(String, Value, Facts, BrexDocument)> {
    let cases = BREX.cases();
    let with_document = cases.iter().filter_map(|case| match derived(case) {
        Ok(Derived::Document(document)) => Some((case.name(), observed(case), facts(case), document)),
        _ => None,
    });
    let documents: Vec<_> = with_document.collect();
    assert!(documents.len() >= 25, "{} documents", documents.len());
    documents
}

#[test]
fn every_document_passes_the_checks() {
    for (name, _, _, document) in documents() {
        let text = shown(&document);
        let read = Document::parse("br-ex.yaml", &text).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
        assert_eq!(check::check(&read, &schema), Vec::new(), "{name}\n{text}");
        assert_eq!(read.state, document.state, "{name}");
    }
}

/// As a file for the host before it exists: the same rules hold for it.
#[test]
fn every_document_could_be_one_for_first_boot() {
    for (name, _, _, document) in documents().into_iter().filter(|(.., it)| it.bridge == Bridge::BrEx) {
        let input = Input::new("worker-0.yml", &shown(&document));
        if let Err(faults) = load(&[input], &schema) {
            panic!("{name}: {faults:#?}\n{}", shown(&document));
        }
    }
}

#[test]
fn every_document_can_be_planned_on_its_host() {
    for (name, observed, facts, document) in documents() {
        let state: NetworkState = serde_json::from_value(document.state).expect("was checked");
        let desired = serde_json::to_value(state).expect("was read");
        let desired = with_implied(&desired, &observed, &facts);
        match plan(&desired, &observed, &facts) {
            Ok(plan) => {
                assert!(!plan.is_empty(), "{name}");
                assert!(plan.removed.is_empty(), "{name}: {:?}", plan.removed);
            }
            Err(refusals) => panic!("{name}: {refusals:#?}"),
        }
    }
}

/// The errors that no document can cause are in no other test.
#[test]
fn every_code_has_a_case_and_its_example_is_one() {
    let golden: String = BREX.cases().iter().map(|case| case.output("error.txt")).collect();
    let of_brex = |entry: &&linesman_core::codes::Explanation| ("LM0921"..="LM0927").contains(&entry.code);
    for entry in linesman_core::codes::day1::TABLE.iter().filter(of_brex) {
        let message = entry.example_message().expect("it has an example");
        assert!(golden.contains(&format!("{}: {message};", entry.code)), "no case has: {message}");
    }
}
