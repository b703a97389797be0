//! Where foreign text comes in. Shared by the fuzz targets and by the test that runs on a stable compiler.

use linesman_core::check::check as examine;
use linesman_core::diagnostic::render;
use linesman_core::document::Document;
use linesman_tools::import::{Format, Input, import};
use serde_json::Value;

fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<nmstate::NetworkState>(state.clone())
        .map(drop)
        .map_err(|error| error.to_string())
}

pub fn parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for read in Document::parse_all("input", &text) {
        match read {
            Ok(document) => drop(document.state.to_string()),
            Err(faults) => faults.iter().for_each(|fault| drop(render(fault, ("input", &*text), false))),
        }
    }
}

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for document in Document::parse_all("input", &text).into_iter().flatten() {
        let problems = examine(&document, &schema);
        problems.iter().for_each(|problem| drop(render(problem, &document, true)));
    }
}

pub fn keyfile(data: &[u8]) {
    imported(Format::Keyfile, data);
}

pub fn netplan(data: &[u8]) {
    imported(Format::Netplan, data);
}

/// What a database server says.
pub fn ovsdb(data: &[u8]) {
    drop(linesman_ovsdb::fuzz::conversation(data));
}

/// `\0` separates files, so that merging and references between profiles are met, too.
fn imported(format: Format, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let input =
        |(number, text): (usize, &str)| Input { name: format!("input-{number}"), text: text.to_owned() };
    let inputs: Vec<Input> = text.split('\0').enumerate().map(input).collect();
    match import(Some(format), &inputs) {
        Ok(imported) => {
            let header = imported.header("input");
            assert!(header.lines().all(|line| line.starts_with('#')), "a note broke out of its comment");
            // The types may refuse a value that the source had wrong; the shape must be a document's.
            drop(schema(&imported.state));
        }
        Err(faults) => {
            assert!(!faults.is_empty(), "refused without a reason");
            for fault in faults {
                let input = &inputs[fault.file];
                drop(render(&fault.diagnostic, (input.name.as_str(), input.text.as_str()), false));
            }
        }
    }
}
