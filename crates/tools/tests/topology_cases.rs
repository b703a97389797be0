//! Golden cases: `cases/topology/NAME/state.yaml`, and its two pictures. `UPDATE_GOLDEN=1` draws them anew; look at
//! them before they are committed.

use std::fs;
use std::path::{Path, PathBuf};

use linesman_tools::topology::Topology;
use serde_json::Value;

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/topology");
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .expect("the cases are there")
        .map(|entry| entry.expect("a case can be read").path())
        .collect();
    cases.sort();
    cases
}

fn topology(case: &Path) -> Topology {
    let text = fs::read_to_string(case.join("state.yaml")).expect("a case has a state");
    let state: Value = serde_yaml::from_str(&text).expect("a state is YAML");
    Topology::of(&state)
}

fn compare(case: &Path, golden: &str, now: &str, wrong: &mut Vec<String>) {
    let file = case.join(golden);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&file, now).expect("a golden file can be written");
    }
    let then = fs::read_to_string(&file).unwrap_or_default();
    if then != now {
        wrong.push(format!("{}\n--- golden\n{then}--- now\n{now}", file.display()));
    }
}

#[test]
fn pictures_are_as_drawn() {
    let mut wrong = Vec::new();
    for case in cases() {
        let topology = topology(&case);
        compare(&case, "topology.txt", &topology.text(false), &mut wrong);
        compare(&case, "topology.svg", &topology.svg(), &mut wrong);
    }
    assert!(wrong.is_empty(), "{} pictures differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn text_fits_a_terminal() {
    for case in cases() {
        let text = topology(&case).text(false);
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{}: wider than 80 columns: {wide:#?}", case.display());
    }
}

/// Every interface is drawn, with every address that is not of the link alone.
#[test]
fn nothing_is_left_out() {
    for case in cases() {
        let topology = topology(&case);
        let (text, svg) = (topology.text(false), topology.svg());
        let drawn = topology.interfaces.iter().filter(|interface| interface.kind != "loopback");
        for interface in drawn {
            assert!(text.contains(&interface.name) && svg.contains(&interface.name), "{}", interface.id);
            for address in interface.addresses.iter().filter(|a| !a.address.starts_with("fe80:")) {
                assert!(text.contains(&address.address) && svg.contains(&address.address), "{address:?}");
            }
        }
    }
}
