//! The golden cases of `cases/generate`; `cases/README.md` says how to add one.

#![allow(clippy::panic)]

use linesman_core::diagnostic::render;
use linesman_day1::fault::Fault;
use linesman_day1::generate::{Generated, OutputFormat, SpecVersion};
use linesman_day1::input::Input;
use linesman_day1::load;
use linesman_golden::{Case, Tree};
use nmstate::NetworkState;
use serde_json::Value;

const GENERATE: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/generate"),
    outputs: &["generated.txt", "errors.txt"],
    at_least: 40,
};

/// Says which form is generated, and for which roles: `machine-config worker`.
const FORMAT: &str = "format";
/// Says how often the last host is repeated, each time with another number for `%`.
const REPEAT: &str = "repeat";

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

fn format(case: &Case) -> OutputFormat {
    let words = case.input(FORMAT).unwrap_or_else(|| "files".to_owned());
    let mut words = words.split_whitespace();
    match words.next() {
        Some("ignition") => OutputFormat::Ignition(SpecVersion::V3_2),
        Some("machine-config") => OutputFormat::MachineConfig {
            version: SpecVersion::V3_2,
            roles: words.map(str::to_owned).collect(),
        },
        Some("files") => OutputFormat::Files,
        other => panic!("{}: unknown format {other:?}", case.name()),
    }
}

fn inputs(case: &Case) -> Vec<Input> {
    let files = case.inputs().into_iter().filter(|(name, _)| ![FORMAT, REPEAT].contains(&name.as_str()));
    files.map(|(name, text)| Input::new(name, &repeated(case, &text))).collect()
}

fn repeated(case: &Case, text: &str) -> String {
    let Some(times) = case.input(REPEAT) else { return text.to_owned() };
    let (head, last) = text.split_at(text.rfind("  - name: host-%").expect("the last host is called host-%"));
    let times: usize = times.trim().parse().expect("'repeat' holds a number");
    head.to_owned() + &(0..times).map(|number| last.replace('%', &number.to_string())).collect::<String>()
}

fn generated(inputs: &[Input], case: &Case) -> Result<Generated, Vec<Fault>> {
    load(inputs, &schema)?.generate(&format(case))
}

fn shown(generated: &Generated) -> String {
    let notes = generated.notes.iter().map(|note| format!("note: {note}\n"));
    let files = generated.files.iter().map(|file| {
        let secret = if file.is_secret { " (secret)" } else { "" };
        format!("=== {}{secret}\n{}", file.name, file.text)
    });
    notes.chain(files).collect()
}

fn outputs(case: &Case) -> [String; 2] {
    let inputs = inputs(case);
    match generated(&inputs, case) {
        Ok(generated) => [shown(&generated), String::new()],
        Err(faults) => {
            let said = |fault: &Fault| {
                let input = &inputs[fault.file];
                render(&fault.diagnostic, (input.name.as_str(), &*input.text), false)
            };
            [String::new(), faults.iter().map(said).collect()]
        }
    }
}

#[test]
fn output_and_errors_are_as_expected() {
    GENERATE.compare(outputs);
}

#[test]
fn cases_without_errors_are_called_valid_and_others_not() {
    for case in GENERATE.cases() {
        let (name, is_valid) = (case.name(), case.output("errors.txt").is_empty());
        assert_eq!(name.starts_with("valid-"), is_valid, "{name}");
    }
}

/// `linesman generate` of its own files gives them again, MAC addresses and roles aside.
#[test]
fn generated_files_are_right_themselves() {
    for case in GENERATE.cases() {
        let Ok(checked) = load(&inputs(&case), &schema) else { continue };
        let Ok(generated) = checked.generate(&OutputFormat::Files) else { continue };
        let documents = generated.files.iter().filter(|file| file.name.ends_with(".yml"));
        let again: Vec<Input> = documents.map(|file| Input::new(&file.name, &file.text)).collect();
        let Err(faults) = load(&again, &schema) else { continue };
        // Only the install-config says that no host needs br-ex.
        let is_br_ex = |fault: &Fault| fault.diagnostic.code == linesman_core::codes::day1::NO_BR_EX;
        assert!(faults.iter().all(is_br_ex), "{}: {faults:?}", case.name());
    }
}

#[test]
fn the_order_of_files_does_not_matter() {
    for case in GENERATE.cases() {
        let [before, errors] = outputs(&case);
        let mut inputs = inputs(&case);
        inputs.reverse();
        match generated(&inputs, &case) {
            Ok(after) => assert_eq!(shown(&after), before, "{}", case.name()),
            Err(_) => assert!(!errors.is_empty(), "{}", case.name()),
        }
    }
}

const NIC: &str = "{name: eno1, type: ethernet, state: up}";

#[test]
fn the_order_of_hosts_does_not_matter() {
    let install_config = |names: [&str; 2]| {
        let hosts: String = names
            .iter()
            .map(|name| {
                format!("  - {{name: {name}, role: worker, networkConfig: {{interfaces: [{NIC}]}}}}\n")
            })
            .collect();
        Input::new(
            "install-config.yaml",
            &format!("networking:\n  networkType: Calico\n  hostConfig:\n{hosts}"),
        )
    };
    let machine_config = OutputFormat::MachineConfig { version: SpecVersion::V3_2, roles: Vec::new() };
    for format in [OutputFormat::Files, OutputFormat::Ignition(SpecVersion::V3_2), machine_config] {
        let generated = |names| {
            let checked =
                load(&[install_config(names)], &schema).unwrap_or_else(|faults| panic!("{faults:?}"));
            checked.generate(&format).map(|generated| shown(&generated))
        };
        assert_eq!(generated(["worker-0", "worker-1"]), generated(["worker-1", "worker-0"]));
    }
}
