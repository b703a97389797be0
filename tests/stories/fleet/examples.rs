//! Every policy under examples/policies is rolled out, in sync, and reverted.

use std::path::{Path, PathBuf};

use linesman_tests::fleet::{Fleet, POLICIES};

const LAST: &str = "br-ex.yaml";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/policies"));
    let entries = std::fs::read_dir(folder).expect("there are examples");
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    // The one that takes the uplink over comes last, and stays.
    files.sort_by_key(|path| (path.ends_with(LAST), path.clone()));
    files
}

/// `metadata.name` of each document in a file.
fn names(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("  name: "));
    lines.map(str::to_owned).collect()
}

/// The same policy with `onDelete: Revert`.
fn reverting(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("  onDelete:"));
    let with = kept.map(|line| if line == "spec:" { "spec:\n  onDelete: Revert" } else { line });
    with.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_example_policy_works() {
    let files = files();
    assert!(files.len() >= 8, "{files:?}");
    let fleet = Fleet::new("policy-examples", 2);
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("an example can be read");
        fleet.cluster.apply(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let names = names(&text);
        assert!(!names.is_empty(), "{name}");
        names.iter().for_each(|policy| fleet.wait_policy(policy, "Available"));
        eprintln!("{name} holds");
        if file.ends_with(LAST) {
            break;
        }
        // The next one finds the nodes as this one did.
        fleet.cluster.apply(&reverting(&text)).unwrap_or_else(|e| panic!("{name}: {e}"));
        for policy in names.iter().rev() {
            fleet.wait_policy(policy, "Available");
            fleet.cluster.run(&["delete", &format!("{POLICIES}/{policy}"), "--timeout=120s"]).unwrap();
        }
    }
}
