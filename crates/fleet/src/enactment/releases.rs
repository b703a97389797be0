//! Releases that this node accepted. On disk before anything is changed, so that the outcome survives a crash or a lost
//! connection.

use std::collections::BTreeMap;

use linesman_api::condition::Condition;
use linesman_api::enactment::Stage;
use linesman_api::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Bound;
use crate::report::{Category, Outcome, Verdict};
use linesman_core::captures::Captured;
use linesman_core::codes::failures::INTERRUPTED;
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Entry, PolicyState};

/// How long the release of a deleted policy is remembered.
const MEMORY: u64 = 90 * 24 * 3600;

/// By name of the policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AcceptedReleases(pub BTreeMap<String, AcceptedRelease>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcceptedRelease {
    /// `metadata.uid` of the enactment: one that was recreated under the same name is another one.
    pub enactment_uid: String,
    #[serde(default)]
    pub created: Time,
    pub generation: i64,
    pub attempt: i64,
    /// `releaseExpires` of the enactment: no release is accepted that does not expire later.
    pub release_expires: Time,
    /// What was asked for; none if it could not be read.
    pub policy: Option<Policy>,
    pub revert: bool,
    /// Seconds since 1970.
    #[serde(default)]
    pub accepted_at: u64,
    /// What is about to be applied; gone when that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// `metadata.uid` of the policy.
    #[serde(default)]
    pub policy_uid: String,
    /// What undoes a policy whose enactment is gone: the same policy may come back, and be reverted some day.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub revert_state: Value,
    /// What its captures found, as long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Captured>,
    /// The conditions to publish.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// What nmstate calls the features that the state uses.
    #[serde(default)]
    pub features: Vec<String>,
    /// Attempts that failed.
    #[serde(default)]
    pub failures: u64,
    #[serde(default)]
    pub ended: bool,
    /// It ended because the policy conflicted with others on this node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// Why this version was rolled back; known also when its enactment is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<String>,
    /// Whether the API server has the conditions.
    #[serde(default)]
    pub published: bool,
}

/// What became of an accepted release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    Valid,
    /// The operator waits for no outcome any more, and counts the node as failed.
    Expired,
    /// The node waits for its turn again, perhaps for another version, or its enactment is gone.
    Withdrawn,
}

/// Computed on the host as it was before the change: that is not possible afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// Captures filled in.
    pub state: Value,
    /// What undoes it.
    pub revert_state: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Captured>,
}

impl AcceptedReleases {
    /// The policy is gone from this node. Only its last release stays known: a backup may bring the enactment back, and it
    /// must count as outdated then.
    pub fn retire(&mut self, name: &str, entry: Option<Entry>) {
        if let Some(release) = self.0.get_mut(name) {
            (release.policy, release.plan, release.conditions) = (None, None, Vec::new());
            (release.ended, release.published) = (true, true);
            if let Some(entry) = entry.filter(|entry| !entry.revert_state.is_null()) {
                (release.revert_state, release.captured) = (entry.revert_state, entry.captured);
            }
        }
    }

    /// What is known of this very policy under an enactment that is gone: what undoes its changes, and what its
    /// captures found.
    pub fn returning(&self, bound: &Bound, policy: &Policy, now: u64) -> Option<Entry> {
        let release = self.0.get(&bound.policy)?;
        let same = release.policy_uid == bound.spec.policy.uid;
        let again = || Entry::returning(policy, release.revert_state.clone(), release.captured.clone(), now);
        (same && !release.revert_state.is_null()).then(again)
    }

    /// Why this very version was rolled back on this node, under an enactment that is gone: that another one was created for it,
    /// because a label came back or somebody deleted the first, is no edit of the policy.
    pub fn rolled_back(&self, bound: &Bound) -> Option<&str> {
        let spec = &bound.spec;
        let release = self.0.get(&bound.policy).filter(|release| release.enactment_uid != bound.uid)?;
        let same = release.policy_uid == spec.policy.uid && release.generation == spec.policy.generation;
        release.rolled_back.as_deref().filter(|_| same && !spec.revert)
    }

    pub fn forget_expired(&mut self, now: Time) {
        self.0.retain(|_, release| release.policy.is_some() || now.since(release.release_expires) < MEMORY);
    }
}

impl AcceptedRelease {
    pub fn of(bound: &Bound, policy: Option<Policy>) -> Self {
        Self {
            enactment_uid: bound.uid.clone(),
            created: bound.created,
            generation: bound.spec.policy.generation,
            attempt: bound.spec.attempt,
            release_expires: bound.spec.release_expires.unwrap_or_default(),
            policy,
            revert: bound.spec.revert,
            accepted_at: 0,
            plan: None,
            policy_uid: bound.spec.policy.uid.clone(),
            revert_state: Value::Null,
            captured: None,
            conditions: Vec::new(),
            features: Vec::new(),
            failures: 0,
            ended: false,
            refused: false,
            rolled_back: None,
            published: false,
        }
    }

    /// The outcome is final.
    pub fn end(&mut self, outcome: &Outcome) {
        let rolled_back = matches!(outcome.verdict, Verdict::RolledBack | Verdict::Incomplete);
        self.rolled_back = rolled_back.then(|| outcome.reason.clone().unwrap_or_default());
        self.report(crate::report::ended(outcome, self.revert), true);
    }

    /// Whether an outcome of its policy is news to the cluster. A correction of drift comes after the end; that it left the
    /// node other than it was must be known.
    pub fn is_concerned_by(&self, outcome: &Outcome) -> bool {
        !self.ended || outcome.verdict == Verdict::Incomplete
    }

    /// By its enactment as the API server has it now. Never by a clock: that a release expired is the operator's to write.
    pub fn validity(&self, bound: &Bound) -> Validity {
        let spec = &bound.spec;
        let same = bound.uid == self.enactment_uid
            && (spec.attempt, spec.release_expires) == (self.attempt, Some(self.release_expires));
        match spec.stage {
            Stage::Released if same => Validity::Valid,
            Stage::Expired if same => Validity::Expired,
            _ => Validity::Withdrawn,
        }
    }

    /// It ended before anything was changed. The status of one that was withdrawn is the operator's.
    pub fn end_unused(&mut self, validity: Validity, last_failure: Option<&str>) {
        let why = match last_failure {
            Some(failure) => format!("{failure}; the release expired, edit the policy to try again"),
            None => "the release expired before the change began; edit the policy to try again".into(),
        };
        match validity {
            Validity::Expired => {
                let outcome = Outcome::abandoned(Category::Transient, why);
                self.report(crate::report::ended(&outcome, self.revert), true);
            }
            Validity::Valid | Validity::Withdrawn => {
                self.report(Vec::new(), true);
                self.published = true;
            }
        }
    }

    pub fn report(&mut self, conditions: Vec<Condition>, ended: bool) {
        (self.conditions, self.ended, self.published) = (conditions, ended, false);
        self.plan.take_if(|_| ended);
    }

    /// The outcome, if the agent died before it could publish one and the journal has none. The ledger is written first.
    pub fn after_a_crash(&self, entry: Option<&Entry>) -> Outcome {
        let known = entry.filter(|entry| self.policy.as_ref() == Some(&entry.policy));
        let (verdict, category, reason) = match known.map(|entry| &entry.policy_state) {
            Some(PolicyState::Applied) if !self.revert => (Verdict::Committed, None, None),
            None if self.revert && entry.is_none() => (Verdict::Committed, None, None),
            Some(PolicyState::RolledBack { reason }) => {
                (Verdict::RolledBack, Some(Category::RolledBack), Some(reason.clone()))
            }
            _ => {
                let reason = format!("the agent was interrupted during the change [{INTERRUPTED}]");
                (Verdict::RolledBack, Some(Category::RolledBack), Some(reason))
            }
        };
        Outcome { category, reason, ..Outcome::new(verdict) }
    }
}

#[cfg(test)]
mod tests {
    use linesman_api::enactment::{EnactmentSpec, PolicyRef};
    use serde_json::json;

    use super::*;

    fn bound(uid: &str) -> Bound {
        let policy = PolicyRef { name: "a".into(), uid: uid.into(), generation: 1 };
        let spec = EnactmentSpec { policy, ..EnactmentSpec::default() };
        Bound {
            policy: "a".into(),
            uid: "e".into(),
            created: Time(5),
            generation: 1,
            spec,
            status: Default::default(),
        }
    }

    #[test]
    fn a_rollback_is_terminal_whatever_becomes_of_its_enactment() {
        let mut release = AcceptedRelease::of(&bound("u"), None);
        release.end(&Outcome { reason: Some("cut off".into()), ..Outcome::new(Verdict::RolledBack) });
        let mut releases = AcceptedReleases([("a".to_string(), release)].into());
        assert_eq!(releases.rolled_back(&bound("u")), None, "the operator releases the same one knowingly");
        releases.retire("a", None);
        let again = |policy: &str, generation| {
            let mut again = Bound { uid: "another".into(), ..bound(policy) };
            again.spec.policy.generation = generation;
            again
        };
        assert_eq!(releases.rolled_back(&again("u", 1)), Some("cut off"));
        assert_eq!(releases.rolled_back(&again("u", 2)), None, "the policy was edited");
        assert_eq!(releases.rolled_back(&again("v", 1)), None, "another policy of that name");
        let revert = Bound { spec: EnactmentSpec { revert: true, ..again("u", 1).spec }, ..again("u", 1) };
        assert_eq!(releases.rolled_back(&revert), None);
    }

    #[test]
    fn a_correction_that_harmed_the_node_is_known_after_the_end() {
        let mut release = AcceptedRelease::of(&bound("u"), None);
        let concerned = |release: &AcceptedRelease| {
            [Verdict::Committed, Verdict::RolledBack, Verdict::Incomplete]
                .map(|verdict| release.is_concerned_by(&Outcome::new(verdict)))
        };
        assert_eq!(concerned(&release), [true, true, true]);
        release.report(Vec::new(), true);
        assert_eq!(concerned(&release), [false, false, true]);
    }

    #[test]
    fn a_release_is_valid_as_long_as_the_operator_leaves_it() {
        let released = |stage, expires, attempt| {
            let mut bound = bound("u");
            (bound.spec.stage, bound.spec.release_expires, bound.spec.attempt) =
                (stage, Some(Time(expires)), attempt);
            bound
        };
        let release = AcceptedRelease::of(&released(Stage::Released, 10, 1), None);
        let of = |stage, expires, attempt| release.validity(&released(stage, expires, attempt));
        assert_eq!(of(Stage::Released, 10, 1), Validity::Valid, "whatever the clock of the node says");
        assert_eq!(of(Stage::Expired, 10, 1), Validity::Expired);
        for (stage, expires, attempt) in [
            (Stage::Bound, 10, 1),
            (Stage::Claimed, 10, 2),
            (Stage::Released, 20, 2),
            (Stage::Released, 10, 2),
            (Stage::Expired, 20, 2),
        ] {
            assert_eq!(of(stage, expires, attempt), Validity::Withdrawn, "{stage:?} {expires} {attempt}");
        }
        let recreated = Bound { uid: "other".into(), ..released(Stage::Released, 10, 1) };
        assert_eq!(release.validity(&recreated), Validity::Withdrawn);
    }

    #[test]
    fn a_release_that_expired_unused_is_reported_as_the_last_failure() {
        let mut release = AcceptedRelease::of(&bound("u"), None);
        let message = |release: &AcceptedRelease| {
            let failing = release.conditions.iter().find(|c| c.is_true());
            failing.map(|failing| failing.message.clone()).unwrap_or_default()
        };
        release.end_unused(Validity::Expired, Some("NetworkManager does not answer [LM2002]"));
        assert_eq!(
            message(&release),
            "[LM2002] NetworkManager does not answer; the release expired, edit the policy to try again; no changes made"
        );
        assert!(release.ended && !release.published);
        release.end_unused(Validity::Withdrawn, None);
        assert!(release.conditions.is_empty() && release.published, "the operator reports that");
    }

    #[test]
    fn the_revert_state_outlives_an_enactment_for_the_same_policy_alone() {
        let mut releases =
            AcceptedReleases([("a".to_string(), AcceptedRelease::of(&bound("u"), None))].into());
        let (state, options) = (json!({}), linesman_core::policy::Options::default());
        let policy = Policy { name: "a".into(), state, capture: None, options };
        assert_eq!(releases.returning(&bound("u"), &policy, 1), None);
        let captured = Captured::keep(&json!({ "gw": "routes" }), json!({}), &json!({}), &json!({}), None);
        let revert_state = json!({ "interfaces": [{ "name": "br1", "state": "absent" }] });
        let entry = Entry::returning(&policy, revert_state, Some(captured), 1);
        releases.retire("a", Some(entry.clone()));
        releases.retire("a", None);
        assert_eq!(releases.returning(&bound("u"), &policy, 1), Some(entry));
        assert_eq!(releases.returning(&bound("v"), &policy, 1), None, "another policy of the same name");
    }
}
