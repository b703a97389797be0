//! (b) An apply that has nothing to do, against a bare look at the host: whole processes, both.

use std::time::Instant;

use linesman_lab::Node;

use crate::report::{BenchReport, median};
use crate::{Fallible, bed, states};

const ROUNDS: usize = 9;

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let (_lab, node) = bed("bench-noop")?;
    node.write_file("/root/noop.yaml", states::bridges(20), 0o600)?;
    node.run(["linesman", "apply", "-q", "/root/noop.yaml"])?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(milliseconds(&node, &["linesman", "apply", "-q", "/root/noop.yaml"])?);
        theirs.push(milliseconds(&node, &["linesman-bench", "incumbent", "retrieve"])?);
    }
    report.row(
        "no-op apply (20 bridges) against a bare retrieve",
        median(ours),
        "ms",
        Some(median(theirs)),
        1.3,
    );
    Ok(())
}

fn milliseconds(node: &Node, words: &[&str]) -> Fallible<f64> {
    let start = Instant::now();
    node.run(words.iter().copied())?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
