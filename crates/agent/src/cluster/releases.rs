//! Releases: accepted, planned, and what became of them.

use std::collections::BTreeSet;

use futures_util::{StreamExt, stream};
use linesman_api::time::Time;
use linesman_core::codes::failures::NO_SNAPSHOT;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::policy::{OnDelete, Policy};
use linesman_core::reconcile::{Ledger, PolicyState};
use linesman_core::secrets::{Secrets, references};
use linesman_daemon::clock;
use linesman_engine::desired;
use linesman_fleet::enactment::{self, AcceptedRelease, Bound};
use linesman_fleet::report::{self, Category, Outcome};
use tracing::{info, warn};

use super::{Cluster, Error};
use crate::act::Ready;

/// Requests that are sent at the same time.
const AT_ONCE: usize = 4;

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
            .filter(|bound| enactment::is_new_release(bound, &self.releases))
            .map(|bound| bound.policy.clone())
            .collect();
        let begun: Vec<(String, Result<Option<Bound>, Error>)> = stream::iter(fresh)
            .map(async |policy| {
                let begun = self.begin(&policy).await;
                (policy, begun)
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        let (mut started, mut accepted) = (false, false);
        for (policy, begun) in begun {
            match begun {
                Ok(Some(bound)) => {
                    started = true;
                    accepted |= self.accept(bound, ledger);
                }
                // If it changed or is gone, the watch brings its current state.
                Ok(None) | Err(Error::Changed | Error::Gone) => {}
                Err(error) => {
                    warn!(policy, "cannot accept the release: {error}; trying again in 2 s");
                    self.patience = Some(tokio::time::Instant::now() + std::time::Duration::from_secs(2));
                }
            }
        }
        if started {
            self.store();
        }
        if accepted {
            self.probes.assume_ready(true);
        }
        accepted
    }

    /// Reports that this node starts, if the release is still there. None: it is not new.
    async fn begin(&self, policy: &str) -> Result<Option<Bound>, Error> {
        let (object, bound) = self.client.read(policy).await?;
        if !enactment::is_new_release(&bound, &self.releases) {
            return Ok(None);
        }
        self.client.begin(object, enactment::started(&bound, Time(clock::now()))).await?;
        self.metrics.wrote("enactment");
        Ok(Some(bound))
    }

    /// True if there is something to do.
    fn accept(&mut self, bound: Bound, ledger: &mut Ledger) -> bool {
        info!(
            policy = bound.policy,
            generation = bound.spec.policy.generation,
            revert = bound.spec.revert,
            "release accepted"
        );
        let mut release = match enactment::policy(&bound, &desired::schema) {
            Ok(policy) => self.release(&bound, policy, ledger),
            Err(problems) => {
                refused(&bound, &problems.iter().map(Diagnostic::line).collect::<Vec<_>>().join("; "))
            }
        };
        release.accepted_at = clock::now();
        let open = !release.ended;
        self.releases.0.insert(bound.policy.clone(), release);
        self.enactments.read(bound);
        open
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
            None => refused(
                bound,
                &format!(
                    "this node has no record of what the policy changed; declare the state that you want in another policy [{NO_SNAPSHOT}]"
                ),
            ),
        }
    }

    /// The secrets that these policies refer to, read from the API server each time.
    pub async fn secrets(&self, policies: &[Policy]) -> Secrets {
        let mut found = Secrets::default();
        let wanted: BTreeSet<_> =
            policies.iter().flat_map(|policy| references(&policy.state).into_keys()).collect();
        for reference in wanted {
            let answer = self.client.secret(&reference).await;
            found.0.insert(reference, answer);
        }
        found
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
        let Some(release) = self.releases.0.get_mut(name).filter(|release| !release.ended) else { return };
        release.failures += u64::from(!outcome.succeeded());
        // A revert is not retried automatically: its failure is reported at once.
        if outcome.may_retry() && !release.revert {
            release.report(report::retrying(outcome, &node, attempts.into()), false);
        } else {
            if let Some(ready) = ready.filter(|_| outcome.succeeded()) {
                release.features = desired::features(&ready.state);
            }
            release.report(report::ended(outcome, release.revert), true);
        }
    }

    /// A policy that conflicts with others is not applied, and is reported as failed.
    pub fn report_conflict(&mut self, name: &str, why: &str) {
        if let Some(release) = self.releases.0.get_mut(name).filter(|release| !release.ended) {
            release.report(report::ended(&Outcome::abandoned(Category::Input, why), false), true);
            self.store();
        }
    }
}

fn refused(bound: &Bound, why: &str) -> AcceptedRelease {
    let mut release = AcceptedRelease::of(bound, None);
    let outcome = Outcome::abandoned(Category::Input, why);
    release.report(report::ended(&outcome, bound.spec.revert), true);
    release
}
