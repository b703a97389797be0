//! What an agent tells about its host. The only source of the socket, of systemd's status line and of the metrics.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linesman_core::codes::CONTRADICTION;
use linesman_core::compare::Difference;
use linesman_core::keep::{Entry, Ledger, Standing, refusals};
use linesman_core::policy::Drift;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::hold::Hold;
use crate::sources::Sources;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub verdict: Verdict,
    /// One line that tells the story.
    pub story: String,
    pub policies: Vec<PolicyStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Hold>,
    /// What keeps the agent from looking at the host, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blind: Option<String>,
    /// In a cluster: why its API server cannot be heard, while it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
    pub version: String,
    pub pid: u32,
    pub started: String,
    /// When the host was last looked at.
    pub observed: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that is declared holds.
    #[default]
    InStep,
    Working,
    Drifted,
    /// Something was refused, rolled back or cannot be read.
    Trouble,
    Held,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyStatus {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    pub phase: Phase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    #[serde(default)]
    pub drift: Drift,
    /// An earlier version of it is kept, although this one is not.
    #[serde(default)]
    pub former_kept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    InStep,
    Pending,
    Drifted,
    Waiting,
    Refused,
    RolledBack,
    Invalid,
    Reverting,
}

impl Phase {
    pub const ALL: [Self; 8] = [
        Self::InStep,
        Self::Pending,
        Self::Drifted,
        Self::Waiting,
        Self::Refused,
        Self::RolledBack,
        Self::Invalid,
        Self::Reverting,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::InStep => "in step",
            Self::Pending => "pending",
            Self::Drifted => "drifted",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::RolledBack => "rolled back",
            Self::Invalid => "invalid",
            Self::Reverting => "reverting",
        }
    }

    fn is_trouble(self) -> bool {
        matches!(self, Self::Waiting | Self::Refused | Self::RolledBack | Self::Invalid | Self::Reverting)
    }
}

/// Every policy's status. Pure.
pub fn policies(
    sources: &Sources,
    ledger: &Ledger,
    drift: &BTreeMap<String, Vec<Difference>>,
    now: u64,
) -> Vec<PolicyStatus> {
    let refused = refusals(&sources.policies, ledger);
    let mut all: Vec<PolicyStatus> = Vec::new();
    for policy in &sources.policies {
        let entry = ledger.get(&policy.name).filter(|e| e.policy == *policy);
        let mut status = match (refused.get(&policy.name), entry) {
            (Some(conflicts), _) => {
                let told: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
                status(
                    &policy.name,
                    Phase::Refused,
                    Some(format!("contradiction: {} [{CONTRADICTION}]", told.join("; "))),
                )
            }
            (None, None) => status(&policy.name, Phase::Pending, None),
            (None, Some(entry)) => of_entry(&policy.name, entry, drift.get(&policy.name), now),
        };
        status.drift = policy.options.drift;
        status.former_kept = entry.is_none() && ledger.get(&policy.name).is_some_and(|e| !e.state.is_null());
        all.push(status);
    }
    for (name, why) in &sources.wrong {
        let mut status = status(name, Phase::Invalid, Some(why.clone()));
        status.former_kept = ledger.get(name).is_some_and(|e| !e.state.is_null());
        all.push(status);
    }
    for (name, entry) in &ledger.0 {
        if !all.iter().any(|s| s.name == *name) {
            let reason = match &entry.standing {
                Standing::RevertFailed { reason } => {
                    format!("removed, but what it changed did not go back: {reason}")
                }
                _ => "removed".into(),
            };
            all.push(status(name, Phase::Reverting, Some(reason)));
        }
    }
    for status in &mut all {
        status.file = sources.files.get(&status.name).cloned();
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn status(name: &str, phase: Phase, reason: Option<String>) -> PolicyStatus {
    PolicyStatus {
        name: name.into(),
        file: None,
        phase,
        reason,
        since: None,
        differences: Vec::new(),
        drift: Drift::default(),
        former_kept: false,
    }
}

fn of_entry(name: &str, entry: &Entry, drift: Option<&Vec<Difference>>, now: u64) -> PolicyStatus {
    let differences = drift.cloned().unwrap_or_default();
    let (phase, reason) = match &entry.standing {
        Standing::Kept if differences.is_empty() => (Phase::InStep, None),
        Standing::Kept => (Phase::Drifted, Some(drifted(entry, &differences, now))),
        Standing::RolledBack { reason } => (Phase::RolledBack, Some(reason.clone())),
        Standing::Waiting { reason, until, .. } => {
            (Phase::Waiting, Some(format!("{reason}; tried again at {}", clock::written(*until))))
        }
        Standing::RevertFailed { .. } => (Phase::Pending, None),
    };
    PolicyStatus { since: Some(clock::written(entry.since)), differences, ..status(name, phase, reason) }
}

fn drifted(entry: &Entry, differences: &[Difference], now: u64) -> String {
    let first = differences.first().map(ToString::to_string).unwrap_or_default();
    let more = match differences.len() {
        0 | 1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    let fight = match (entry.policy.options.drift, entry.corrections.pause(now)) {
        (Drift::Correct, Some(until)) => format!(
            "; somebody else keeps changing it: not corrected again before {}, or `linesman retry {}`",
            clock::written(until),
            entry.policy.name
        ),
        _ => String::new(),
    };
    format!("{first}{more}{fight}")
}

/// The verdict and its story. Pure.
pub fn summarise(policies: &[PolicyStatus], held: Option<&Hold>, blind: Option<&str>) -> (Verdict, String) {
    if let Some(hold) = held {
        return (Verdict::Held, format!("hands off: {hold}"));
    }
    let count = |phase: Phase| policies.iter().filter(|p| p.phase == phase).count();
    let mut parts: Vec<String> = Vec::new();
    for phase in Phase::ALL.into_iter().rev().filter(|p| *p != Phase::InStep) {
        let names: Vec<&str> =
            policies.iter().filter(|p| p.phase == phase).map(|p| p.name.as_str()).collect();
        match names.as_slice() {
            [] => {}
            [one] => parts.push(format!("{one} {}", phase.word())),
            many => parts.push(format!("{} {}", many.len(), phase.word())),
        }
    }
    let settled = count(Phase::InStep);
    if settled > 0 || policies.is_empty() {
        parts.push(format!("{settled} {} in step", if settled == 1 { "policy" } else { "policies" }));
    }
    if let Some(why) = blind {
        return (Verdict::Trouble, format!("cannot look at this host: {why}"));
    }
    let verdict = if policies.iter().any(|p| p.phase.is_trouble()) {
        Verdict::Trouble
    } else if count(Phase::Pending) > 0 {
        Verdict::Working
    } else if policies.iter().any(|p| p.phase == Phase::Drifted && p.drift != Drift::Ignore) {
        Verdict::Drifted
    } else {
        Verdict::InStep
    };
    (verdict, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first_in_the_story() {
        let all = [
            status("a", Phase::InStep, None),
            status("b", Phase::RolledBack, Some("cut off".into())),
            status("c", Phase::InStep, None),
            status("d", Phase::Pending, None),
        ];
        let (verdict, story) = summarise(&all, None, None);
        assert_eq!(
            (verdict, story.as_str()),
            (Verdict::Trouble, "b rolled back, d pending, 2 policies in step")
        );
        assert_eq!(summarise(&[], None, None), (Verdict::InStep, "0 policies in step".into()));
        let held = Hold { since: "noon".into(), by: "ann".into(), reason: None };
        assert_eq!(summarise(&all, Some(&held), None).1, "hands off: held by ann since noon");
    }

    #[test]
    fn drift_that_is_ignored_is_no_verdict() {
        let mut one = status("a", Phase::Drifted, None);
        assert_eq!(summarise(std::slice::from_ref(&one), None, None).0, Verdict::Drifted);
        one.drift = Drift::Ignore;
        assert_eq!(summarise(&[one], None, None).0, Verdict::InStep);
    }
}
