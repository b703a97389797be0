//! Releases: accepted, planned, and what became of them.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use linesman_api::condition::Condition;
use linesman_api::enactment::Stage;
use linesman_api::reasons::EnactmentReason;
use linesman_api::time::Time;
use linesman_core::codes::failures::NO_SNAPSHOT;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::policy::{OnDelete, Policy};
use linesman_core::reconcile::{Ledger, PolicyState};
use linesman_daemon::clock;
use linesman_engine::desired;
use linesman_fleet::enactment::{self, AcceptedRelease, Bound, Validity};
use linesman_fleet::report::{self, Category, Outcome};
use tokio::time::Instant;
use tracing::{info, warn};

use super::{Cluster, Error};
use crate::act::Ready;

/// The operator lets a node begin for minutes: what was accepted a moment ago need not be confirmed.
const FRESH: Duration = Duration::from_secs(30);
/// Somebody else may write to the enactment meanwhile.
const TRIES: usize = 3;
/// Requests that are sent at the same time.
const AT_ONCE: usize = 4;

/// What became of the report that this node starts.
enum Begun {
    Started(Bound),
    NotNew,
    Failed(Error),
    /// Whether the API server heard it is not known.
    Unanswered(Bound, Error),
}

impl Cluster {
    /// Accepts new releases to this node. True if there were any.
    pub async fn accept_releases(&mut self, ledger: &mut Ledger) -> bool {
        if self.patience.is_some() {
            return false;
        }
        let fresh: Vec<String> = self
            .enactments
            .all()
            .iter()
            .filter(|bound| self.is_new_release(bound))
            .map(|bound| bound.policy.clone())
            .collect();
        let begun: Vec<(String, Begun)> = stream::iter(fresh)
            .map(async |policy| {
                let begun = self.begin(&policy).await;
                (policy, begun)
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        let (mut started, mut accepted, mut was_ready) = (false, false, true);
        for (policy, begun) in begun {
            let error = match begun {
                Begun::Started(bound) => {
                    self.unanswered.remove(&policy);
                    started = true;
                    was_ready &= bound.spec.not_ready_since.is_none();
                    accepted |= self.accept(bound, ledger);
                    continue;
                }
                Begun::NotNew => continue,
                Begun::Failed(error) => error,
                Begun::Unanswered(bound, error) => {
                    self.unanswered.insert(policy.clone(), bound.spec.release_expires);
                    error
                }
            };
            match error {
                // The watch brings its current state.
                Error::Changed | Error::Gone => {}
                error => {
                    warn!(policy, "cannot accept the release: {error}; trying again in 2 s");
                    self.patience = Some(Instant::now() + Duration::from_secs(2));
                }
            }
        }
        if started {
            self.store();
        }
        if accepted {
            self.probes.assume_ready(was_ready);
        }
        accepted
    }

    fn is_new_release(&self, bound: &Bound) -> bool {
        self.is_unanswered(bound) || enactment::is_new_release(bound, &self.releases)
    }

    /// Whether this agent tried to begin this very release, and does not know whether the API server heard it.
    pub fn is_unanswered(&self, bound: &Bound) -> bool {
        let released = bound.spec.stage == Stage::Released;
        released && self.unanswered.get(&bound.policy) == Some(&bound.spec.release_expires)
    }

    /// Reports that this node starts, if the release is still there.
    async fn begin(&self, policy: &str) -> Begun {
        let (object, bound) = match self.client.read(policy).await {
            Ok(read) => read,
            Err(error) => return Begun::Failed(error),
        };
        if !self.is_new_release(&bound) {
            return Begun::NotNew;
        }
        match self.client.begin(object, enactment::started(&bound, Time(clock::now()))).await {
            Ok(_) => {
                self.metrics.wrote("enactment");
                Begun::Started(bound)
            }
            Err(error) => Begun::Unanswered(bound, error),
        }
    }

    /// True if there is something to do.
    fn accept(&mut self, bound: Bound, ledger: &mut Ledger) -> bool {
        info!(
            policy = bound.policy,
            generation = bound.spec.policy.generation,
            revert = bound.spec.revert,
            "release accepted"
        );
        self.take_request(&bound.policy, ledger);
        let mut release = match enactment::policy(&bound, &desired::schema) {
            Ok(_) if self.releases.rolled_back(&bound).is_some() => self.refuse_again(&bound),
            Ok(policy) => self.release(&bound, policy, ledger),
            Err(problems) => {
                let why = problems.iter().map(Diagnostic::line).collect::<Vec<_>>().join("; ");
                let outcome = Outcome::abandoned(Category::Input, why);
                unusable(&bound, report::refused(&outcome, EnactmentReason::DocumentRefused))
            }
        };
        release.accepted_at = clock::now();
        let open = !release.ended;
        self.begun.insert(bound.policy.clone(), Instant::now());
        self.releases.0.insert(bound.policy.clone(), release);
        self.enactments.read(bound);
        open
    }

    /// A rollback is terminal for its version.
    fn refuse_again(&self, bound: &Bound) -> AcceptedRelease {
        let why = self.releases.rolled_back(bound).unwrap_or_default();
        let reason = format!(
            "this version of the policy was rolled back on this node before: {why}; edit the policy to try again"
        );
        let outcome = Outcome::abandoned(Category::Transient, reason);
        let release = unusable(bound, report::ended(&outcome, false));
        AcceptedRelease { rolled_back: Some(why.to_owned()), ..release }
    }

    /// Call before every attempt: whether the operator still wants it. If not, the release has ended.
    pub async fn confirm_release(&mut self, name: &str, last_failure: Option<&str>) -> Result<bool, Error> {
        let is_fresh = self.begun.remove(name).is_some_and(|at| at.elapsed() < FRESH);
        if is_fresh || !self.is_open(name) {
            return Ok(true);
        }
        let validity = self.begin_again(name).await?;
        if validity == Validity::Valid {
            return Ok(true);
        }
        if let Some(release) = self.releases.0.get_mut(name) {
            release.end_unused(validity, last_failure);
            self.store();
        }
        Ok(false)
    }

    /// Asks the API server itself, and reports the start for the version that it has: a release that is withdrawn at the same
    /// time is not used.
    async fn begin_again(&mut self, name: &str) -> Result<Validity, Error> {
        for _ in 0..TRIES {
            let (object, bound) = match self.client.read(name).await {
                Err(Error::Gone) => return Ok(Validity::Withdrawn),
                other => other?,
            };
            let validity = self.releases.0.get(name).map_or(Validity::Withdrawn, |r| r.validity(&bound));
            let started = enactment::started(&bound, Time(clock::now()));
            self.enactments.read(bound);
            if validity != Validity::Valid {
                return Ok(validity);
            }
            match self.client.begin(object, started).await {
                Err(Error::Changed) => {}
                Err(Error::Gone) => return Ok(Validity::Withdrawn),
                other => {
                    other?;
                    self.metrics.wrote("enactment");
                    return Ok(Validity::Valid);
                }
            }
        }
        Err(Error::Changed)
    }

    fn release(&self, bound: &Bound, policy: Policy, ledger: &mut Ledger) -> AcceptedRelease {
        if let Some(again) = self.releases.returning(bound, &policy, clock::now()) {
            ledger.0.entry(bound.policy.clone()).or_insert(again);
        }
        if !bound.spec.revert {
            enactment::make_due(&policy, ledger);
            return AcceptedRelease::of(bound, Some(policy));
        }
        // The ledger reverts a policy that is gone and has `onDelete: Revert`.
        match ledger.0.get_mut(&bound.policy) {
            Some(entry) => {
                entry.policy.options.on_delete = OnDelete::Revert;
                if matches!(
                    entry.policy_state,
                    PolicyState::RevertFailed { .. } | PolicyState::Waiting { .. }
                ) {
                    entry.policy_state = PolicyState::Applied;
                }
                let nothing = entry.revert_state.is_null();
                let mut release = AcceptedRelease::of(bound, Some(entry.policy.clone()));
                if nothing {
                    ledger.0.remove(&bound.policy);
                    release.report(report::ended(&Outcome::unchanged(), true), true);
                }
                release
            }
            None => {
                let why = format!(
                    "this node has no record of what the policy changed; declare the state that you want in another policy [{NO_SNAPSHOT}]"
                );
                unusable(bound, report::ended(&Outcome::abandoned(Category::Input, why), true))
            }
        }
    }

    /// Records what is about to be applied, so that the outcome can be reported after a crash.
    pub fn planned(&mut self, ready: &[Ready]) {
        for one in ready {
            if let Some(release) = self.releases.0.get_mut(&one.policy.name).filter(|release| !release.ended)
            {
                release.plan = Some(one.planned());
            }
        }
        self.store();
    }

    /// Whether a release of this policy waits for its outcome: it is settled after a crash.
    pub fn is_open(&self, name: &str) -> bool {
        self.releases.0.get(name).is_some_and(|release| !release.ended)
    }

    /// Records the outcome of a release, to be stored and published.
    pub fn enter(&mut self, name: &str, ready: Option<&Ready>, outcome: &Outcome, attempts: u32) {
        let node = self.client.node.clone();
        let Some(release) = self.releases.0.get_mut(name).filter(|one| one.is_concerned_by(outcome)) else {
            return;
        };
        release.failures += u64::from(!outcome.succeeded());
        // A revert is not retried automatically: its failure is reported at once.
        if outcome.may_retry() && !release.revert {
            release.report(report::retrying(outcome, &node, attempts.into()), false);
        } else {
            if let Some(ready) = ready.filter(|_| outcome.succeeded()) {
                release.features = desired::features(&ready.state);
            }
            release.end(outcome);
        }
    }

    /// A rollback that was unfinished when it was published has ended.
    pub fn amend(&mut self, name: &str, outcome: &Outcome) {
        if let Some(release) = self.releases.0.get_mut(name).filter(|release| release.ended) {
            release.end(outcome);
            self.store();
        }
    }

    /// A policy that conflicts with others is not applied, and is reported as failed.
    pub fn report_conflict(&mut self, name: &str, why: &str) {
        if let Some(release) = self.releases.0.get_mut(name).filter(|release| !release.ended) {
            let outcome = Outcome::abandoned(Category::Input, why);
            release.report(report::refused(&outcome, EnactmentReason::PoliciesConflict), true);
            release.refused = true;
            self.store();
        }
    }
}

/// A release that ends as soon as it is accepted.
fn unusable(bound: &Bound, conditions: Vec<Condition>) -> AcceptedRelease {
    let mut release = AcceptedRelease::of(bound, None);
    release.report(conditions, true);
    release
}
