//! How a change ended, as the conditions of its enactment.

use linesman_api::condition::{Condition, Truth};
use linesman_api::conditions::EnactmentCondition::{Aborted, Available, Failing, Pending, Progressing};
use linesman_api::reasons::EnactmentReason;

use super::message;
use linesman_core::outcome::{Outcome, Verdict};

/// Published before anything is changed.
pub fn applying() -> Vec<Condition> {
    five(
        [Truth::Unknown, Truth::Unknown, Truth::True],
        EnactmentReason::ConfigurationProgressing,
        "Applying desired state",
    )
}

/// It could not begin, and is tried again.
pub fn retrying(outcome: &Outcome, node: &str, attempt: u64) -> Vec<Condition> {
    let message = message::failure_of(outcome, &format!("{node}, try {attempt}: "));
    five([Truth::False, Truth::True, Truth::True], EnactmentReason::Retrying, &message)
}

/// The policy itself is wrong, for a reason of its own; nothing was tried.
pub fn refused(outcome: &Outcome, reason: EnactmentReason) -> Vec<Condition> {
    five([Truth::False, Truth::True, Truth::False], reason, &message::failure(outcome))
}

/// It ended, and nobody knows how.
pub fn unknown(message: &str) -> Vec<Condition> {
    five([Truth::False, Truth::True, Truth::False], EnactmentReason::FailedToConfigure, message)
}

/// `reverting`: the instruction was to undo what the policy had changed.
pub fn ended(outcome: &Outcome, reverting: bool) -> Vec<Condition> {
    match outcome.verdict {
        Verdict::Unchanged | Verdict::Committed => {
            let reason =
                if reverting { EnactmentReason::Reverted } else { EnactmentReason::SuccessfullyConfigured };
            five([Truth::True, Truth::False, Truth::False], reason, &message::success(outcome, reverting))
        }
        // Waits for a confirmation that an agent gives itself: not an end.
        Verdict::Pending => applying(),
        Verdict::RolledBack | Verdict::Incomplete | Verdict::Abandoned => five(
            [Truth::False, Truth::True, Truth::False],
            EnactmentReason::FailedToConfigure,
            &message::failure(outcome),
        ),
    }
}

/// All five, so that nothing of an earlier attempt is left; the last two are never true once an agent has begun.
fn five(
    [available, failing, progressing]: [Truth; 3],
    reason: EnactmentReason,
    message: &str,
) -> Vec<Condition> {
    let conditions = [
        (Available, available),
        (Failing, failing),
        (Progressing, progressing),
        (Pending, Truth::False),
        (Aborted, Truth::False),
    ];
    let text = |truth| if truth == Truth::True { message } else { "" };
    // As kubernetes-nmstate writes it, and its users match it: a failure is no abort.
    let failed = matches!(reason, EnactmentReason::FailedToConfigure | EnactmentReason::Retrying);
    let reason = |kind| match kind {
        Aborted if failed => EnactmentReason::SuccessfullyConfigured,
        _ => reason,
    };
    conditions.iter().map(|(kind, truth)| Condition::new(kind, *truth, reason(*kind), text(*truth))).collect()
}
