//! The loop: load, decide, act, report; then wait for something to happen.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use linesman_api::policy::PolicyStatus;
use linesman_api::reasons::EventReason;
use linesman_api::time::Time;
use linesman_daemon::clock;
use linesman_fleet::rollout::{
    Action, BlockedBy, Decision, PolicyEvent, Settings, Situation, decide, orphans, unreadable, write_refused,
};

use crate::Error;
use crate::cache::{Affected, Cache};
use crate::events::{self, Subject};
use crate::report::{Reported, report};
use crate::rollout_state::RolloutState;
use crate::secrets::{Found, Prepared, SecretReader};
use crate::watch::{WatchEvent, Watched, Watches, is_unknown_kind, number};
use crate::writer::{Writer, Written};

/// Events that come within this time of each other are applied together, up to a limit.
const QUIET: Duration = Duration::from_millis(15);
const LONGEST_BURST: Duration = Duration::from_millis(100);
/// Writes of one reconciliation, so that events are applied in between.
const BATCH: usize = 100;
/// Between events on one enactment, so that a node cannot flood the cluster with them.
const SAME_EVENT: Duration = Duration::from_secs(300);
/// Policies whose decisions are carried out at the same time.
const AT_ONCE: usize = 8;

/// What is to be written for a policy.
struct Due {
    actions: Vec<Action>,
    status: PolicyStatus,
}

pub struct Operator {
    pub cache: Rc<RefCell<Cache>>,
    pub watches: Watches,
    pub writer: Writer,
    pub secrets: SecretReader,
    pub identity: String,
    pub settings: Settings,
    pub rollouts: BTreeMap<String, RolloutState>,
    /// Policies or enactments changed: some enactments may have lost their policy.
    pub orphans: bool,
    pub led: bool,
    /// Enactments whose status cannot be read, and when an event said so.
    pub unreadable: BTreeMap<String, Instant>,
    /// Watches that fail, with the error that was logged last.
    pub failed_watches: BTreeMap<Watched, String>,
}

impl Operator {
    pub async fn run(&mut self) {
        loop {
            let until = self.deadline();
            let event = tokio::select! {
                event = self.watches.next() => event,
                () = self.writer.leadership.changed() => None,
                () = sleep_until(until) => None,
            };
            self.load(event).await;
            self.update_leadership();
            if self.led && self.cache.borrow().is_synced() {
                self.reconcile_all().await;
            }
        }
    }

    /// Applies the event and those that follow closely.
    async fn load(&mut self, first: Option<WatchEvent>) {
        let end = Instant::now() + LONGEST_BURST;
        let mut next = first;
        while let Some(event) = next.take() {
            self.apply(event);
            let left = QUIET.min(end.saturating_duration_since(Instant::now()));
            next = tokio::time::timeout(left, self.watches.next()).await.ok().flatten();
        }
        let needed = self.cache.borrow().needs_node_states();
        if self.watches.watch_node_states(needed) && !needed {
            self.cache.borrow_mut().forget_node_states();
        }
    }

    fn apply(&mut self, event: WatchEvent) {
        self.log_failure(&event);
        self.orphans |= matches!(event, WatchEvent::Policies(_) | WatchEvent::Enactments(_));
        match self.cache.borrow_mut().apply(event) {
            Affected::Nothing => {}
            Affected::Policy(name) => {
                // Those that wait may wait for this one.
                let waiting = self.rollouts.values_mut().filter(|rollout| !rollout.settled);
                waiting.for_each(|rollout| rollout.dirty = true);
                self.rollouts.entry(name).or_default().dirty = true;
            }
            Affected::AllPolicies => self.rollouts.values_mut().for_each(|rollout| rollout.dirty = true),
        }
    }

    /// The same error of the same watch is logged once.
    fn log_failure(&mut self, event: &WatchEvent) {
        let logged = self.failed_watches.remove(&event.watched());
        let WatchEvent::Failed { watched, error } = event else { return };
        let text = error.to_string();
        if logged.as_ref() != Some(&text) {
            let remedy = if is_unknown_kind(error) {
                "; install Linesman's CRDs with: linesman crds | kubectl apply --server-side -f -"
            } else {
                ""
            };
            let error = error as &dyn std::error::Error;
            tracing::warn!(kind = watched.plural(), error, "cannot watch {}{remedy}", watched.plural());
        }
        self.failed_watches.insert(*watched, text);
    }

    /// An operator that begins to lead reconciles everything.
    fn update_leadership(&mut self) {
        let leads = self.writer.leadership.left().is_some();
        self.writer.metrics.leads(leads);
        if leads && !self.led {
            self.rollouts.values_mut().for_each(|rollout| rollout.dirty = true);
            self.orphans = true;
        }
        self.led = leads;
    }

    fn deadline(&self) -> Option<Instant> {
        let (now, time) = (Instant::now(), Time(clock::now()));
        let ready = self.led && self.cache.borrow().is_synced();
        self.rollouts.values().filter(|_| ready).filter_map(|rollout| rollout.next(now, time)).min()
    }

    async fn reconcile_all(&mut self) {
        let known: BTreeSet<String> =
            self.cache.borrow().all_policies().map(|policy| policy.name.clone()).collect();
        for name in &known {
            self.rollouts.entry(name.clone()).or_insert_with(RolloutState::undecided);
        }
        for gone in self.rollouts.keys().filter(|name| !known.contains(*name)) {
            self.writer.metrics.in_flight(gone, None);
        }
        self.read_secrets_again().await;
        self.reconcile_due(&known).await;
        self.announce_unreadable().await;
        if std::mem::take(&mut self.orphans) {
            self.delete_orphans().await;
        }
        // A deleted policy is remembered until its enactments are gone.
        let (cache, orphans, now) = (self.cache.borrow(), self.orphans, Instant::now());
        self.rollouts
            .retain(|name, rollout| known.contains(name) || rollout.outlives_policy(&cache, orphans, now));
    }

    /// What a node wrote that cannot be read is an event on its enactment; the status of its policy says so, too.
    #[allow(clippy::await_holding_refcell_ref)] // Only this loop changes the cache.
    async fn announce_unreadable(&mut self) {
        let cache = self.cache.borrow();
        self.unreadable.retain(|_, at| at.elapsed() < SAME_EVENT);
        for (name, enactment) in &cache.enactments {
            let Some(error) = enactment.unreadable.as_ref().filter(|_| !self.unreadable.contains_key(name))
            else {
                continue;
            };
            self.unreadable.insert(name.clone(), Instant::now());
            let message = format!(
                "the operator cannot read the status that the node wrote: {error}; it counts as none"
            );
            let event = PolicyEvent { warning: true, reason: EventReason::Unreadable, message };
            let about = Subject::enactment(name, &enactment.uid);
            events::publish(&self.writer, &self.identity, about, number(&enactment.version), &event).await;
        }
    }

    /// Secrets that were missing may be there now.
    #[allow(clippy::await_holding_refcell_ref)] // Only this loop changes the cache.
    async fn read_secrets_again(&mut self) {
        let (cache, now) = (self.cache.borrow(), Instant::now());
        for (name, rollout) in &mut self.rollouts {
            let generation = cache.policy(name).map_or(0, |policy| policy.generation);
            let Some(secrets) = rollout.secrets_to_read(generation, now) else { continue };
            let still = self.secrets.read_again(secrets).await;
            if let Err(error) = &still {
                let error = error as &dyn std::error::Error;
                tracing::warn!(policy = name, error, "cannot read the Secrets of the policy");
            }
            rollout.secrets_read(still.ok(), now);
        }
    }

    /// Decides on all policies that are due by what is observed now, then carries the decisions out side by side.
    async fn reconcile_due(&mut self, known: &BTreeSet<String>) {
        let due: Vec<(String, RolloutState, Due)> =
            known.iter().filter_map(|name| self.decide_if_due(name)).collect();
        let this = &*self;
        let carried_out: Vec<(String, RolloutState, Result<(), Error>)> = stream::iter(due)
            .map(async |(name, mut rollout, due)| {
                let outcome = this.carry_out(&name, &mut rollout, due).await;
                (name, rollout, outcome)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        for (name, rollout, outcome) in carried_out {
            self.rollouts.insert(name.clone(), rollout);
            self.record(&name, outcome);
        }
    }

    /// The state of its rollout is taken out of the map until the decision is carried out.
    fn decide_if_due(&mut self, name: &str) -> Option<(String, RolloutState, Due)> {
        let (now, time) = (Instant::now(), Time(clock::now()));
        let rollout = self.rollouts.get_mut(name)?;
        if !rollout.is_due(now, time) || !rollout.pending.are_seen(&self.cache.borrow(), now) {
            return None;
        }
        let Some(decision) = self.decide(name, now) else {
            let status = self.set_aside(name)?;
            let (name, rollout) = self.rollouts.remove_entry(name)?;
            return Some((name, rollout, Due { actions: Vec::new(), status }));
        };
        let (name, mut rollout) = self.rollouts.remove_entry(name)?;
        rollout.decided(&decision, now);
        let in_flight = decision.status.unavailable_node_count_map.values().sum();
        self.writer.metrics.in_flight(&name, Some(in_flight));
        Some((name, rollout, Due { actions: decision.actions, status: decision.status }))
    }

    /// One policy: act, report.
    async fn carry_out(&self, name: &str, rollout: &mut RolloutState, due: Due) -> Result<(), Error> {
        let outcome = match self.act(name, rollout, &due.actions).await {
            Ok(true) => self.report(name, rollout, due.status).await,
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = &outcome {
            self.report_refusal(name, rollout, error).await;
        }
        outcome
    }

    /// The status of a policy that cannot be read.
    fn set_aside(&mut self, name: &str) -> Option<PolicyStatus> {
        let cache = self.cache.borrow();
        let policy = cache.unreadable.get(name)?;
        self.rollouts.get_mut(name)?.set_aside();
        let before = &cache.policy_objects.get(name)?.status;
        Some(unreadable(&policy.facts, before, &policy.error))
    }

    /// What the API server refuses to accept of a policy is shown in its status, as far as that is accepted.
    async fn report_refusal(&self, name: &str, rollout: &mut RolloutState, error: &Error) {
        let Some(reason) = error.about_object() else { return };
        let status = self.cache.borrow().policy(name).map(|policy| write_refused(policy, &reason));
        if let Some(status) = status
            && let Err(error) = self.report(name, rollout, status).await
        {
            tracing::warn!(
                policy = name,
                error = &error as &dyn std::error::Error,
                "cannot write the status"
            );
        }
    }

    fn decide(&self, name: &str, now: Instant) -> Option<Decision> {
        let (cache, rollout) = (self.cache.borrow(), self.rollouts.get(name));
        let situation = Situation {
            policy: cache.policies.get(name)?,
            policies: cache.policies.values().collect(),
            nodes: cache.nodes.values().collect(),
            enactments: cache.enactments.values().collect(),
            set_aside: rollout.map(|it| it.nodes_set_aside(now)).unwrap_or_default(),
            unavailable: rollout.map(RolloutState::unavailable_secrets).unwrap_or_default(),
            settings: self.settings,
            now: Time(clock::now()),
        };
        Some(decide(&situation))
    }

    /// Whether everything was written. After a write for another version the rest is dropped; what the API server does not
    /// accept for one node keeps no other node waiting.
    #[allow(clippy::await_holding_refcell_ref)] // Only this loop changes the cache.
    async fn act(&self, name: &str, rollout: &mut RolloutState, actions: &[Action]) -> Result<bool, Error> {
        let cache = self.cache.borrow();
        let (mut complete, mut found) = (true, Found::default());
        for action in actions.iter().take(BATCH) {
            let action = match self.secrets.prepare(action, &cache, &mut found).await? {
                Prepared::Ready(action) => action,
                Prepared::Unavailable(secrets) => {
                    let generation = cache.policy(name).map_or(0, |policy| policy.generation);
                    if rollout.secrets_unavailable(&secrets, generation, Instant::now()) {
                        tracing::warn!(
                            policy = name,
                            ?secrets,
                            "Secrets cannot be read; nodes wait for them"
                        );
                    }
                    complete = false;
                    continue;
                }
                Prepared::NotSealed { node, reason } => {
                    let blocked_by = BlockedBy::SecretUnavailable(reason.clone());
                    if rollout.set_node_aside(node, blocked_by, Instant::now()) {
                        tracing::warn!(
                            policy = name,
                            node,
                            reason,
                            "Secrets cannot be passed on to the node"
                        );
                    }
                    complete = false;
                    continue;
                }
            };
            let written = self.writer.perform(name, &action, &cache, Time(clock::now())).await;
            match (written, &*action) {
                (Ok(Written::Done(write)), action) => {
                    rollout.pending.expect(write, Instant::now());
                    if let Action::Enactment { node, .. } = action {
                        rollout.node_accepted(node);
                    }
                }
                (Ok(Written::Refused(write)), _) => {
                    rollout.pending.expect(write, Instant::now());
                    rollout.dirty = true;
                    return Ok(false);
                }
                (Err(error), Action::Enactment { node, .. }) => {
                    let Some(reason) = error.about_object() else { return Err(error) };
                    tracing::warn!(policy = name, node, reason, "the API server refuses the enactment");
                    rollout.set_node_aside(node, BlockedBy::Refused(reason), Instant::now());
                    // The next decision leaves the node out, and its status says so.
                    complete = false;
                }
                (Err(error), Action::Finalizer { .. }) => return Err(error),
            }
        }
        rollout.dirty |= !actions.is_empty();
        Ok(complete)
    }

    #[allow(clippy::await_holding_refcell_ref)] // As above.
    async fn report(
        &self,
        name: &str,
        rollout: &mut RolloutState,
        status: PolicyStatus,
    ) -> Result<(), Error> {
        let cache = self.cache.borrow();
        let (Some(policy), Some(object)) = (cache.policy(name), cache.policy_objects.get(name)) else {
            return Ok(());
        };
        let reported = report(
            &self.writer,
            &self.identity,
            policy,
            object,
            status,
            rollout.status_written,
            Time(clock::now()),
        )
        .await?;
        match reported {
            Reported::Nothing => {}
            Reported::Later(due) => rollout.status_due = Some(due),
            Reported::Written(write) => {
                rollout.status_written = Some(Instant::now());
                rollout.pending.expect(write, Instant::now());
            }
            Reported::Refused(write) => {
                rollout.pending.expect(write, Instant::now());
                rollout.dirty = true;
            }
        }
        Ok(())
    }

    fn record(&mut self, name: &str, outcome: Result<(), Error>) {
        let Some(rollout) = self.rollouts.get_mut(name) else { return };
        match outcome {
            Ok(()) => rollout.succeeded(),
            Err(Error::NotLeading) => rollout.dirty = true,
            Err(error) => {
                let pause = rollout.failed(Instant::now());
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    policy = name,
                    error,
                    "reconciliation failed; next attempt in {} s",
                    pause.as_secs()
                );
            }
        }
    }

    /// Enactments whose policy is gone.
    async fn delete_orphans(&mut self) {
        let mut found: BTreeMap<String, Vec<Action>> = BTreeMap::new();
        {
            let cache = self.cache.borrow();
            for (policy, action) in orphans(cache.all_policies(), cache.enactments.values()) {
                found.entry(policy.into()).or_default().push(action);
            }
        }
        for (policy, actions) in found {
            let outcome = self.delete_orphans_of(&policy, &actions).await;
            self.orphans |= !matches!(outcome, Ok(true));
            self.record(&policy, outcome.map(|_| ()));
        }
    }

    /// Whether nothing is left to do.
    async fn delete_orphans_of(&mut self, policy: &str, actions: &[Action]) -> Result<bool, Error> {
        let (now, time) = (Instant::now(), Time(clock::now()));
        let rollout = self.rollouts.entry(policy.into()).or_insert_with(RolloutState::undecided);
        if !rollout.is_due(now, time) || !rollout.pending.are_seen(&self.cache.borrow(), now) {
            return Ok(false);
        }
        rollout.dirty = false;
        // The watch of policies may be behind the watch of enactments.
        if self.writer.exists(policy).await? {
            return Ok(true);
        }
        let mut rollout = self.rollouts.remove(policy).unwrap_or_default();
        let deleted = self.act(policy, &mut rollout, actions).await;
        self.rollouts.insert(policy.into(), rollout);
        Ok(deleted? && actions.len() <= BATCH)
    }
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}
