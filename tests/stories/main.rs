//! Whole-system tests: each file tells one story on a real node.

mod apply;
mod faults;
mod coverage;
mod persist;
mod verbs;
