//! How a change ended: what the engine returns, the journal keeps, and the status in a cluster is made from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::codes::failures;
use crate::compare::Difference;
use crate::probe::ProbeResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The host was already in the desired state; no changes were made.
    Unchanged,
    Committed,
    /// Applied and verified; rolled back by itself unless it is confirmed.
    Pending,
    /// The former state was restored, and verified.
    RolledBack,
    /// The change was rolled back, but something of the former state is missing.
    Incomplete,
    /// Ended before anything was changed.
    Abandoned,
}

/// Decides whether, and when, the same change may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The document is wrong; no changes were made. Only a new document helps.
    Input,
    /// No changes were made; the same change may pass in a moment.
    Transient,
    /// No changes were made; the host lacks something that somebody must provide.
    Environment,
    /// The change was applied, failed, and was rolled back. Terminal for this document.
    RolledBack,
    /// The rollback was not complete; a person must look.
    Incomplete,
}

/// The step of a transaction that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedStep {
    Checkpoint,
    Journal,
    Apply,
    Verify,
    Persist,
    Probe,
    Confirm,
    Commit,
    /// Whoever made the change was stopped, at whatever step.
    Interrupted,
}

impl FailedStep {
    /// Of `linesman explain`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Checkpoint => failures::CHECKPOINT_LOST,
            Self::Journal => failures::NOT_WRITTEN,
            Self::Apply | Self::Commit => failures::NOT_APPLIED,
            Self::Verify => failures::NOT_HELD,
            Self::Persist => failures::NOT_LASTING,
            Self::Probe => failures::PROBE_FAILED,
            Self::Confirm => failures::NOT_CONFIRMED,
            Self::Interrupted => failures::INTERRUPTED,
        }
    }
}

impl fmt::Display for FailedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkpoint => "checkpoint",
            Self::Journal => "journal",
            Self::Apply => "apply",
            Self::Verify => "verify",
            Self::Persist => "persist",
            Self::Probe => "probe",
            Self::Confirm => "confirm",
            Self::Commit => "commit",
            Self::Interrupted => "interrupted",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// Of `linesman explain`, if it ended badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<FailedStep>,
    /// Why, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What differed from the desired state after the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// What is not as before after the rollback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(default)]
    pub probes: ProbeResults,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// When the journal recorded it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ended: String,
    /// From the checkpoint to its end.
    #[serde(default)]
    pub milliseconds: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worker_peak_kib: u64,
    /// Somebody asked not to compare the host with the desired state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeResults {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<ProbeResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ProbeResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_rollback: Vec<ProbeResult>,
    /// Families of the gateway that passed before the change and do not pass after it, though another one does; and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Probes that could not say whether the change does harm, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_protected: Vec<String>,
}

/// What was checked, in words: no more than what was.
pub fn checks(verified: bool, probed: &[ProbeResult]) -> String {
    let passed: Vec<String> = probed
        .iter()
        .filter(|result| result.status.passed())
        .map(|result| result.probe.spec.to_string())
        .collect();
    match (verified, passed.is_empty()) {
        (true, false) => format!("verified and probed ({})", passed.join(", ")),
        (false, false) => format!("probed ({}), not verified", passed.join(", ")),
        (true, true) if probed.is_empty() => "verified; nothing was probed".into(),
        (true, true) => "verified; no probe passes".into(),
        (false, true) if probed.is_empty() => "neither verified nor probed".into(),
        (false, true) => "not verified; no probe passes".into(),
    }
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
            ended: String::new(),
            milliseconds: 0,
            worker_peak_kib: 0,
            unverified: false,
        }
    }

    pub fn unchanged() -> Self {
        Self::new(Verdict::Unchanged)
    }

    pub fn committed() -> Self {
        Self::new(Verdict::Committed)
    }

    pub fn abandoned(category: Category, reason: impl Into<String>) -> Self {
        Self { category: Some(category), reason: Some(reason.into()), ..Self::new(Verdict::Abandoned) }
    }

    /// The reason with its code.
    pub fn why(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(self.code.as_ref().map_or_else(|| reason.clone(), |code| format!("{reason} [{code}]")))
    }

    /// What was checked before the commit, in words.
    pub fn checks(&self) -> String {
        checks(!self.unverified, &self.probes.after)
    }

    pub fn succeeded(&self) -> bool {
        matches!(self.verdict, Verdict::Unchanged | Verdict::Committed | Verdict::Pending)
    }

    /// Whether the same may be tried again: no changes were made, and it is not the document's fault.
    pub fn may_retry(&self) -> bool {
        let passing = matches!(self.category, Some(Category::Transient | Category::Environment));
        self.verdict == Verdict::Abandoned && passing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_checked_is_said_to_be() {
        use crate::probe::ProbeStatus;
        let result = |text: &str, status| ProbeResult {
            probe: text.parse().unwrap(),
            status,
            after: std::time::Duration::ZERO,
        };
        let passed = || ProbeStatus::Passed { took: std::time::Duration::ZERO, note: None };
        let some = [result("gateway:v4", passed()), result("dns", ProbeStatus::failed("silent"))];
        let none = [result("dns", ProbeStatus::NotApplicable { why: "no server".into() })];
        assert_eq!(checks(true, &some), "verified and probed (gateway:v4)");
        assert_eq!(checks(true, &none), "verified; no probe passes");
        assert_eq!(checks(true, &[]), "verified; nothing was probed");
        assert_eq!(checks(false, &some), "probed (gateway:v4), not verified");
        assert_eq!(checks(false, &none), "not verified; no probe passes");
        assert_eq!(checks(false, &[]), "neither verified nor probed");
    }

    #[test]
    fn a_failed_step_is_shown_as_it_is_stored() {
        use FailedStep::*;
        for step in [Checkpoint, Journal, Apply, Verify, Persist, Probe, Confirm, Commit, Interrupted] {
            assert_eq!(serde_json::to_value(step).unwrap(), step.to_string());
        }
    }
}
