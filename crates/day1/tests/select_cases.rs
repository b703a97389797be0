//! The golden cases of `cases/select`; `cases/README.md` says how to add one.

use linesman_core::document::tree;
use linesman_day1::index::Index;
use linesman_day1::select::{Identity, Nic, select};
use linesman_golden::{Case, Tree};
use serde_json::Value;

const SELECT: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/select"),
    outputs: &["choice.txt"],
    at_least: 12,
};

fn yaml(case: &Case, file: &str) -> Option<Value> {
    Some(tree(&case.input(file)?).expect("the case is YAML").to_value())
}

fn identity(case: &Case) -> Identity {
    let host = yaml(case, "host.yaml").expect("every case has a host");
    let nics = host["nics"].as_object().into_iter().flatten().map(|(name, mac)| Nic {
        name: name.clone(),
        mac: mac.as_str().and_then(|mac| mac.parse().ok()).expect("a NIC has a MAC address"),
    });
    Identity { hostname: host["hostname"].as_str().unwrap_or_default().to_owned(), nics: nics.collect() }
}

/// `files` lists the directory, if it has other files than the index says.
fn chosen(case: &Case) -> String {
    let index: Index = yaml(case, "hosts.yaml")
        .map(|index| serde_json::from_value(index).expect("the case has an index"))
        .unwrap_or_default();
    let index = match case.input("files") {
        Some(files) => index.with_files(&files.lines().map(str::to_owned).collect::<Vec<_>>()),
        None => index,
    };
    format!("{}\n", select(&index, &identity(case)))
}

#[test]
fn choices_are_as_expected() {
    SELECT.compare(|case| [chosen(case)]);
}
