//! What the agent says on standard error: one line per event, as systemd's journal likes it.

use linesman_core::outcome::{Outcome, Verdict};
use linesman_engine::transaction::Step;

/// A line with the priority that journald understands.
pub fn line(level: u8, text: impl AsRef<str>) {
    let journald = std::env::var_os("JOURNAL_STREAM").is_some();
    for line in text.as_ref().lines() {
        if journald {
            eprintln!("<{level}>{line}");
        } else {
            eprintln!("{line}");
        }
    }
}

pub fn info(text: impl AsRef<str>) {
    line(6, text);
}

pub fn warning(text: impl AsRef<str>) {
    line(4, text);
}

/// Where a transaction stands, in a few words.
pub fn step(step: &Step) -> &'static str {
    match step {
        Step::Planned(_) | Step::Probed(_) | Step::Snapshot => "preparing",
        Step::Applying => "applying",
        Step::Verifying => "verifying",
        Step::Probing => "probing",
        Step::Unconfirmed { .. } => "waiting for a confirmation",
        Step::RollingBack { .. } => "going back",
        Step::Done => "done",
    }
}

pub fn outcome(what: &str, outcome: &Outcome) {
    let reason = outcome.why().unwrap_or_else(|| "no reason given".into());
    match outcome.verdict {
        Verdict::Unchanged => info(format!("{what}: holds already, nothing was touched")),
        Verdict::Committed | Verdict::Pending => {
            info(format!("{what}: committed after {:.1} s", seconds(outcome.milliseconds)));
        }
        Verdict::RolledBack => warning(format!("{what}: rolled back: {reason}")),
        Verdict::Abandoned => warning(format!("{what}: nothing was touched: {reason}")),
        Verdict::Incomplete => {
            warning(format!("{what}: rolled back, but not everything is as before: {reason}"));
            outcome.remaining.iter().for_each(|left| warning(format!("  {left}")));
        }
    }
    outcome.notes.iter().for_each(|note| info(format!("  note: {note}")));
}

#[allow(clippy::cast_precision_loss)]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}
