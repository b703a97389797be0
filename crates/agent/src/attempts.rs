//! What is about to be done, on disk before it is done. An agent that is killed in mid-change leaves it there, and the
//! next one learns from the journal how it ended: a rollback is terminal, whoever made it.

use std::collections::BTreeMap;
use std::path::Path;

use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Policy;
use linesman_core::reconcile::Ledger;
use linesman_daemon::clock;
use linesman_engine::journal::Record;
use linesman_fleet::enactment::Planned;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::act::Ready;
use crate::state_file::StateFile;
use crate::{Result, ledger};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Attempt {
    /// The version that is tried.
    policy: Policy,
    /// Seconds since 1970.
    started: u64,
    /// None: the policy is reverted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Planned>,
}

/// By name of the policy.
#[derive(Debug)]
pub struct Attempts {
    file: StateFile,
    open: BTreeMap<String, Attempt>,
}

impl Attempts {
    pub fn take(state_dir: &Path) -> Result<Self> {
        let file = StateFile::attempts(state_dir);
        let open = file.take()?;
        Ok(Self { file, open })
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn begin<'a>(&mut self, ready: impl Iterator<Item = &'a Ready>) {
        let started = clock::now();
        let attempt = |one: &Ready| {
            let attempt = Attempt { policy: one.policy.clone(), started, plan: Some(one.planned()) };
            (one.policy.name.clone(), attempt)
        };
        self.open.extend(ready.map(attempt));
        if !self.open.is_empty() {
            self.store();
        }
    }

    pub fn begin_revert(&mut self, policy: &Policy) {
        let attempt = Attempt { policy: policy.clone(), started: clock::now(), plan: None };
        self.open.insert(policy.name.clone(), attempt);
        self.store();
    }

    /// The ledger, on disk, knows how all of them ended.
    pub fn end(&mut self) {
        self.open.clear();
        self.file.remove();
    }

    /// The ledger has learnt of this one in another way.
    pub fn forget(&mut self, name: &str) {
        self.open.remove(name);
    }

    /// Enters what an earlier run of this agent left, as the journal has it. True if there was any. What the journal
    /// has not finished yet stays open.
    pub fn settle(&mut self, ledger: &mut Ledger, records: &[Record]) -> bool {
        let mut entered = false;
        self.open.retain(|name, attempt| match recorded(name, attempt, records) {
            Recorded::Never => false,
            Recorded::Unfinished => true,
            Recorded::Ended(outcome) => {
                info!(policy = name, "the agent was interrupted before it recorded the outcome");
                enter(ledger, name, attempt, outcome);
                entered = true;
                false
            }
        });
        entered
    }

    fn store(&self) {
        if let Err(e) = self.file.write(&self.open) {
            warn!("{e}; an agent that is killed in mid-change would try the same policy again");
        }
    }
}

enum Recorded<'a> {
    /// Nothing was changed, so it may be tried again.
    Never,
    Unfinished,
    Ended(&'a Outcome),
}

/// From the newest record of this very attempt.
fn recorded<'a>(name: &str, attempt: &Attempt, records: &'a [Record]) -> Recorded<'a> {
    let since = clock::rfc3339(attempt.started);
    let own = |record: &&Record| record.started >= since && record.concerns(name, attempt.plan.is_none());
    match records.iter().rev().find(own).map(|record| &record.outcome) {
        None => Recorded::Never,
        Some(None) => Recorded::Unfinished,
        Some(Some(outcome)) if outcome.verdict == Verdict::Abandoned => Recorded::Never,
        Some(Some(outcome)) => Recorded::Ended(outcome),
    }
}

fn enter(ledger: &mut Ledger, name: &str, attempt: &Attempt, outcome: &Outcome) {
    match &attempt.plan {
        Some(plan) => {
            let ready = Ready::again(&attempt.policy, plan.clone());
            ledger::enter(ledger, &attempt.policy, Some(&ready), outcome);
        }
        None if outcome.succeeded() => {
            ledger.0.remove(name);
        }
        None => {
            if let Some(entry) = ledger.0.get_mut(name) {
                ledger::revert_failed(entry, outcome);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use linesman_core::outcome::Category;
    use linesman_core::plan::Plan;
    use linesman_core::policy::Options;
    use linesman_core::reconcile::PolicyState;
    use serde_json::{Value, json};

    use super::*;

    fn policy(mtu: u64) -> Policy {
        let state = json!({ "interfaces": [{ "name": "br1", "mtu": mtu }] });
        Policy { name: "a".into(), state, capture: None, options: Options::default() }
    }

    fn planned() -> Planned {
        let revert_state = json!({ "interfaces": [{ "name": "br1", "state": "absent" }] });
        Planned { state: policy(1400).state, revert_state, captured: None }
    }

    fn record(revert: bool, outcome: Option<Outcome>) -> Record {
        let plain = Record::new("policy a", Plan::default(), Value::Null);
        Record { policies: vec!["a".into()], revert, outcome, ..plain }
    }

    fn rolled_back() -> Outcome {
        let reason = Some("linesman or the host stopped during the change".into());
        Outcome { reason, category: Some(Category::RolledBack), ..Outcome::new(Verdict::RolledBack) }
    }

    /// An agent that was killed right after it had written down what it was about to do.
    fn killed(dir: &Path) -> Attempts {
        let mut attempts = Attempts::take(dir).unwrap();
        attempts.begin([Ready::again(&policy(1400), planned())].iter());
        Attempts::take(dir).unwrap()
    }

    #[test]
    fn what_was_rolled_back_after_a_crash_is_not_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::default();
        let mut attempts = killed(dir.path());
        assert!(!attempts.settle(&mut ledger, &[record(false, None)]), "not before it is finished");
        assert!(ledger.0.is_empty());
        assert!(attempts.settle(&mut ledger, &[record(false, Some(rolled_back()))]));
        let reason = "linesman or the host stopped during the change".to_string();
        assert_eq!(ledger.get("a").unwrap().policy_state, PolicyState::RolledBack { reason });
        assert_eq!(ledger.get("a").unwrap().policy, policy(1400));
        assert!(!attempts.settle(&mut ledger, &[record(false, Some(rolled_back()))]), "once");
    }

    #[test]
    fn what_was_committed_before_the_crash_can_still_be_reverted() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::default();
        killed(dir.path()).settle(&mut ledger, &[record(false, Some(Outcome::committed()))]);
        let entry = ledger.get("a").unwrap();
        assert!(entry.is_applied());
        assert_eq!(entry.revert_state, planned().revert_state);
    }

    #[test]
    fn what_changed_nothing_is_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::default();
        let old = Record { started: "2001-01-01T00:00:00Z".into(), ..record(false, Some(rolled_back())) };
        let abandoned = Outcome::abandoned(Category::Transient, "interrupted before anything was changed");
        for records in
            [vec![], vec![old], vec![record(true, Some(rolled_back()))], vec![record(false, Some(abandoned))]]
        {
            assert!(!killed(dir.path()).settle(&mut ledger, &records), "{records:?}");
        }
        assert!(ledger.0.is_empty());
    }

    #[test]
    fn version_1_is_read() {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v1");
        let attempts = Attempts::take(&recorded).unwrap();
        let reverted: Vec<(&str, bool)> =
            attempts.open.iter().map(|(name, attempt)| (name.as_str(), attempt.plan.is_none())).collect();
        assert_eq!(reverted, [("old", true), ("storage", false)]);
    }

    #[test]
    fn a_revert_that_was_interrupted_is_not_repeated_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::default();
        let ready = Ready::again(&policy(1400), planned());
        ledger::enter(&mut ledger, &policy(1400), Some(&ready), &Outcome::committed());
        let applied = ledger.clone();
        Attempts::take(dir.path()).unwrap().begin_revert(&policy(1400));
        let mut attempts = Attempts::take(dir.path()).unwrap();
        attempts.settle(&mut ledger, &[record(true, Some(rolled_back()))]);
        assert_eq!(ledger.get("a").unwrap().policy_state.as_str(), "revert-failed");
        ledger = applied;
        let mut attempts = Attempts::take(dir.path()).unwrap();
        attempts.settle(&mut ledger, &[record(true, Some(Outcome::committed()))]);
        assert!(ledger.0.is_empty());
    }
}
