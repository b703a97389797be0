//! The agent in a cluster: enactments in, outcomes and the state of the node out.
//!
//! The operator decides, the agent acts. Only this node's enactments are watched; accepted releases are on disk before
//! anything is changed (`accepted-releases.json`), so that the outcome reaches the cluster after a crash, a reboot or a lost
//! connection.

mod client;
mod earlier;
mod enactments;
pub mod handler_lock;
mod pending_updates;
mod probes;
mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use linesman_api::time::Time;
use linesman_core::codes::failures::NO_SNAPSHOT;
use linesman_core::compare::Difference;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Entry, Ledger, PolicyState};
use linesman_core::secrets::{Secrets, references};
use linesman_daemon::clock;
use linesman_engine::{desired, nm};
use linesman_fleet::enactment::{self, AcceptedRelease, AcceptedReleases, Bound, Planned};
use linesman_fleet::report::{self, Category, Glob, Outcome, Versions};
use serde_json::{Value, json};
use tracing::{info, warn};

use crate::act::Ready;
use crate::metrics::Metrics;
use crate::sources::Sources;
use crate::state_file::StateFile;
use client::ClusterClient;
pub use client::Error;
use enactments::Enactments;
use pending_updates::{Delivery, PendingUpdates, StatusUpdate, Target};
use probes::ClusterProbes;
use states::States;

#[derive(Clone, Debug)]
pub struct Config {
    pub node: String,
    /// None: as a Pod finds it, or KUBECONFIG.
    pub kubeconfig: Option<PathBuf>,
    /// Interfaces that the NodeNetworkState leaves out.
    pub filter: Vec<Glob>,
    /// kubernetes-nmstate's lock file.
    pub handler_lock: PathBuf,
    /// Of the Secrets that policies refer to.
    pub namespace: String,
}

#[derive(Debug)]
pub struct Cluster {
    client: ClusterClient,
    enactments: Enactments,
    states: States,
    updates: PendingUpdates,
    state_file: StateFile,
    releases: AcceptedReleases,
    metrics: Rc<Metrics>,
    pub probes: Arc<ClusterProbes>,
    /// Status updates that were sent and not yet seen by the watch.
    sent: BTreeMap<String, Value>,
    /// No release is accepted before then, after the API server did not answer.
    patience: Option<tokio::time::Instant>,
}

impl Cluster {
    pub async fn join(config: &Config, state_dir: &Path, metrics: Rc<Metrics>) -> crate::Result<Self> {
        let client =
            ClusterClient::new(config.kubeconfig.as_deref(), &config.node, &config.namespace).await?;
        let versions = Versions {
            network_manager: match nm::Nm::connect().await {
                Ok(nm) => nm.version().await.ok(),
                Err(_) => None,
            },
            nmstate: Some(desired::NMSTATE_VERSION.into()),
        };
        let state_file = StateFile::accepted_releases(state_dir);
        let mut releases: AcceptedReleases = state_file.read()?;
        releases.forget_expired(Time(clock::now()));
        Ok(Self {
            enactments: Enactments::watch(&client),
            states: States::watch(
                &client,
                StateFile::refresh_requests(state_dir),
                config.filter.clone(),
                versions,
            )?,
            updates: PendingUpdates::start(client.clone()),
            client,
            state_file,
            metrics,
            probes: Arc::new(ClusterProbes::new(config.kubeconfig.clone(), &config.node)),
            releases,
            sent: BTreeMap::new(),
            patience: None,
        })
    }

    /// Waits for a change in the cluster. Cancel safe.
    pub async fn changed(&mut self) {
        let rest = self.patience;
        let later = async move {
            match rest {
                Some(rest) => tokio::time::sleep_until(rest).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.enactments.changed() => {}
            () = self.states.requested() => {}
            delivery = self.updates.delivery() => self.note(delivery),
            () = later => self.patience = None,
        }
        if self.enactments.take_listed() {
            // It may have forgotten: a server that was away may have been restored from a backup.
            self.sent.clear();
            self.updates.try_now();
        }
        self.metrics.api_server(self.enactments.api_server_error.is_some());
    }

    /// Whether the state of the node was requested, changed or not.
    pub fn is_asked(&self) -> bool {
        self.states.is_forced()
    }

    pub fn api_server_error(&self) -> Option<&str> {
        self.enactments.api_server_error.as_deref()
    }

    fn note(&mut self, delivery: Delivery) {
        let (to, void) = match delivery {
            Delivery::Published(to) => {
                self.metrics.wrote(to.name());
                (to, false)
            }
            Delivery::Obsolete(to) => (to, true),
            Delivery::Refused(to, why) => {
                warn!("the API server refused a status update: {why}");
                (to, true)
            }
        };
        let Target::Enactment { policy, attempt } = to else { return };
        if void {
            self.sent.remove(&policy);
        }
        let release = self.releases.0.get_mut(&policy).filter(|release| release.attempt == attempt);
        if let Some(release) = release.filter(|release| !release.published) {
            release.published = true;
            self.store();
        }
    }

    fn store(&self) {
        if let Err(e) = self.state_file.write(&self.releases) {
            warn!("{e}; an outcome may not reach the cluster after a crash");
        }
    }

    /// The policies of this node. Before the first list of enactments, those of the ledger.
    pub fn sources(&self, ledger: &Ledger) -> Sources {
        let known = self.enactments.all();
        let accepted = if self.enactments.synced {
            enactment::accepted(known.iter().map(|bound| bound.policy.as_str()), &self.releases, ledger)
        } else {
            enactment::accepted(ledger.0.keys().map(String::as_str), &self.releases, ledger)
        };
        Sources { policies: accepted.policies, wrong: accepted.waiting, files: BTreeMap::new() }
    }

    /// Policies that have no enactment here any more. Their configuration stays: a revert is a release of its own.
    pub fn forget(&mut self, ledger: &mut Ledger) -> bool {
        if !self.enactments.synced {
            return false;
        }
        let gone: Vec<String> =
            ledger.0.keys().filter(|name| self.enactments.get(name).is_none()).cloned().collect();
        for name in &gone {
            info!(policy = name, "its enactment was deleted; its configuration stays on the host");
            let entry = ledger.0.remove(name);
            self.releases.retire(name, entry.map_or(Value::Null, |entry| entry.revert_state));
            self.sent.remove(name);
        }
        let retired: Vec<String> =
            self.releases.0.keys().filter(|name| self.enactments.get(name).is_none()).cloned().collect();
        retired.iter().for_each(|name| self.releases.retire(name, Value::Null));
        if !gone.is_empty() {
            self.store();
        }
        !gone.is_empty()
    }

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
        let mut accepted = false;
        for policy in fresh {
            match self.begin(&policy, ledger).await {
                Ok(true) => {
                    accepted = true;
                    self.probes.assume_ready(true);
                }
                Ok(false) => {}
                // The watch brings its current state.
                Err(Error::Changed | Error::Gone) => {}
                Err(error) => {
                    warn!(policy, "cannot accept the release: {error}; trying again in 2 s");
                    self.patience = Some(tokio::time::Instant::now() + std::time::Duration::from_secs(2));
                    break;
                }
            }
        }
        accepted
    }

    async fn begin(&mut self, policy: &str, ledger: &mut Ledger) -> Result<bool, Error> {
        let (object, bound) = self.client.read(policy).await?;
        if !enactment::is_new_release(&bound, &self.releases) {
            return Ok(false);
        }
        self.client.begin(object, &enactment::started(&bound, Time(clock::now()))).await?;
        self.enactments.read(bound.clone());
        self.metrics.wrote("enactment");
        info!(
            policy,
            generation = bound.spec.policy.generation,
            revert = bound.spec.revert,
            "release accepted"
        );
        let mut release = match enactment::policy(&bound, &desired::schema) {
            Ok(policy) => self.release(&bound, policy, ledger),
            Err(problems) => refused(&bound, &text(&problems)),
        };
        release.accepted_at = clock::now();
        let open = !release.ended;
        self.releases.0.insert(policy.to_string(), release);
        self.store();
        Ok(open)
    }

    fn release(&self, bound: &Bound, policy: Policy, ledger: &mut Ledger) -> AcceptedRelease {
        if let Some(revert_state) = self.releases.revert_state_of(bound) {
            let again = || Entry::returning(&policy, revert_state.clone(), clock::now());
            ledger.0.entry(bound.policy.clone()).or_insert_with(again);
        }
        if !bound.spec.revert {
            enactment::make_due(&policy, ledger);
            return AcceptedRelease::of(bound, Some(policy));
        }
        // The ledger reverts a policy that is gone and has `onDelete: Revert`.
        match ledger.0.get_mut(&bound.policy) {
            Some(entry) => {
                entry.policy.options.on_delete = linesman_core::policy::OnDelete::Revert;
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

    /// Records the outcome of a release, to be published.
    pub fn enter(&mut self, name: &str, ready: Option<&Ready>, outcome: &Outcome, attempts: u32) {
        let node = self.client.node.clone();
        let Some(release) = self.releases.0.get_mut(name).filter(|release| !release.ended) else { return };
        // A revert is not retried automatically: its failure is reported at once.
        if outcome.may_retry() && !release.revert {
            release.report(report::retrying(outcome, &node, attempts.into()), false);
        } else {
            if let Some(ready) = ready.filter(|_| outcome.succeeded()) {
                release.features = desired::features(&ready.state);
            }
            release.report(report::ended(outcome, release.revert), true);
        }
        self.store();
    }

    /// A policy that others contradict is not tried at all, and reported as failed.
    pub fn contradicted(&mut self, name: &str, why: &str) {
        if let Some(release) = self.releases.0.get_mut(name).filter(|release| !release.ended) {
            release.report(report::ended(&Outcome::abandoned(Category::Input, why), false), true);
            self.store();
        }
    }

    pub fn waits_for(&self, name: &str) -> bool {
        self.releases.0.get(name).is_some_and(|release| !release.ended)
    }

    /// Records what is about to be applied, so that the outcome can be reported after a crash.
    pub fn planned(&mut self, ready: &[Ready]) {
        for one in ready {
            if let Some(release) = self.releases.0.get_mut(&one.policy.name).filter(|release| !release.ended)
            {
                release.plan = Some(Planned {
                    state: one.recorded_state.clone(),
                    revert_state: one.revert_state.clone(),
                });
            }
        }
        self.store();
    }

    /// Publishes the status of each enactment that the cluster does not have yet.
    pub fn publish_statuses(
        &mut self,
        ledger: &Ledger,
        drift: &BTreeMap<String, Vec<Difference>>,
        freeze: Option<&crate::freeze::Freeze>,
    ) {
        let now = Time(clock::now());
        for bound in self.enactments.all() {
            let name = &bound.policy;
            let none = Vec::new();
            let differences = drift.get(name).unwrap_or(&none);
            let release = self.releases.0.get(name);
            let status = release
                .and_then(|release| {
                    enactment::pending_status(release, &bound, ledger.get(name), differences, now)
                })
                .or_else(|| enactment::outdated(&bound, &self.releases, now))
                .or_else(|| enactment::frozen(&bound, &self.releases, &freeze?.to_string(), now));
            let Some(status) = status else { continue };
            let attempt = status.attempt.unwrap_or_default();
            let value = json!(status);
            let same = self.sent.get(name).is_some_and(|sent| *sent == timeless(&value));
            if same {
                continue;
            }
            self.sent.insert(name.clone(), timeless(&value));
            let target = Target::Enactment { policy: name.clone(), attempt };
            self.updates.send(StatusUpdate { target, uid: bound.uid.clone(), status: value });
        }
    }

    /// Publishes the state of the node if it changed.
    pub async fn publish_node_state(&mut self, state: &Value) {
        if state.is_null() {
            return;
        }
        let changed = self.states.status_update(state, Time(clock::now())).await;
        if let Some(current) = self.states.current() {
            self.metrics.inventory(&self.client.node, current);
        }
        if let Some(status) = changed {
            self.updates.send(StatusUpdate { target: Target::NodeState, uid: String::new(), status });
        }
    }
}

/// A status that differs only in its times is the same.
fn timeless(status: &Value) -> Value {
    let mut status = status.clone();
    for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = condition.as_object_mut() {
            fields.retain(|key, _| !key.ends_with("Time"));
        }
    }
    status
}

fn refused(bound: &Bound, why: &str) -> AcceptedRelease {
    let mut release = AcceptedRelease::of(bound, None);
    let outcome = Outcome::abandoned(Category::Input, why);
    release.report(report::ended(&outcome, bound.spec.revert), true);
    release
}

fn text(problems: &[Diagnostic]) -> String {
    let one = |p: &Diagnostic| match &p.path {
        Some(path) if !path.is_root() => format!("{path}: {} [{}]", p.message, p.code),
        _ => format!("{} [{}]", p.message, p.code),
    };
    problems.iter().map(one).collect::<Vec<_>>().join("; ")
}
