//! Single functions of the engine on a real node, through the small program of the same name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use linesman_lab::{Lab, Node};
use serde_json::Value;

pub fn start(lab: &Lab) -> Node {
    lab.node("n1").binary(env!("CARGO_BIN_EXE_on-node")).start().unwrap()
}

/// Hands it `input` and gives back what it says.
pub fn say(node: &Node, words: &[&str], input: Value) -> Value {
    let command = node.command(std::iter::once(&"on-node").chain(words)).unwrap();
    let text = command.input(input.to_string()).run().unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
