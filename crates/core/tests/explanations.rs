//! Every code is explained, and its example does what it says: the wrong document causes the code, the right one
//! causes none.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use linesman_core::check::{check, without_cluster};
use linesman_core::codes::examples::{self, Example};
use linesman_core::codes::{
    self, BAD_SETTING, BASE_ABSENT, CLEAR_SECRET, CONTRADICTION, NOT_A_PROFILE, NOT_IMPORTABLE, NOT_NETPLAN,
    TOO_LARGE, failures,
};
use linesman_core::compose::compose;
use linesman_core::document::{self, Document, MAX_BYTES};
use linesman_core::facts::Facts;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::plan::codes::{BASE_GOES, KERNEL_LACKS_TYPE, OVS_NOT_RUNNING};
use linesman_core::plan::plan;
use linesman_tools::import::{Input, import};
use nmstate::NetworkState;
use serde_json::Value;

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn canonical(state: Value) -> Value {
    let typed: NetworkState = serde_json::from_value(state).expect("was checked");
    serde_json::to_value(typed).expect("was read")
}

fn host() -> Value {
    let host = document::tree(include_str!("../cases/explain/host.yaml")).expect("the host is YAML");
    canonical(host.to_value())
}

/// What the example host says of a document that the check has nothing against.
fn said_by_host(text: &str, facts: &Facts, excused: &[&str]) -> Vec<&'static str> {
    let found: Vec<_> = said_offline(text).into_iter().filter(|code| !excused.contains(code)).collect();
    if !found.is_empty() {
        return found;
    }
    let document = Document::parse("example.yaml", text).expect("was checked");
    match plan(&canonical(document.state), &host(), facts) {
        Ok(_) => Vec::new(),
        Err(refusals) => refusals.iter().map(|refusal| refusal.code).collect(),
    }
}

/// Offline examples are not held to the example host.
fn said_offline(text: &str) -> Vec<&'static str> {
    match Document::parse("example.yaml", text) {
        Ok(document) => {
            let found = [check(&document, &schema), without_cluster(&document)].concat();
            found.iter().map(|diagnostic| diagnostic.code).collect()
        }
        Err(faults) => faults.iter().map(|fault| fault.code).collect(),
    }
}

fn is_of_a_host(example: &Example) -> bool {
    linesman_core::plan::codes::CODES.iter().any(|entry| entry.code == example.code)
}

fn is_of_an_import(example: &Example) -> bool {
    [NOT_IMPORTABLE, NOT_A_PROFILE, NOT_NETPLAN, BAD_SETTING].contains(&example.code)
}

fn said_by_import(text: &str) -> Vec<&'static str> {
    match import(None, &[Input { name: "example".into(), text: text.into() }]) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(|fault| fault.diagnostic.code).collect(),
    }
}

fn spoken(example: &Example, text: &str) -> Vec<&'static str> {
    if is_of_an_import(example) {
        return said_by_import(text);
    }
    let lacking = (example.code == KERNEL_LACKS_TYPE).then_some(InterfaceKind::Vrf).into_iter().collect();
    let facts = Facts { ovs_running: example.code != OVS_NOT_RUNNING, lacking, ..Facts::default() };
    // The check knows as much of this one as a host does, and speaks first.
    let excused: &[&str] = if example.code == BASE_GOES { &[BASE_ABSENT] } else { &[] };
    if is_of_a_host(example) { said_by_host(text, &facts, excused) } else { said_offline(text) }
}

#[test]
fn every_code_is_explained_with_an_example() {
    let explained: BTreeSet<&str> = examples::all().map(|example| example.code).collect();
    let of_documents: Vec<_> =
        codes::all().filter(|entry| failures::example_message(entry.code).is_none()).collect();
    let missing: Vec<_> = of_documents.iter().filter(|entry| !explained.contains(entry.code)).collect();
    assert!(missing.is_empty(), "without an example in crates/core/src/codes/examples: {missing:#?}");
    assert_eq!(explained.len(), examples::all().count(), "one example each");
    assert_eq!(explained.len(), of_documents.len(), "no example without a code");
}

#[test]
fn every_example_message_is_in_a_golden_case() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fleet/cases/report/enactment");
    let folders = fs::read_dir(cases).expect("there are cases").filter_map(|entry| Some(entry.ok()?.path()));
    let golden: String = folders.filter_map(|f| fs::read_to_string(f.join("conditions.txt")).ok()).collect();
    let golden = golden.replace("worker-1, try 2: ", "");
    for entry in failures::TABLE {
        let message = failures::example_message(entry.code).unwrap_or_default();
        assert!(message.starts_with(&format!("[{}] ", entry.code)), "{}", entry.code);
        assert!(golden.contains(message), "no golden case has the message: {message}");
    }
    assert_eq!(failures::EXAMPLE_MESSAGES.len(), failures::TABLE.len());
}

#[test]
fn codes_are_found_in_texts() {
    assert_eq!(codes::named_in("no such port [LM1001]; and [LM1002]"), Some("LM1001"));
    assert_eq!(codes::named_in("[LM9999] [LMé] LM1001 [LM10"), None);
}

#[test]
fn wrong_examples_cause_their_code_and_nothing_else() {
    let mut others = Vec::new();
    for example in
        examples::all().filter(|example| ![TOO_LARGE, CONTRADICTION, CLEAR_SECRET].contains(&example.code))
    {
        let found: BTreeSet<_> = spoken(example, example.wrong).into_iter().collect();
        if found != BTreeSet::from([example.code]) {
            others.push((example.code, found));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn the_example_of_a_large_document_is_too_large_when_written_out() {
    let example = examples::of(TOO_LARGE).expect("it has one");
    let (start, line) = example.wrong.trim_end().rsplit_once('\n').expect("it has lines");
    let text = format!("{start}\n{}", format!("{line}\n").repeat(MAX_BYTES / line.len()));
    assert_eq!(said_offline(&text), [TOO_LARGE]);
}

#[test]
fn right_examples_cause_nothing() {
    for example in examples::all() {
        let Some(right) = example.right.filter(|_| example.code != CLEAR_SECRET) else { continue };
        assert_eq!(spoken(example, right), Vec::<&str>::new(), "{}\n{right}", example.code);
    }
}

#[test]
fn the_example_of_a_secret_in_clear_is_one() {
    let example = examples::of(CLEAR_SECRET).expect("it has one");
    let shown = |text: &str| {
        let document = Document::parse("example.yaml", text).expect("can be read");
        assert!(check(&document, &schema).is_empty(), "nothing else is wrong");
        linesman_core::secrets::in_clear(&document.state).map(|path| path.to_string())
    };
    let place = "interfaces[eth1].802.1x.private-key-password";
    assert_eq!(shown(example.wrong).as_deref(), Some(place));
    assert_eq!(example.right.and_then(shown), None);
}

#[test]
fn the_example_of_a_contradiction_is_one_between_two_documents() {
    let example = examples::of(CONTRADICTION).expect("it has one");
    let (one, other) = example.wrong.split_once("---\n").expect("it has two documents");
    let policy = |name: &str, text: &str| {
        assert_eq!(said_offline(text), Vec::<&str>::new());
        Document::parse(name, text).expect("was checked").to_policy(name)
    };
    let (one, other) = (policy("office", one), policy("storage", other));
    assert_eq!(compose(&[&one, &other]).expect_err("they contradict each other").len(), 1);
}
