//! How a change ended, as the conditions of its enactment.

use linesman_api::condition::{Condition, Truth};
use linesman_api::conditions::enactment::{ABORTED, AVAILABLE, FAILING, PENDING, PROGRESSING};
use linesman_api::reasons::enactment as reasons;
use serde::Deserialize;

use super::message;
use linesman_core::compare::Difference;
use linesman_core::ending::{Category, Verdict};

/// An outcome of the engine, in its own words.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Ending {
    pub verdict: Verdict,
    #[serde(default)]
    pub category: Option<Category>,
    /// A stable code that `linesman explain` knows, where there is one.
    #[serde(default)]
    pub code: Option<String>,
    /// The step of the transaction at which it failed.
    #[serde(default)]
    pub step: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub differences: Vec<Difference>,
    #[serde(default)]
    pub remaining: Vec<String>,
    #[serde(default)]
    pub milliseconds: u64,
    /// The instruction was to go back.
    #[serde(default)]
    pub reverting: bool,
}

impl Ending {
    pub fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            category: None,
            code: None,
            step: None,
            reason: None,
            differences: Vec::new(),
            remaining: Vec::new(),
            milliseconds: 0,
            reverting: false,
        }
    }

    /// Whether the same may be tried again: nothing was touched, and it is not the document's fault.
    pub fn may_retry(&self) -> bool {
        let ours = matches!(self.category, Some(Category::Transient | Category::Environment));
        self.verdict == Verdict::Abandoned && ours
    }
}

/// Said before anything is touched.
pub fn applying() -> Vec<Condition> {
    five([Truth::Unknown, Truth::Unknown, Truth::True], reasons::PROGRESSING, "Applying desired state")
}

/// It could not begin, and is tried again.
pub fn retrying(ending: &Ending, node: &str, attempt: u64) -> Vec<Condition> {
    let message = message::failure_of(ending, &format!("{node}, try {attempt}: "));
    five([Truth::False, Truth::True, Truth::True], reasons::RETRYING, &message)
}

pub fn ended(ending: &Ending) -> Vec<Condition> {
    match ending.verdict {
        Verdict::Unchanged | Verdict::Committed => {
            let reason = if ending.reverting { reasons::REVERTED } else { reasons::CONFIGURED };
            five([Truth::True, Truth::False, Truth::False], reason, &message::success(ending))
        }
        // Waits for a confirmation that an agent gives itself: not an end.
        Verdict::Pending => applying(),
        Verdict::RolledBack | Verdict::Incomplete | Verdict::Abandoned => {
            five([Truth::False, Truth::True, Truth::False], reasons::FAILED, &message::failure(ending))
        }
    }
}

/// All five, so that nothing of an earlier attempt is left; the last two are never true once an agent has begun.
fn five([available, failing, progressing]: [Truth; 3], reason: &str, message: &str) -> Vec<Condition> {
    let told = [
        (AVAILABLE, available),
        (FAILING, failing),
        (PROGRESSING, progressing),
        (PENDING, Truth::False),
        (ABORTED, Truth::False),
    ];
    let text = |truth| if truth == Truth::True { message } else { "" };
    told.iter().map(|(kind, truth)| Condition::new(kind, *truth, reason, text(*truth))).collect()
}
