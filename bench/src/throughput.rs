//! (a) Checkpoint to commit, against nmstate's own apply of the same state; and whole commands, from the start of the process
//! to its end, which is what a user waits for.

use std::time::Instant;

use linesman_lab::{Node, documents};
use serde_json::Value;

use crate::report::{BenchReport, median};
use crate::{Fallible, bed, states};

const ROUNDS: usize = 7;

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let (_lab, node) = bed("bench-apply")?;
    let one = Goals { checkpoint_to_commit: 0.35, whole_command: 0.6 };
    let (bridge, no_bridge) = (states::bridges(1), states::no_bridges(1));
    let contest = Contest::new("one bridge with an address", &bridge, &no_bridge, one);
    contest.run(&node, report)?;
    let goals = Goals { checkpoint_to_commit: 0.5, whole_command: 0.8 };
    let (br_ex, plain) = (states::br_ex(&node), documents::eth0(&node));
    Contest::new("br-ex taking over a NIC", &br_ex, &plain, goals).run(&node, report)?;
    let goals = Goals { checkpoint_to_commit: 0.7, whole_command: 0.8 };
    let (many, none) = (states::bridges(100), states::no_bridges(100));
    Contest::new("100 bridges", &many, &none, goals).run(&node, report)
}

/// Ratios to nmstate.
#[derive(Clone, Copy, Debug)]
pub struct Goals {
    pub checkpoint_to_commit: f64,
    pub whole_command: f64,
}

/// A state that both apply, in turn.
#[derive(Debug)]
pub struct Contest<'a> {
    pub name: &'a str,
    pub state: &'a str,
    pub undo: &'a str,
    pub goals: Goals,
    pub rounds: usize,
    /// Of `linesman apply`.
    pub flags: &'a [&'a str],
}

impl<'a> Contest<'a> {
    fn new(name: &'a str, state: &'a str, undo: &'a str, goals: Goals) -> Self {
        Self { name, state, undo, goals, rounds: ROUNDS, flags: &[] }
    }

    pub fn run(&self, node: &Node, report: &mut BenchReport) -> Fallible<()> {
        compare(node, report, self)
    }
}

fn compare(node: &Node, report: &mut BenchReport, contest: &Contest<'_>) -> Fallible<()> {
    let Contest { name, state, undo, goals, rounds, flags } = *contest;
    let (mut ours, mut theirs, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut our_commands, mut their_commands) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (outcome, command) = apply(node, state, flags)?;
        our_commands.push(command);
        ours.push(outcome["milliseconds"].as_f64().unwrap_or(f64::NAN));
        peaks.push(outcome["worker_peak_kib"].as_f64().unwrap_or(f64::NAN) / 1024.0);
        apply(node, undo, flags)?;
        node.write_file("/root/incumbent.yaml", state, 0o600)?;
        let start = Instant::now();
        let text = node.command(["linesman-bench", "incumbent", "apply", "/root/incumbent.yaml"])?.run()?;
        their_commands.push(milliseconds_since(start));
        theirs.push(serde_json::from_str::<Value>(text.trim())?["milliseconds"].as_f64().unwrap_or(f64::NAN));
        apply(node, undo, flags)?;
        eprint!(".");
    }
    eprintln!(" {name}");
    report.row(
        format!("{name}: checkpoint to commit"),
        median(ours),
        "ms",
        Some(median(theirs)),
        goals.checkpoint_to_commit,
    );
    report.row(
        format!("{name}: whole command"),
        median(our_commands),
        "ms",
        Some(median(their_commands)),
        goals.whole_command,
    );
    if name.starts_with("100") {
        report.row(format!("{name}: worker's peak memory"), median(peaks), "MB", None, 30.0);
    }
    Ok(())
}

fn milliseconds_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The outcome, and the milliseconds of the whole command.
fn apply(node: &Node, state: &str, flags: &[&str]) -> Fallible<(Value, f64)> {
    node.write_file("/root/bench.yaml", state, 0o600)?;
    let start = Instant::now();
    let words =
        ["linesman", "apply", "/root/bench.yaml", "-o", "json", "--probe", "gateway:v4", "--probe", "dns"];
    let output = node.exec([&words, flags].concat())?;
    let milliseconds = milliseconds_since(start);
    if !output.success() {
        return Err(format!("linesman apply failed:\n{}\n{}", output.stdout, output.stderr).into());
    }
    Ok((serde_json::from_str(&output.stdout)?, milliseconds))
}
