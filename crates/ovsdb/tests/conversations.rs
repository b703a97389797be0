//! What servers say, and what the replica makes of it. The same cases are where fuzzers start from.

use linesman_golden::Tree;
use linesman_ovsdb::fuzz::conversation;

const CASES: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/conversation"),
    outputs: &["replica.txt"],
    at_least: 19,
};

#[test]
fn conversations_lead_to_their_replicas() {
    CASES.compare(|case| {
        let said: Vec<String> = case.inputs().into_values().collect();
        [conversation(said.concat().as_bytes())]
    });
}
