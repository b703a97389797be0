//! How a change ended. The only source of what a user, a script or a cluster reads.

use linesman_core::compare::Difference;
pub use linesman_core::ending::Verdict;
use serde::{Deserialize, Serialize};

use crate::error::Category;
use crate::probe::ProbeResult;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// Of `linesman explain`, if it ended badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Where it failed: a step of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Why, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What did not hold after the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// What is not as before after the rollback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(default)]
    pub probes: ProbeResults,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    #[serde(default)]
    pub ended: String,
    /// From the checkpoint to its end.
    #[serde(default)]
    pub milliseconds: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worker_peak_kib: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeResults {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<ProbeResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ProbeResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_rollback: Vec<ProbeResult>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Outcome {
    pub fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            category: None,
            code: None,
            step: None,
            reason: None,
            differences: Vec::new(),
            remaining: Vec::new(),
            notes: Vec::new(),
            probes: ProbeResults::default(),
            checkpoint: None,
            ended: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            milliseconds: 0,
            worker_peak_kib: 0,
        }
    }

    pub fn unchanged() -> Self {
        Self::new(Verdict::Unchanged)
    }

    pub fn committed() -> Self {
        Self::new(Verdict::Committed)
    }

    pub fn abandoned(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(Verdict::Abandoned) }
    }

    /// The reason with its code.
    pub fn why(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(self.code.as_ref().map_or_else(|| reason.clone(), |code| format!("{reason} [{code}]")))
    }

    pub fn succeeded(&self) -> bool {
        matches!(self.verdict, Verdict::Unchanged | Verdict::Committed | Verdict::Pending)
    }
}
