//! An outcome in words.

use std::time::Duration;

use linesman_core::outcome::{FailedStep, Outcome, Verdict};
use linesman_engine::probe::ProbeResult;

use crate::output;

pub fn outcome(outcome: &Outcome) {
    let interrupted = if outcome.step == Some(FailedStep::Interrupted) { "interrupted; " } else { "" };
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
        Verdict::RolledBack => {
            output::line(format!("{interrupted}rolled back: this host is in its previous state"));
        }
        Verdict::Incomplete => output::line(format!(
            "{interrupted}rolled back INCOMPLETELY: this host differs from its previous state:"
        )),
        Verdict::Abandoned if interrupted.is_empty() => {
            output::line("failed before the change started; no changes made");
        }
        Verdict::Abandoned => output::line("interrupted; nothing was changed"),
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

/// Of a change that waits for its confirmation.
pub fn pending(within: Duration) -> String {
    format!(
        "rolling back in {} s unless the change is confirmed:\n  linesman commit    keeps it\n  linesman rollback  undoes it now",
        within.as_secs()
    )
}

fn probe_lines(outcome: &Outcome) {
    if !outcome.probes.lost.is_empty() {
        output::line(format!(
            "  lost: {}; to keep it, ask for it with --probe",
            outcome.probes.lost.join(", ")
        ));
    }
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
