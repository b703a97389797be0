//! What fuzzers start from: the inputs of the golden cases.

use crate::{Case, Tree};

pub const TARGETS: [&str; 5] = ["parse", "check", "keyfile", "netplan", "ovsdb"];

const CHECK: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/../core/cases/check"),
    outputs: &["errors.txt"],
    at_least: 80,
};
const IMPORT: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/cases/import"),
    outputs: &["state.yaml", "notes.txt", "errors.txt"],
    at_least: 40,
};
const OVSDB: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/../ovsdb/cases/conversation"),
    outputs: &["replica.txt"],
    at_least: 19,
};

/// Larger cases are about size, which fuzzers find by themselves.
const LARGEST: usize = 4096;

/// The seeds of one of the `TARGETS`, by a name that can be a file's.
pub fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let tree = match target {
        "keyfile" | "netplan" => IMPORT,
        "ovsdb" => OVSDB,
        _ => CHECK,
    };
    let seed = |case: &Case<'_>| Some((case.name().replace('/', "-"), seed_of(target, case)?));
    tree.cases().iter().filter_map(seed).collect()
}

/// Several files of a case become one seed, with zero bytes between them; what a server said has nothing in between.
fn seed_of(target: &str, case: &Case<'_>) -> Option<Vec<u8>> {
    let wanted = |file: &str| match target {
        "keyfile" => file.ends_with(".nmconnection"),
        "ovsdb" => file.ends_with(".json"),
        "netplan" => file.ends_with(".yaml") && !["observed.yaml", "facts.yaml"].contains(&file),
        _ => file == "input.yaml",
    };
    let files = case.inputs().into_iter().filter(|(file, _)| wanted(file));
    let texts: Vec<Vec<u8>> = files.map(|(_, text)| text.into_bytes()).collect();
    let seed = if target == "ovsdb" { texts.concat() } else { texts.join(&0) };
    (!texts.is_empty() && seed.len() <= LARGEST).then_some(seed)
}
