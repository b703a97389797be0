//! The benchmarks: ratios taken in one run, against nmstate itself.

fn main() {}
