//! Cases are found with what they share, and fuzzers get seeds from them.

use linesman_golden::{TARGETS, Tree, seeds};

const VERIFY: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/../core/cases/verify"),
    outputs: &["differences.txt"],
    at_least: 203,
};

#[test]
fn an_input_comes_from_the_nearest_folder_above() {
    let cases = VERIFY.cases();
    let of = |name: &str| cases.iter().find(|case| case.name() == name).expect("the case is there");
    let inputs = of("mtu/differs").inputs();
    assert_eq!(inputs.keys().collect::<Vec<_>>(), ["after.yaml", "desired.yaml"]);
    assert_eq!(inputs["desired.yaml"], of("mtu/holds").text("desired.yaml"));
    assert_eq!(inputs["after.yaml"], of("lldp/differs").text("after.yaml"), "the default of the whole tree");
    assert_ne!(inputs["after.yaml"], of("mtu/holds").text("after.yaml"), "the variant has its own");
    assert_eq!(of("mtu/holds").output("differences.txt"), "");
}

#[test]
fn every_fuzz_target_has_seeds() {
    let counts = TARGETS.map(|target| seeds(target).len());
    let [parse, check, keyfile, netplan, ovsdb] = counts;
    assert!(parse == check && check >= 70 && keyfile >= 20 && netplan >= 15 && ovsdb >= 19, "{counts:?}");
}
