//! Load, decide, act, report, until there is nothing to do.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use linesman_core::compare::Difference;
use linesman_core::impact::Impact;
use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Next, PolicyState, Situation, decide};
use linesman_core::secrets::Secrets;
use linesman_daemon::clock;
use linesman_engine::transaction::{Session, Step, remember_settled};
use tracing::{info, warn};

use super::Agent;
use super::report::publish_progress;
use crate::act::{self, Ready, reason};
use crate::{first_boot, freeze, ledger, progress, status};

/// Another writer may be in the middle of a change: drift is corrected if it is still there after this time.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// How often it is asked whether a command that is changing this host was killed.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Something must have happened in between as well: nothing is probed on a host at rest.
const PROBE_AGAIN: Duration = Duration::from_secs(300);

impl Agent {
    /// Load, decide, act, report, until there is nothing to do; returns how long to rest at most.
    pub(super) async fn settle(&mut self) -> Option<Duration> {
        loop {
            let is_busy = self.finish_interrupted().await;
            self.compare();
            self.report();
            let frozen = self.note_freeze();
            self.accept_releases(frozen).await;
            let drift = self.drift_to_correct();
            let situation = Situation {
                policies: &self.sources.policies,
                unreadable: &self.sources.unreadable(),
                ledger: &self.ledger,
                frozen,
                drift: &drift,
                now: clock::now(),
            };
            match decide(&situation) {
                Next::Idle { until } => {
                    self.remember_settled();
                    self.publish_statuses();
                    self.publish_node_state().await;
                    let rest = until.map(|u| Duration::from_secs(u.saturating_sub(clock::now()).max(1)));
                    let look_again = is_busy.then_some(LOOK_AGAIN);
                    let alone = self.cluster.as_ref().and_then(|cluster| cluster.alone_in());
                    return rest.into_iter().chain(look_again).chain(alone).min();
                }
                Next::Forget(names) => {
                    for name in names {
                        let entry = self.ledger.0.remove(&name);
                        info!(policy = name, "removed; {}", ledger::after_removal(entry.as_ref()));
                    }
                    self.store();
                }
                Next::Revert(name) => self.revert(&name).await,
                Next::Apply(names) => {
                    self.apply(&names).await;
                    // More may be released already: what has ended does not wait for it.
                    self.publish_statuses();
                }
                Next::Correct(names) => self.correct(&names).await,
            }
        }
    }

    /// In a cluster, drift for which the agent has asked for a release waits for that.
    fn drift_to_correct(&mut self) -> BTreeMap<String, Vec<Difference>> {
        let mut drift = self.host.drift.clone();
        if let Some(cluster) = &mut self.cluster {
            let host = &self.host;
            cluster.keep_requests(|name| host.drift.contains_key(name) || !host.is_observed(name));
            drift.retain(|name, _| !cluster.awaits_correction(name));
        }
        drift
    }

    /// Finds drift, and records when it began and ended.
    fn compare(&mut self) {
        self.host.compare(&self.ledger);
        let is_observed = |name: &str| self.host.is_observed(name);
        if self.ledger.note_drift(&self.host.drift, is_observed, clock::now()) {
            self.store();
        }
    }

    /// What passes while nothing is going on is waited for before the next change, should it fail then.
    fn remember_settled(&mut self) {
        let due = self.probed_at.is_none_or(|at| at.elapsed() > PROBE_AGAIN);
        if due && self.host.is_settled() {
            self.probed_at = Some(Instant::now());
            tokio::task::spawn_local(remember_settled(self.config.settings.clone()));
        }
    }

    fn note_freeze(&mut self) -> bool {
        let freeze = freeze::read(&self.config.settings.state_dir);
        let before = std::mem::replace(&mut self.frozen, freeze.is_some());
        match &freeze {
            Some(freeze) if !before => info!("{freeze}; nothing is changed until `linesman unfreeze`"),
            None if before => info!("unfrozen"),
            _ => {}
        }
        freeze.is_some()
    }

    /// In a cluster: forgets what is gone, and accepts what was released to this node.
    async fn accept_releases(&mut self, frozen: bool) {
        let Some(cluster) = &mut self.cluster else { return };
        let mut news = cluster.forget(&mut self.ledger);
        if !frozen {
            cluster.gather().await;
            news |= cluster.accept_releases(&mut self.ledger).await;
        }
        if news {
            self.sources = cluster.sources(&self.ledger);
            self.store();
        }
    }

    /// In a cluster: the status of the enactments.
    fn publish_statuses(&mut self) {
        let Some(cluster) = &mut self.cluster else { return };
        for status in status::policies(&self.sources, &self.ledger, &self.host.drift, clock::now()) {
            if let (status::PolicyPhase::Refused, Some(why)) = (status.phase, &status.reason) {
                cluster.report_conflict(&status.name, why);
            }
        }
        let freeze = freeze::read(&self.config.settings.state_dir);
        cluster.judge_refused(&self.sources.policies, &self.ledger);
        cluster.publish_statuses(&self.ledger, &self.host.drift, freeze.as_ref());
    }

    /// In a cluster: the state of the node.
    async fn publish_node_state(&mut self) {
        let Some(cluster) = &mut self.cluster else { return };
        // What a transaction has just made is looked at again in full before it is shown.
        if self.host.observation_error.is_none() && (self.host.is_settled() || cluster.is_asked()) {
            let first_boot = first_boot::status(&self.config.settings.state_dir);
            cluster.publish_node_state(self.host.state(), first_boot).await;
        }
    }

    /// In a cluster nothing is changed without a release: whether that of this policy still holds.
    async fn is_released(&mut self, policy: &Policy, last_failure: Option<&str>) -> bool {
        let Some(cluster) = &mut self.cluster else { return true };
        match cluster.confirm_release(&policy.name, last_failure).await {
            Ok(true) => return true,
            Ok(false) => {
                info!(policy = policy.name, "its release has ended; it waits for a new one");
                ledger::await_release(&mut self.ledger, &policy.name);
                self.sources = cluster.sources(&self.ledger);
                self.store();
            }
            Err(error) => {
                let outcome = act::hindered(format!("cannot confirm the release: {error}"));
                warn!(policy = policy.name, "{}", reason(&outcome));
                self.note(policy, None, &outcome);
            }
        }
        false
    }

    async fn apply(&mut self, names: &[String]) {
        let named = |name: &String| self.sources.policies.iter().find(|p| p.name == *name).cloned();
        let mut policies = Vec::new();
        for policy in names.iter().filter_map(named).collect::<Vec<Policy>>() {
            let last_failure = ledger::last_failure(&self.ledger, &policy.name);
            if self.is_released(&policy, last_failure.as_deref()).await {
                policies.push(policy);
            }
        }
        if policies.is_empty() {
            return;
        }
        let secrets = match &self.cluster {
            Some(cluster) => cluster.secrets(&policies),
            None => Secrets::default(),
        };
        let session = match act::begin(&self.config.settings).await {
            Ok(session) => session,
            Err(outcome) => {
                warn!(policies = names.join(", "), "{}", reason(&outcome));
                for policy in &policies {
                    self.note(policy, None, &outcome);
                }
                self.store_outcomes();
                return;
            }
        };
        // What could not be finished when the agent started was finished just now: decide again.
        if self.settle_attempts() {
            return;
        }
        let mut ready = Vec::new();
        for (policy, result) in act::prepare(&policies, &self.ledger, &secrets, session.loaded()) {
            match result {
                Ok(one) => ready.push(one),
                Err(outcome) => self.enter(&policy, None, &outcome),
            }
        }
        if let Some(cluster) = &mut self.cluster {
            cluster.planned(&ready);
        }
        // Of a release the cluster's own file has it all.
        let is_release = |one: &&Ready| self.cluster.as_ref().is_some_and(|c| c.is_open(&one.policy.name));
        self.attempts.begin(ready.iter().filter(|one| !is_release(one)));
        let all: Vec<&Ready> = ready.iter().collect();
        if !all.is_empty() {
            let outcome = self.together(session, &all, &secrets).await;
            if all.len() > 1 && act::has_culprit(&outcome) {
                warn!(
                    policies = names.join(", "),
                    "applied together: {}; applying them one by one",
                    reason(&outcome)
                );
                let together = reason(&outcome);
                for one in &all {
                    // The search takes long, and a release may expire meanwhile.
                    if !self.is_released(&one.policy, Some(&together)).await {
                        continue;
                    }
                    let outcome = match act::begin(&self.config.settings).await {
                        Ok(session) => self.together(session, &[one], &secrets).await,
                        Err(outcome) => outcome,
                    };
                    self.enter(&one.policy, Some(one), &outcome);
                    self.store_outcomes();
                }
            } else {
                for one in &all {
                    self.enter(&one.policy, Some(one), &outcome);
                }
            }
        }
        self.host.verified(&self.ledger, names);
        if self.store_outcomes() {
            self.attempts.end();
        }
    }

    async fn together(&mut self, session: Session, ready: &[&Ready], secrets: &Secrets) -> Outcome {
        let status = self.status.clone();
        let probes = self.cluster.as_ref().map(|cluster| cluster.probes.clone());
        let mut impact = Impact::None;
        let mut on_step = |what: &str, step: &_| {
            if let (Some(probes), Step::Applying) = (&probes, step) {
                probes.assume_ready(false);
            }
            note_impact(&mut impact, step);
            publish_progress(&status, what, progress::step(step));
        };
        let outcome = act::together(session, ready, secrets, &self.config.settings, &mut on_step).await;
        self.ended(impact, &outcome);
        outcome
    }

    /// A change of the host has ended.
    fn ended(&mut self, impact: Impact, outcome: &Outcome) {
        self.metrics.outcome(outcome);
        let Some(cluster) = &self.cluster else { return };
        cluster.probes.assume_ready(false);
        let touched = !matches!(outcome.verdict, Verdict::Unchanged | Verdict::Abandoned);
        if touched && impact >= Impact::Disruptive {
            cluster.renew_connections();
        }
    }

    fn enter(&mut self, policy: &Policy, ready: Option<&Ready>, outcome: &Outcome) {
        progress::log_outcome(&policy.name, outcome);
        self.note(policy, ready, outcome);
    }

    fn note(&mut self, policy: &Policy, ready: Option<&Ready>, outcome: &Outcome) {
        ledger::enter(&mut self.ledger, policy, ready, outcome);
        if let Some(cluster) = &mut self.cluster {
            let attempts = match self.ledger.get(&policy.name).map(|e| &e.policy_state) {
                Some(PolicyState::Waiting { attempts, .. }) => *attempts,
                _ => 1,
            };
            cluster.enter(&policy.name, ready, outcome, attempts);
        }
    }

    /// The ledger is on disk before an outcome is published.
    fn store_outcomes(&mut self) -> bool {
        if let Some(cluster) = &self.cluster {
            self.sources = cluster.sources(&self.ledger);
        }
        let stored = self.store();
        if let Some(cluster) = &self.cluster {
            cluster.store();
        }
        stored
    }

    async fn revert(&mut self, name: &str) {
        let Some(entry) = self.ledger.get(name).cloned() else { return };
        if !self.is_released(&entry.policy, None).await {
            return;
        }
        let applied = self.ledger.applied();
        if let Some(cluster) = &self.cluster {
            cluster.probes.assume_ready(false);
        }
        let status = self.status.clone();
        let mut impact = Impact::None;
        let mut on_step = |what: &str, step: &_| {
            note_impact(&mut impact, step);
            publish_progress(&status, what, progress::step(step));
        };
        self.attempts.begin_revert(&entry.policy);
        let outcome = act::revert(&entry, &applied, &self.config.settings, &mut on_step).await;
        self.ended(impact, &outcome);
        if outcome.succeeded() {
            let reverted = match outcome.verdict {
                Verdict::Unchanged => "there is nothing to revert",
                _ => "its changes were reverted",
            };
            info!(policy = name, "removed; {reverted}");
            self.ledger.0.remove(name);
        } else if let Some(entry) = self.ledger.0.get_mut(name) {
            warn!(policy = name, "removed, but its changes could not be reverted: {}", reason(&outcome));
            ledger::revert_failed(entry, &outcome);
        }
        self.attempts.forget(name);
        self.settle_attempts();
        if let Some(cluster) = &mut self.cluster {
            cluster.enter(name, None, &outcome, 1);
        }
        self.host.verified(&self.ledger, &[]);
        if self.store_outcomes() {
            self.attempts.end();
        }
    }

    /// Corrects drift that is still there after `SETTLE_TIME`, or asks for a release to do so.
    async fn correct(&mut self, names: &[String]) {
        tokio::time::sleep(SETTLE_TIME).await;
        self.host.look().await;
        self.compare();
        let mut drifted: Vec<String> =
            names.iter().filter(|n| self.host.drift.contains_key(*n)).cloned().collect();
        if let Some(cluster) = &mut self.cluster {
            drifted.iter().for_each(|name| cluster.request_correction(name));
            drifted.retain(|name| cluster.may_correct_alone(name));
        }
        if drifted.is_empty() {
            return;
        }
        for name in &drifted {
            let first = self.host.drift.get(name).and_then(|d| d.first()).map(ToString::to_string);
            warn!(policy = name, "drifted: {}", first.unwrap_or_default());
            if let Some(entry) = self.ledger.0.get_mut(name) {
                entry.corrections.record(clock::now());
                self.metrics.corrections.inc();
            }
        }
        self.apply(&drifted).await;
    }
}

fn note_impact(impact: &mut Impact, step: &Step) {
    if let Step::Planned(plan) = step {
        *impact = plan.impact;
    }
}
