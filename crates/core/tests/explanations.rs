//! Every code is explained, and its example does what it says: the wrong document causes the code, the right one
//! causes none.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use linesman_core::check::{check, unnamed_among_several, without_cluster};
use linesman_core::codes::{
    self, BAD_SETTING, BASE_ABSENT, CLEAR_SECRET, CONFLICT, Explanation, NOT_A_PROFILE, NOT_IMPORTABLE,
    NOT_NETPLAN, POLICY_TWICE, TOO_LARGE, failures,
};
use linesman_core::compose::compose;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::document::{self, Document, MAX_BYTES};
use linesman_core::facts::{Facts, IfcfgProfile, UplinkFact};
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::plan::codes::{
    BASE_GOES, BRIDGE_OF_OTHERS, IFCFG_PROFILE, KERNEL_LACKS_TYPE, NO_DATAPATH, NO_DPDK, NO_LIBRESWAN,
    NO_SUPPLICANT, OVS_NOT_RUNNING, RENUMBERED,
};
use linesman_core::plan::plan;
use linesman_day1::generate::{OutputFormat, SpecVersion};
use linesman_day1::load;
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
        Ok(plan) => plan.warnings.iter().filter_map(|warning| codes::named_in(warning)).collect(),
        Err(refusals) => refusals.iter().map(|refusal| refusal.code).collect(),
    }
}

/// Offline examples are not held to the example host.
fn said_offline(text: &str) -> Vec<&'static str> {
    let said = |read: Result<Document, Vec<Diagnostic>>| match read {
        Ok(document) => {
            [check(&document, &schema), without_cluster(&document), unnamed_among_several(&document)].concat()
        }
        Err(faults) => faults,
    };
    let found = Document::parse_all("example.yaml", text).into_iter().flat_map(said);
    found.map(|diagnostic| diagnostic.code).collect()
}

fn is_of_a_host(example: &Explanation) -> bool {
    linesman_core::plan::codes::TABLE.iter().any(|entry| entry.code == example.code)
}

fn is_of_an_import(example: &Explanation) -> bool {
    [NOT_IMPORTABLE, NOT_A_PROFILE, NOT_NETPLAN, BAD_SETTING].contains(&example.code)
}

fn said_by_import(text: &str) -> Vec<&'static str> {
    match import(None, &[Input { name: "example".into(), text: text.into() }]) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(|fault| fault.diagnostic.code).collect(),
    }
}

/// Of the network of hosts that do not exist yet.
fn is_of_a_generator(example: &Explanation) -> bool {
    codes::day1::TABLE.iter().any(|entry| entry.code == example.code)
}

fn said_by_generator(text: &str) -> Vec<&'static str> {
    let inputs = [linesman_day1::input::Input::new("install-config.yaml", text)];
    let format = OutputFormat::MachineConfig { version: SpecVersion::V3_2, roles: vec!["worker".to_owned()] };
    match load(&inputs, &schema).and_then(|cluster| cluster.generate(&format)) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(|fault| fault.diagnostic.code).collect(),
    }
}

fn spoken(example: &Explanation, text: &str) -> Vec<&'static str> {
    if is_of_a_generator(example) {
        return said_by_generator(text);
    }
    if is_of_an_import(example) {
        return said_by_import(text);
    }
    let lacking = (example.code == KERNEL_LACKS_TYPE).then_some(InterfaceKind::Vrf).into_iter().collect();
    let eth1 = IfcfgProfile { interface: "eth1".into(), file: "ifcfg-eth1".into() };
    let ifcfg = (example.code == IFCFG_PROFILE).then_some(eth1).into_iter().collect();
    let eth0 = UplinkFact { bridge: "br-ex".into(), interface: "eth0".into(), ofport: 5, managed: true };
    let facts = Facts {
        uplinks: (example.code == RENUMBERED).then_some(eth0).into_iter().collect(),
        ovs_running: example.code != OVS_NOT_RUNNING,
        lacking,
        ifcfg,
        lacking_datapaths: (example.code == NO_DATAPATH).then(|| "system".to_owned()).into_iter().collect(),
        bridges_of_others: (example.code == BRIDGE_OF_OTHERS)
            .then(|| "br-tenants".to_owned())
            .into_iter()
            .collect(),
        lacks_supplicant: example.code == NO_SUPPLICANT,
        virtual_functions: [("eth1".to_owned(), 8)].into(),
        missing_files: ["/etc/pki/worker.pem".to_owned()].into(),
        lacks_dpdk: example.code == NO_DPDK,
        lacks_libreswan: example.code == NO_LIBRESWAN,
        ..Facts::default()
    };
    // The check knows as much of this one as a host does, and speaks first.
    let excused: &[&str] = if example.code == BASE_GOES { &[BASE_ABSENT] } else { &[] };
    if is_of_a_host(example) { said_by_host(text, &facts, excused) } else { said_offline(text) }
}

fn entry(code: &str) -> (String, Option<String>) {
    let entry = codes::explain(code).expect("it has a page");
    (entry.incorrect().expect("it has an example"), entry.correct())
}

#[test]
fn every_page_has_its_title_a_text_and_an_example() {
    for entry in codes::all() {
        let Explanation { code, page } = entry;
        assert!(page.starts_with(&format!("{code}: {}\n\n{}", entry.title(), &entry.text()[..20])), "{page}");
        assert!(entry.incorrect().is_some() != entry.example_message().is_some(), "{page}");
        let sections = [entry.example_message(), entry.incorrect(), entry.correct()];
        let headings = page.split("\n\n").filter(|part| part.ends_with(':') && !part.contains('\n')).count();
        assert_eq!(headings, sections.iter().flatten().count(), "an unknown or empty section: {page}");
        assert!(page.lines().filter(|line| !line.starts_with("    ")).all(|line| line.len() <= 78), "{page}");
    }
}

#[test]
fn every_page_is_of_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codes/pages");
    let pages = fs::read_dir(folder).expect("there are pages").count();
    assert_eq!(pages, codes::all().count());
}

#[test]
fn every_example_message_is_in_a_golden_case() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fleet/cases/report/enactment");
    let folders = fs::read_dir(cases).expect("there are cases").filter_map(|entry| Some(entry.ok()?.path()));
    let golden: String = folders.filter_map(|f| fs::read_to_string(f.join("conditions.txt")).ok()).collect();
    let golden = golden.replace("worker-1, try 2: ", "");
    for entry in failures::TABLE {
        let message = entry.example_message().unwrap_or_default();
        assert!(message.starts_with(&format!("[{}] ", entry.code)), "{}", entry.code);
        assert!(golden.contains(&message), "no golden case has the message: {message}");
    }
}

#[test]
fn codes_are_found_in_texts() {
    assert_eq!(codes::named_in("no such port [LM1001]; and [LM1002]"), Some("LM1001"));
    assert_eq!(codes::named_in("[LM9999] [LMé] LM1001 [LM10"), None);
}

#[test]
fn wrong_examples_cause_their_code_and_nothing_else() {
    let mut others = Vec::new();
    let apart = [TOO_LARGE, CONFLICT, CLEAR_SECRET, POLICY_TWICE];
    for entry in codes::all().filter(|entry| !apart.contains(&entry.code)) {
        let Some(incorrect) = entry.incorrect() else { continue };
        let found: BTreeSet<_> = spoken(entry, &incorrect).into_iter().collect();
        if found != BTreeSet::from([entry.code]) {
            others.push((entry.code, found));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn the_example_of_a_large_document_is_too_large_when_written_out() {
    let (incorrect, _) = entry(TOO_LARGE);
    let (start, line) = incorrect.trim_end().rsplit_once('\n').expect("it has lines");
    let text = format!("{start}\n{}", format!("{line}\n").repeat(MAX_BYTES / line.len()));
    assert_eq!(said_offline(&text), [TOO_LARGE]);
}

#[test]
fn right_examples_cause_nothing() {
    for entry in codes::all().filter(|entry| entry.code != CLEAR_SECRET) {
        let Some(correct) = entry.correct() else { continue };
        assert_eq!(spoken(entry, &correct), Vec::<&str>::new(), "{}\n{correct}", entry.code);
    }
}

#[test]
fn the_example_of_a_secret_in_clear_is_one() {
    let (incorrect, correct) = entry(CLEAR_SECRET);
    let shown = |text: &str| {
        let document = Document::parse("example.yaml", text).expect("can be read");
        assert!(check(&document, &schema).is_empty(), "nothing else is wrong");
        linesman_core::secrets::in_clear(&document.state).map(|path| path.to_string())
    };
    let place = "interfaces[eth1].802.1x.private-key-password";
    assert_eq!(shown(&incorrect).as_deref(), Some(place));
    assert_eq!(correct.as_deref().and_then(shown), None);
}

#[test]
fn the_example_of_a_conflict_is_one_between_two_documents() {
    let (incorrect, _) = entry(CONFLICT);
    let (one, other) = incorrect.split_once("---\n").expect("it has two documents");
    let policy = |name: &str, text: &str| {
        assert_eq!(said_offline(text), Vec::<&str>::new());
        Document::parse(name, text).expect("was checked").to_policy(name)
    };
    let (one, other) = (policy("office", one), policy("storage", other));
    assert_eq!(compose(&[&one, &other]).expect_err("they conflict").len(), 1);
}

#[test]
fn the_example_of_a_name_given_twice_is_right_otherwise() {
    let (incorrect, _) = entry(POLICY_TWICE);
    let (one, other) = incorrect.split_once("---\n").expect("it has two documents");
    let name = |text: &str| {
        assert_eq!(said_offline(text), Vec::<&str>::new());
        Document::parse("example.yaml", text).expect("was checked").policy
    };
    assert_eq!(name(one), name(other));
}
