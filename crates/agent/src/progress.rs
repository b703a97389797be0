//! The progress and the outcome of a change, in the log and in the status.

use linesman_core::outcome::{Outcome, Verdict};
use linesman_engine::transaction::Step;
use tracing::{info, warn};

/// The step of a transaction, in a few words.
pub fn step(step: &Step) -> &'static str {
    match step {
        Step::Planned(_) | Step::Probed(_) | Step::Snapshot => "preparing",
        Step::Applying => "applying",
        Step::Verifying => "verifying",
        Step::Probing => "probing",
        Step::Unconfirmed { .. } => "waiting for a confirmation",
        Step::RollingBack { .. } => "rolling back",
        Step::Done => "done",
    }
}

pub fn log_outcome(policy: &str, outcome: &Outcome) {
    let reason = outcome.why().unwrap_or_else(|| "no reason given".into());
    match outcome.verdict {
        Verdict::Unchanged => info!(policy, "already in the desired state; no changes made"),
        Verdict::Committed | Verdict::Pending => {
            info!(policy, "committed after {:.1} s: {}", seconds(outcome.milliseconds), outcome.checks());
        }
        Verdict::RolledBack => warn!(policy, "rolled back: {reason}"),
        Verdict::Abandoned => warn!(policy, "no changes made: {reason}"),
        Verdict::Incomplete => {
            let remaining = outcome.remaining.join("; ");
            warn!(policy, remaining, "rolled back, but not everything was restored: {reason}");
        }
    }
    if !outcome.probes.lost.is_empty() {
        warn!(
            policy,
            "lost: {}; a policy that needs it names it in its probes",
            outcome.probes.lost.join(", ")
        );
    }
    if !outcome.probes.not_protected.is_empty() {
        warn!(policy, "not protected: {}", outcome.probes.not_protected.join(", "));
    }
    outcome.notes.iter().for_each(|note| info!(policy, "{note}"));
}

#[allow(clippy::cast_precision_loss)]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}
