//! `docs/reference/faults.md`: what campaigns of faults have seen, from their committed results.

mod results;

use std::collections::{BTreeMap, BTreeSet};

pub use results::Results;
use results::{Count, Row};

use crate::{Fallible, NOTE, wrapped};

/// Of the tree.
pub const RESULTS: &str = "docs/reference/faults.tsv";

const ABOUT: &str = "`make soak` strikes changes with faults: something is killed, restarted, paused, filled, unplugged or \
    switched off at a step of the change, or at a random moment within it. After each fault the host must be in its former \
    state or in the new one, never in between, and reachable by both families; the journal must record which; nothing \
    of others (addresses, profiles, bridges, keys of Open vSwitch) may be lost; and the next apply must work and be \
    complete. `make test` runs a small sample with a new seed each time.";

const HOW: &str = "The tables are made from `docs/reference/faults.tsv`, the results of the last campaign that was run for \
    this page: `cargo run -p xtask-docs -- --faults target/faults/progress.tsv`. \"Not begun\" is a change that was struck \
    before it changed anything. The longest silence is the longest time for which a host did not answer a ping, from the \
    first lost to the next answered; it includes what the fault itself takes: an unplugged cable, a boot.";

/// The campaigns, by the tests that run them, and where those run.
const TIERS: [(&str, &str, &str); 3] = [
    (
        "faults::campaign",
        "Nodes in namespaces",
        "Three changes: a bridge over a spare NIC; the same with DNS and NetworkManager 1.42; br-ex takes the node's own \
         address.",
    ),
    (
        "power_cuts",
        "Virtual machines",
        "A bond, a VLAN on it and a bridge on that are made and removed in turn. A power cut loses what was not yet on \
         disk.",
    ),
    (
        "outages",
        "A node of a cluster",
        "A policy is applied by the agent while the API server or etcd fails; its status must be reported afterwards.",
    ),
];

/// In the order in which a change passes them; others follow.
const STEPS: [&str; 20] = [
    "at snapshot-taken",
    "at applying",
    "at worker-started",
    "during nmstate's part",
    "at worker-done",
    "at applied",
    "at verified",
    "at probed",
    "while it waits for its confirmation",
    "at committing",
    "at committed",
    "at rolling-back",
    "during the rollback",
    "at checkpoint-rolled-back",
    "at recovering of recover",
    "at checkpoint-rolled-back of recover",
    "during the change",
    "during recovery",
    "after the change",
    "at rest",
];

pub fn page(results: &str) -> Fallible<String> {
    let results = Results::parse(results).ok_or_else(|| format!("{RESULTS} is damaged"))?;
    let tiers: String =
        TIERS.iter().map(|(campaign, title, about)| tier(&results, campaign, title, about)).collect();
    let seen = seen(&results);
    Ok(format!("{NOTE}\n\n# Faults\n\n{}\n\n{}\n\n{}\n{tiers}", wrapped(ABOUT), wrapped(HOW), wrapped(&seen)))
}

fn seen(results: &Results) -> String {
    let total: Count = results.rows.iter().map(|row| &row.count).sum();
    let violations = match (total.violations, results.passed_again) {
        (0, 0) => "None of them failed a check.".to_string(),
        (0, again) => {
            format!("{again} of them failed a check at first, and passed when they were run again.")
        }
        (open, _) => format!("{open} of them failed a check; see the column of violations."),
    };
    format!(
        "{} faults were run, of the ten thousand of a whole campaign. {violations} {}",
        total.runs(),
        runs(results)
    )
}

fn runs(results: &Results) -> String {
    let list =
        |set: &BTreeSet<String>| set.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ");
    let (seeds, commits) = (list(&results.seeds), list(&results.commits));
    format!("Campaign and seed: {seeds}. Commits: {commits}.")
}

fn tier(results: &Results, campaign: &str, title: &str, about: &str) -> String {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.campaign == campaign).collect();
    if rows.is_empty() {
        return String::new();
    }
    let (by_fault, by_step) = (sums(&rows, |row| row.fault.clone()), sums(&rows, |row| row.step.clone()));
    let mut steps: Vec<&String> = by_step.keys().collect();
    steps.sort_by_key(|step| STEPS.iter().position(|known| known == step).unwrap_or(STEPS.len()));
    let numbered = |number: usize, step: &String| line(&format!("{} | {step}", number + 1), &by_step[step]);
    let step_lines: String = steps.iter().enumerate().map(|(number, step)| numbered(number, step)).collect();
    let fault_lines: String = by_fault.iter().map(|(fault, count)| line(fault, count)).collect();
    let about = wrapped(about);
    let matrix = matrix(&rows, &steps, by_fault.keys());
    format!(
        "\n## {title}\n\n{about}\n\n| fault {COLUMNS}{fault_lines}\n| # | step {COLUMNS_OF_STEPS}{step_lines}\nHow \
         often each fault at each step; columns are the numbers of steps above.\n\n{matrix}"
    )
}

const COLUMNS: &str = "| runs | committed | rolled back | not begun | violations | longest silence |\n\
                       |---|---|---|---|---|---|---|\n";
const COLUMNS_OF_STEPS: &str = "| runs | committed | rolled back | not begun | violations | longest silence |\n\
                                |---|---|---|---|---|---|---|---|\n";

fn sums(rows: &[&Row], key: impl Fn(&Row) -> String) -> BTreeMap<String, Count> {
    let mut sums: BTreeMap<String, Count> = BTreeMap::new();
    rows.iter().for_each(|row| sums.entry(key(row)).or_default().add(&row.count));
    sums
}

fn line(name: &str, count: &Count) -> String {
    let Count { committed, rolled_back, not_begun, violations, .. } = count;
    let (runs, silence) = (count.runs(), f64::from(count.silence) / 10.0);
    format!(
        "| {name} | {runs} | {committed} | {rolled_back} | {not_begun} | {violations} | {silence:.1} s |\n"
    )
}

fn matrix<'a>(rows: &[&Row], steps: &[&String], faults: impl Iterator<Item = &'a String>) -> String {
    let head: String = (1..=steps.len()).map(|number| format!(" {number} |")).collect();
    let rule = "---|".repeat(steps.len());
    let runs = |fault: &str, step: &str| {
        let of_cell = rows.iter().filter(|row| row.fault == fault && row.step == step);
        let runs: u32 = of_cell.map(|row| row.count.runs()).sum();
        if runs == 0 { String::new() } else { runs.to_string() }
    };
    let line = |fault: &String| {
        let cells: String = steps.iter().map(|step| format!(" {} |", runs(fault, step))).collect();
        format!("| {fault} |{cells}\n")
    };
    format!("| fault |{head}\n|---|{rule}\n{}", faults.map(line).collect::<String>())
}
