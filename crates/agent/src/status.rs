//! The status of a host. The only source of the socket, of systemd's status line and of the metrics.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linesman_api::node_state::FirstBootStatus;
use linesman_core::codes::CONFLICT;
use linesman_core::compare::Difference;
use linesman_core::policy::Drift;
use linesman_core::reconcile::{Entry, Ledger, PolicyState, refusals};
use linesman_daemon::clock;
use serde::{Deserialize, Serialize};

use crate::freeze::Freeze;
use crate::sources::Sources;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub condition: HostCondition,
    /// One line for people.
    pub summary: String,
    pub policies: Vec<PolicyStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<Freeze>,
    /// Why the agent cannot observe the host, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation_error: Option<String>,
    /// Why the directory of policies cannot be read, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory_error: Option<String>,
    /// In a cluster: that the API server does not answer or refuses, and why, while it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_server_error: Option<String>,
    /// What became of the document that this host was installed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_boot: Option<FirstBootStatus>,
    pub version: String,
    pub pid: u32,
    pub started: String,
    /// When the host was last observed.
    pub observed: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostCondition {
    /// The host is as its policies declare.
    #[default]
    InSync,
    Progressing,
    Drifted,
    /// Something was refused, rolled back or cannot be read.
    Degraded,
    Frozen,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyStatus {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    pub phase: PolicyPhase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    #[serde(default)]
    pub drift: Drift,
    /// An earlier version of it is applied, although this one is not.
    #[serde(default)]
    pub former_applied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyPhase {
    InSync,
    Pending,
    Drifted,
    Waiting,
    Refused,
    RolledBack,
    Invalid,
    Reverting,
}

impl PolicyPhase {
    pub const ALL: [Self; 8] = [
        Self::InSync,
        Self::Pending,
        Self::Drifted,
        Self::Waiting,
        Self::Refused,
        Self::RolledBack,
        Self::Invalid,
        Self::Reverting,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::InSync => "in sync",
            Self::Pending => "pending",
            Self::Drifted => "drifted",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::RolledBack => "rolled back",
            Self::Invalid => "invalid",
            Self::Reverting => "reverting",
        }
    }

    fn is_degraded(self) -> bool {
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
                let conflicts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
                status(
                    &policy.name,
                    PolicyPhase::Refused,
                    Some(format!("conflict: {} [{CONFLICT}]", conflicts.join("; "))),
                )
            }
            (None, None) => status(&policy.name, PolicyPhase::Pending, None),
            (None, Some(entry)) => of_entry(&policy.name, entry, drift.get(&policy.name), now),
        };
        status.drift = policy.options.drift;
        status.former_applied =
            entry.is_none() && ledger.get(&policy.name).is_some_and(|e| !e.applied_state.is_null());
        all.push(status);
    }
    for (name, why) in &sources.wrong {
        let mut status = status(name, PolicyPhase::Invalid, Some(why.clone()));
        status.former_applied = ledger.get(name).is_some_and(|e| !e.applied_state.is_null());
        all.push(status);
    }
    for (name, entry) in &ledger.0 {
        if !all.iter().any(|s| s.name == *name) {
            let reason = match &entry.policy_state {
                PolicyState::RevertFailed { reason } => {
                    format!("removed, but its changes could not be reverted: {reason}")
                }
                PolicyState::Waiting { reason, until, .. } => {
                    let again = next_attempt(*until, now);
                    format!("removed, but its changes are not reverted yet: {reason}{again}")
                }
                _ => "removed".into(),
            };
            all.push(status(name, PolicyPhase::Reverting, Some(reason)));
        }
    }
    for status in &mut all {
        status.file = sources.files.get(&status.name).cloned();
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn status(name: &str, phase: PolicyPhase, reason: Option<String>) -> PolicyStatus {
    PolicyStatus {
        name: name.into(),
        file: None,
        phase,
        reason,
        since: None,
        differences: Vec::new(),
        drift: Drift::default(),
        former_applied: false,
    }
}

fn of_entry(name: &str, entry: &Entry, drift: Option<&Vec<Difference>>, now: u64) -> PolicyStatus {
    let differences = drift.cloned().unwrap_or_default();
    let (phase, reason) = match &entry.policy_state {
        PolicyState::Applied if differences.is_empty() => (PolicyPhase::InSync, None),
        PolicyState::Applied => (PolicyPhase::Drifted, Some(drifted(entry, &differences, now))),
        PolicyState::RolledBack { reason } => (PolicyPhase::RolledBack, Some(reason.clone())),
        PolicyState::Waiting { reason, until, .. } => {
            (PolicyPhase::Waiting, Some(format!("{reason}{}", next_attempt(*until, now))))
        }
        PolicyState::RevertFailed { .. } => (PolicyPhase::Pending, None),
    };
    let since = match phase {
        PolicyPhase::Drifted => entry.drifted_since.unwrap_or(entry.since),
        _ => entry.since,
    };
    PolicyStatus { since: Some(clock::rfc3339(since)), differences, ..status(name, phase, reason) }
}

/// A policy that is due is tried at once, unless the agent is frozen.
fn next_attempt(until: u64, now: u64) -> String {
    if until > now { format!("; next attempt at {}", clock::rfc3339(until)) } else { String::new() }
}

fn drifted(entry: &Entry, differences: &[Difference], now: u64) -> String {
    let first = differences.first().map(ToString::to_string).unwrap_or_default();
    let more = match differences.len() {
        0 | 1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    let pause = match (entry.policy.options.drift, entry.corrections.paused_until(now)) {
        (Drift::Correct, Some(until)) => format!(
            "; something else keeps changing it: next correction at {}, or run `linesman retry {}`",
            clock::rfc3339(until),
            entry.policy.name
        ),
        _ => String::new(),
    };
    format!("{first}{more}{pause}")
}

/// The condition of the host and one line about it; `trouble` is what makes the rest of it uncertain. Pure.
pub fn summarise(
    policies: &[PolicyStatus],
    frozen: Option<&Freeze>,
    trouble: Option<&str>,
) -> (HostCondition, String) {
    if let Some(freeze) = frozen {
        return (HostCondition::Frozen, freeze.to_string());
    }
    let count = |phase: PolicyPhase| policies.iter().filter(|p| p.phase == phase).count();
    let mut parts: Vec<String> = Vec::new();
    for phase in PolicyPhase::ALL.into_iter().rev().filter(|p| *p != PolicyPhase::InSync) {
        let names: Vec<&str> =
            policies.iter().filter(|p| p.phase == phase).map(|p| p.name.as_str()).collect();
        match names.as_slice() {
            [] => {}
            [one] => parts.push(format!("{one} {}", phase.as_str())),
            many => parts.push(format!("{} {}", many.len(), phase.as_str())),
        }
    }
    let settled = count(PolicyPhase::InSync);
    if settled > 0 || policies.is_empty() {
        parts.push(format!("{settled} {} in sync", if settled == 1 { "policy" } else { "policies" }));
    }
    if let Some(trouble) = trouble {
        return (HostCondition::Degraded, trouble.to_owned());
    }
    let condition = if policies.iter().any(|p| p.phase.is_degraded()) {
        HostCondition::Degraded
    } else if count(PolicyPhase::Pending) > 0 {
        HostCondition::Progressing
    } else if policies.iter().any(|p| p.phase == PolicyPhase::Drifted && p.drift != Drift::Ignore) {
        HostCondition::Drifted
    } else {
        HostCondition::InSync
    };
    (condition, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_policy_comes_first_in_the_summary() {
        let all = [
            status("a", PolicyPhase::InSync, None),
            status("b", PolicyPhase::RolledBack, Some("cut off".into())),
            status("c", PolicyPhase::InSync, None),
            status("d", PolicyPhase::Pending, None),
        ];
        let (condition, summary) = summarise(&all, None, None);
        assert_eq!(
            (condition, summary.as_str()),
            (HostCondition::Degraded, "b rolled back, d pending, 2 policies in sync")
        );
        assert_eq!(summarise(&[], None, None), (HostCondition::InSync, "0 policies in sync".into()));
        let frozen = Freeze { since: "noon".into(), by: "ann".into(), reason: None };
        assert_eq!(summarise(&all, Some(&frozen), None).1, "frozen by ann since noon");
    }

    #[test]
    fn ignored_drift_does_not_change_the_condition() {
        let mut one = status("a", PolicyPhase::Drifted, None);
        assert_eq!(summarise(std::slice::from_ref(&one), None, None).0, HostCondition::Drifted);
        one.drift = Drift::Ignore;
        assert_eq!(summarise(&[one], None, None).0, HostCondition::InSync);
    }
}
