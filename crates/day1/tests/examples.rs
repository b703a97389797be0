//! Every install-config under examples/ can be generated from, in every form.

#![allow(clippy::panic)]

use std::path::Path;

use linesman_day1::generate::{OutputFormat, SpecVersion};
use linesman_day1::input::Input;
use linesman_day1::load;
use nmstate::NetworkState;
use serde_json::Value;

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(drop).map_err(|error| error.to_string())
}

#[test]
fn every_example_can_be_generated_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/install-config");
    let entries = std::fs::read_dir(folder).expect("there are examples").flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("an example can be read");
        let input = Input::new(file.display().to_string(), &text);
        let checked =
            load(&[input], &schema).unwrap_or_else(|faults| panic!("{}: {faults:#?}", file.display()));
        let formats = [
            OutputFormat::Files,
            OutputFormat::Ignition(SpecVersion::V3_5),
            OutputFormat::MachineConfig { version: SpecVersion::V3_2, roles: Vec::new() },
        ];
        for format in formats {
            let generated = checked.generate(&format);
            assert!(
                generated.is_ok_and(|generated| !generated.files.is_empty()),
                "{} {format:?}",
                file.display()
            );
        }
    }
}
