//! Whatever is missing from a file, it is read or refused with a message, and nothing panics.

use linesman_day1::generate::{OutputFormat, SpecVersion};
use linesman_day1::input::Input;
use linesman_day1::load;
use linesman_golden::Tree;

const GENERATE: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/generate"),
    outputs: &["generated.txt", "errors.txt"],
    at_least: 60,
};

/// `text` without each of its lines, cut after each, and with each emptied of its value.
fn broken(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let joined = |lines: Vec<&str>| lines.join("\n") + "\n";
    (0..lines.len())
        .flat_map(|at| {
            let key = lines[at].split_once(':').map_or(lines[at], |(key, _)| key).to_owned() + ":";
            let without = [&lines[..at], &lines[at + 1..]].concat();
            let emptied = [&lines[..at], &[key.as_str()], &lines[at + 1..]].concat();
            [joined(without), joined(lines[..at].to_vec()), joined(emptied)]
        })
        .collect()
}

#[test]
fn broken_files_are_refused_or_generated_from() {
    let machine_config = OutputFormat::MachineConfig { version: SpecVersion::V3_2, roles: Vec::new() };
    let mut refused = 0;
    for case in GENERATE.cases() {
        let files = case.inputs().into_iter().filter(|(name, _)| name.contains(".y"));
        for (name, text) in
            files.flat_map(|(name, text)| broken(&text).into_iter().map(move |text| (name.clone(), text)))
        {
            let checked = load(&[Input::new(name, &text)], &|_| Ok(()));
            let Err(faults) = checked.and_then(|cluster| cluster.generate(&machine_config)) else { continue };
            refused += 1;
            assert!(!faults.is_empty(), "{}:\n{text}", case.name());
            assert!(
                faults.iter().all(|fault| !fault.diagnostic.message.is_empty()),
                "{}:\n{text}",
                case.name()
            );
        }
    }
    assert!(refused > 1_000, "only {refused} broken files were refused");
}
