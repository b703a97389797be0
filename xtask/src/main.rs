//! The chores of the tree: lab by hand, demo, set-up.

fn main() {}
