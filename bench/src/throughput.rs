//! (a) Checkpoint to commit, against nmstate's own apply of the same state.

use linesman_lab::{Node, documents};
use serde_json::Value;

use crate::report::{BenchReport, median};
use crate::{Fallible, bed, states};

const ROUNDS: usize = 7;

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let (_lab, node) = bed("bench-apply")?;
    compare(&node, report, "one bridge with an address", &states::bridges(1), &states::no_bridges(1), 0.35)?;
    compare(&node, report, "br-ex taking over a NIC", &states::br_ex(&node), &documents::eth0(&node), 0.5)?;
    compare(&node, report, "100 bridges", &states::bridges(100), &states::no_bridges(100), 0.7)
}

fn compare(
    node: &Node,
    report: &mut BenchReport,
    name: &str,
    state: &str,
    undo: &str,
    goal: f64,
) -> Fallible<()> {
    let (mut ours, mut theirs, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let outcome = apply(node, state)?;
        ours.push(outcome["milliseconds"].as_f64().unwrap_or(f64::NAN));
        peaks.push(outcome["worker_peak_kib"].as_f64().unwrap_or(f64::NAN) / 1024.0);
        apply(node, undo)?;
        node.write_file("/root/incumbent.yaml", state, 0o600)?;
        let text = node.command(["linesman-bench", "incumbent", "apply", "/root/incumbent.yaml"])?.run()?;
        theirs.push(serde_json::from_str::<Value>(text.trim())?["milliseconds"].as_f64().unwrap_or(f64::NAN));
        apply(node, undo)?;
        eprint!(".");
    }
    eprintln!(" {name}");
    report.row(format!("{name}: checkpoint to commit"), median(ours), "ms", Some(median(theirs)), goal);
    if name.starts_with("100") {
        report.row(format!("{name}: worker's peak memory"), median(peaks), "MB", None, 30.0);
    }
    Ok(())
}

fn apply(node: &Node, state: &str) -> Fallible<Value> {
    node.write_file("/root/bench.yaml", state, 0o600)?;
    let output = node.exec([
        "linesman",
        "apply",
        "/root/bench.yaml",
        "-o",
        "json",
        "--probe",
        "gateway:v4",
        "--probe",
        "dns",
    ])?;
    if !output.success() {
        return Err(format!("linesman apply failed:\n{}\n{}", output.stdout, output.stderr).into());
    }
    Ok(serde_json::from_str(&output.stdout)?)
}
