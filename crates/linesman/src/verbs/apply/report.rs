//! An outcome in words.

use linesman_core::outcome::{FailedStep, Outcome, Verdict};
use linesman_engine::probe::ProbeResult;

use crate::output;

pub fn outcome(outcome: &Outcome) {
    let seconds = |ms: u64| format!("{}.{:02} s", ms / 1000, ms % 1000 / 10);
    match outcome.verdict {
        Verdict::Unchanged => output::line("already in the desired state; no changes made"),
        Verdict::Committed if outcome.milliseconds > 0 => {
            output::line(format!(
                "committed: {}, {} from checkpoint to commit",
                outcome.checks(),
                seconds(outcome.milliseconds)
            ));
        }
        Verdict::Committed => output::line("committed"),
        Verdict::Pending => output::line("applied; pending confirmation"),
        Verdict::RolledBack => output::line("rolled back: this host is in its previous state"),
        Verdict::Incomplete => {
            output::line("rolled back INCOMPLETELY: this host differs from its previous state:")
        }
        Verdict::Abandoned => output::line("failed before the change started; no changes made"),
    }
    for line in &outcome.remaining {
        output::line(format!("  ! {line}"));
    }
    if let Some(reason) = outcome.why() {
        let step = outcome.step.unwrap_or(FailedStep::Apply);
        output::line(format!("  why: {step}: {reason}"));
    }
    for difference in outcome.differences.iter().skip(1).take(9) {
        output::line(format!("       {difference}"));
    }
    for note in &outcome.notes {
        output::line(format!("  note: {note}"));
    }
    if outcome.verdict != Verdict::Unchanged {
        probe_lines(outcome);
    }
}

fn probe_lines(outcome: &Outcome) {
    if !outcome.probes.not_protected.is_empty() {
        output::line(format!("  not protected: {}", outcome.probes.not_protected.join(", ")));
    }
    if outcome.succeeded() {
        if !outcome.probes.after.is_empty() {
            output::line(format!("  probes: {}", probes(&outcome.probes.after)));
        }
    } else {
        for (when, reports) in [
            ("after the change", &outcome.probes.after),
            ("after the rollback", &outcome.probes.after_rollback),
        ] {
            if !reports.is_empty() {
                output::line(format!("  probes {when}: {}", probes(reports)));
            }
        }
    }
}

pub fn probes(reports: &[ProbeResult]) -> String {
    reports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
