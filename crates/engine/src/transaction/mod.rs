//! A change is a transaction.
//!
//! load (IO) -> decide (pure) -> write down (IO) -> attempt (IO) -> commit or restore (IO) -> report.

mod adopted;
mod attempt;
pub(crate) mod back;
mod baseline;
pub(crate) mod borrowed_names;
pub(crate) mod carry;
mod closed_ports;
mod confirm;
mod foreign;
mod load;
mod lost_profiles;
mod orphan;
mod outdated;
mod persist;
mod stale_settings;
pub(crate) mod unmanaged;
pub(crate) mod uplinks;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use linesman_core::codes::failures;
use linesman_core::compare::Difference;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::plan::Plan;
use linesman_core::plan::codes::OVS_NOT_RUNNING;
use linesman_core::probe::{self as core_probe, Family};
use linesman_core::secrets;
use serde_json::Value;
use tokio::sync::watch;

pub use baseline::{not_protected, remember_settled};
pub use confirm::{Decision, commit, decide, rollback};
pub use load::{Loaded, load};

use crate::descriptors::Descriptors;
use crate::error::Category;
use crate::journal::{Journal, Phase, Record};
use crate::keyfile::ProfileFile;
use crate::lock::HostLock;
use crate::nm::Nm;
use crate::probe::{self, Cluster, Probe, ProbeResult, ProbeSpec, SettledProbes};
use crate::snapshot::{Kernel, Snapshot};
use crate::worker::ApplyOptions;
use crate::{Error, Result, desired, failpoint, observe, ovs, recover, restore, snapshot};
use linesman_core::outcome::{FailedStep, Outcome, ProbeResults, Verdict};

/// What is asked for, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The document as it was read: its state, and its captures if it has any.
    pub state: Value,
    pub capture: Option<Value>,
    /// What people call it: a file, a policy.
    pub source: String,
    /// The policies that it applies or reverts; none for a file.
    pub policies: Vec<String>,
    pub revert: bool,
    pub completion: Completion,
    pub options: ApplyOptions,
    /// None: none but what the host itself suggests (gateways, DNS), and in a cluster the cluster probes.
    pub probes: Option<Vec<Probe>>,
    pub patience: Duration,
    /// Nobody set it: it is longer if the change itself makes something slow.
    pub patience_grows: bool,
    pub verify: bool,
    pub protect: Option<IpAddr>,
}

impl Request {
    /// Committed when it holds, with the probes that the host itself suggests.
    pub fn new(source: impl Into<String>, state: Value) -> Self {
        Self {
            state,
            capture: None,
            source: source.into(),
            policies: Vec::new(),
            revert: false,
            completion: Completion::Commit,
            options: ApplyOptions::default(),
            probes: None,
            patience: linesman_core::probe::DEFAULT_PATIENCE,
            patience_grows: true,
            verify: true,
            protect: None,
        }
    }

    /// How long probes may take to pass after this change.
    pub(crate) fn patience_for(&self, plan: &Plan) -> Duration {
        if self.patience_grows { self.patience.max(plan.default_patience()) } else { self.patience }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    Commit,
    /// Rolled back unless somebody confirms in time.
    Confirm {
        within: Duration,
    },
}

/// Where the transaction keeps its things, and how nervous it is.
#[derive(Clone, Debug)]
pub struct Settings {
    pub state_dir: PathBuf,
    pub run_dir: PathBuf,
    /// NetworkManager rolls back by itself so long after the last sign of life.
    pub dead_man: Duration,
    /// How long nmstate's part may take.
    pub limit: Duration,
    /// How long the new state may take to be there, once nmstate is done.
    pub settle: Duration,
    /// Probes by way of the cluster; none for a host that belongs to none.
    pub cluster: Cluster,
    /// What the probe of DNS asks for, where the probe itself does not say; none: the root.
    pub dns_name: Option<String>,
    /// Arguments of the worker process: how it writes its log.
    pub worker_arguments: Vec<String>,
    /// Checkpoints of other programs are rolled back before a change; otherwise it is refused until they end.
    pub roll_back_foreign: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            state_dir: "/var/lib/linesman".into(),
            run_dir: "/run/linesman".into(),
            dead_man: Duration::from_secs(10),
            limit: Duration::from_secs(120),
            settle: Duration::from_secs(12),
            cluster: None,
            dns_name: None,
            worker_arguments: Vec::new(),
            roll_back_foreign: false,
        }
    }
}

/// What is going on, for whoever watches.
#[derive(Clone, Debug)]
pub enum Step {
    Planned(Plan),
    Probed(Vec<ProbeResult>),
    Snapshot,
    Applying,
    Verifying,
    Probing,
    /// Applied; waits for a confirmation.
    Unconfirmed {
        checkpoint: String,
        within: Duration,
        /// What was checked so far, in words.
        checks: String,
    },
    RollingBack {
        reason: String,
    },
    Done,
}

/// Why an attempt is rolled back.
#[derive(Debug)]
pub(crate) struct AttemptFailure {
    pub step: FailedStep,
    /// Of `linesman explain`.
    pub code: &'static str,
    pub reason: String,
    pub differences: Vec<Difference>,
    pub probes: Vec<ProbeResult>,
    /// The worker process, if it was killed and is not gone.
    pub stuck_worker: Option<u32>,
    pub seen: Box<Seen>,
}

/// What was looked at once the change was applied: what differs from it later is done by others.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub kernel: Option<Kernel>,
    pub profiles: Option<Vec<ProfileFile>>,
}

impl AttemptFailure {
    fn new(step: FailedStep, reason: impl Into<String>) -> Self {
        Self {
            step,
            code: step.code(),
            reason: reason.into(),
            differences: Vec::new(),
            probes: Vec::new(),
            stuck_worker: None,
            seen: Box::default(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The document does not fit this host; each with its place.
    #[error("the state does not fit this host")]
    Document(Vec<Diagnostic>),
    #[error(transparent)]
    Host(#[from] Error),
}

/// The host, locked and looked at: what is planned and applied with it is about the same moment.
#[derive(Debug)]
pub struct Session {
    loaded: Loaded,
    _lock: HostLock,
}

impl Session {
    /// Takes the host's lock, finishes what an earlier change left, and looks.
    pub async fn begin(settings: &Settings) -> Result<Self, Refusal> {
        let journal = Journal::new(&settings.state_dir);
        let lock =
            HostLock::take(&settings.run_dir).map_err(|error| confirm::or_unconfirmed(error, &journal))?;
        recover::finish_earlier(&journal, &settings.cluster).await?;
        if settings.roll_back_foreign {
            foreign::roll_back(&Nm::connect().await?).await?;
        }
        Ok(Self { loaded: load().await?, _lock: lock })
    }

    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Runs the transaction. `stop` turning true rolls the change back.
    pub async fn apply(
        self,
        request: &Request,
        settings: &Settings,
        stop: watch::Receiver<bool>,
        say: &mut dyn FnMut(Step),
    ) -> Result<Outcome, Refusal> {
        let probes = wanted_probes(request, settings)?;
        let Self { mut loaded, _lock } = self;
        loaded.facts.protect = request.protect;
        attempt_change(request, settings, probes, loaded, stop, say).await
    }
}

/// Runs the whole transaction. `stop` turning true rolls the change back.
pub async fn apply(
    request: &Request,
    settings: &Settings,
    stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Step),
) -> Result<Outcome, Refusal> {
    wanted_probes(request, settings)?;
    Session::begin(settings).await?.apply(request, settings, stop, say).await
}

/// What is probed before and after; refused if nobody here could ask.
fn wanted_probes(request: &Request, settings: &Settings) -> Result<Vec<Probe>, Refusal> {
    let in_cluster = settings.cluster.is_some();
    let probes = request.probes.clone().unwrap_or_else(|| probe::default_probes(in_cluster));
    match probes.iter().find(|probe| probe.needs_cluster() && !in_cluster) {
        Some(probe) => Err(Error::NoCluster { probe: probe.spec.to_string() }.into()),
        None => {
            let probes = probes.iter().flat_map(Probe::expand);
            let probes = probes.map(|probe| probe.asking(settings.dns_name.as_deref()));
            Ok(probes.map(|probe| protecting(probe, request.protect)).collect())
        }
    }
}

/// Whoever is connected to this host needs the family of that connection.
fn protecting(probe: Probe, protect: Option<IpAddr>) -> Probe {
    let family = protect.map(|ip| if ip.is_ipv4() { Family::V4 } else { Family::V6 });
    match &probe.spec {
        ProbeSpec::Gateway { family: of } if family.is_some() && *of == family => probe.strict(),
        _ => probe,
    }
}

async fn attempt_change(
    request: &Request,
    settings: &Settings,
    probes: Vec<Probe>,
    mut loaded: Loaded,
    stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Step),
) -> Result<Outcome, Refusal> {
    let journal = Journal::new(&settings.state_dir);
    let memory = SettledProbes::of(&settings.state_dir);
    let settled = memory.read();
    let (mut desired, mut plan) = decide_plan(request, &mut loaded).await?;
    say(Step::Planned(plan.clone()));
    if plan.is_empty() {
        foreign::refuse(&loaded.nm).await?;
        return Ok(Outcome::unchanged());
    }
    load::preconditions(&loaded, &desired).await?;
    // Until here the host was only read.
    if *stop.borrow() {
        return Err(Error::Interrupted.into());
    }
    let (mut before, snapshot) = tokio::join!(
        probe::run_once(&probes, &settings.cluster),
        take_snapshot(&loaded, &mut plan, &desired)
    );
    let mut snapshot = snapshot?;
    if let Some(later) = baseline::await_settled(&before, &settled, settings, &loaded.nm).await {
        // What came up meanwhile belongs to the former state.
        before = later;
        loaded = load().await?;
        loaded.facts.protect = request.protect;
        (desired, plan) = decide_plan(request, &mut loaded).await?;
        if plan.is_empty() {
            return Ok(Outcome::unchanged());
        }
        snapshot = take_snapshot(&loaded, &mut plan, &desired).await?;
    }
    snapshot.read_kernel(&loaded.view, &plan).await?;
    let sources = probe::sources().await;
    if *stop.borrow() {
        return Err(Error::Interrupted.into());
    }
    say(Step::Probed(before.clone()));
    let mut record = Record {
        id: journal.next_id(),
        policies: request.policies.clone(),
        revert: request.revert,
        before: before.clone(),
        ..Record::new(&request.source, plan, desired)
    };
    let reserved = Descriptors::reserve()?;
    journal.begin(&record, &snapshot)?;
    say(Step::Snapshot);
    failpoint::reach("snapshot-taken").await;

    let context = attempt::Context {
        patience: request.patience_for(&record.plan),
        request,
        settings,
        loaded: &loaded,
        snapshot: &snapshot,
        before: &before,
        settled: &settled,
        probes: &probes,
        sources: &sources,
    };
    let attempted = attempt::run(&context, &journal, &mut record, stop, say).await;
    match attempted {
        Ok(done) => {
            memory.replace(&done.probes);
            let not_protected = core_probe::not_protected(&before, &done.probes, &settled);
            let lost = probe::assess(&before, &done.probes).lost();
            let outcome = Outcome {
                probes: ProbeResults {
                    before,
                    after: done.probes,
                    lost,
                    not_protected,
                    ..ProbeResults::default()
                },
                unverified: !request.verify,
                notes: done.notes,
                milliseconds: done.milliseconds,
                worker_peak_kib: done.worker_peak_kib,
                ..Outcome::committed()
            };
            if let Err(e) = journal.finish(&mut record, outcome.clone()) {
                tracing::error!(change = record.id, error = %e, "cannot write the journal");
            }
            say(Step::Done);
            Ok(outcome)
        }
        Err(failure) => {
            drop(reserved);
            // NetworkManager and nmstate may quote what they were given.
            let reason = secrets::redacted(&failure.reason, &record.desired);
            let failure = AttemptFailure { reason, ..failure };
            say(Step::RollingBack { reason: failure.reason.clone() });
            let outcome = roll_back(&journal, &mut record, &context, failure).await;
            memory.remember(&outcome.probes.after_rollback);
            Ok(outcome)
        }
    }
}

/// The plan for a request on this host; touches nothing.
pub async fn plan(request: &Request, mut loaded: Loaded) -> Result<Plan, Refusal> {
    loaded.facts.protect = request.protect;
    let (_, plan) = decide_plan(request, &mut loaded).await?;
    Ok(plan)
}

/// nmstate writes the profile of every interface that the document names, and applies it again,
/// which takes addresses of others away: the snapshot covers them all.
async fn take_snapshot(loaded: &Loaded, plan: &mut Plan, desired: &Value) -> Result<Snapshot> {
    plan.touched.extend(desired::interfaces(desired).map(Into::into));
    snapshot::take(&loaded.nm, &loaded.view, &loaded.profiles, &loaded.observed).await
}

async fn decide_plan(request: &Request, loaded: &mut Loaded) -> Result<(Value, Plan), Refusal> {
    let mut desired = desired::resolve(&request.state, request.capture.as_ref(), &loaded.observed)?;
    if request.options.override_interface {
        desired = linesman_core::plan::with_defaults(&desired, &loaded.observed);
    }
    desired = linesman_core::plan::with_implied(&desired, &loaded.observed, &loaded.facts);
    observe::complete(&mut loaded.facts, &loaded.nm, &desired, &loaded.observed).await;
    let plan = linesman_core::plan::plan(&desired, &loaded.observed, &loaded.facts).map_err(refusal)?;
    if !plan.is_empty() {
        desired::refuse_early(&desired, &loaded.observed).map_err(Refusal::Document)?;
    }
    Ok((desired, plan))
}

/// A daemon that does not run is no fault of the document.
fn refusal(problems: Vec<Diagnostic>) -> Refusal {
    if problems.iter().all(|p| p.code == OVS_NOT_RUNNING) {
        return Error::NoOpenVSwitch { socket: ovs::SOCKET.to_string() }.into();
    }
    Refusal::Document(problems)
}

async fn roll_back(
    journal: &Journal,
    record: &mut Record,
    context: &attempt::Context<'_>,
    failure: AttemptFailure,
) -> Outcome {
    let touched = record.phase != Phase::Prepared;
    record.turn(Phase::RollingBack { reason: failure.reason.clone() });
    // A journal that cannot be written must not keep the host cut off.
    if let Err(e) = journal.update(record) {
        tracing::error!(change = record.id, error = %e, "cannot write the journal");
    }
    failpoint::reach("rolling-back").await;
    let mut restored = if touched {
        let (checkpoint, desired) = (record.checkpoint.as_deref(), &record.desired);
        let (seen, applied) = (failure.seen.kernel.as_ref(), failure.seen.profiles.as_deref());
        let nm = Some(&context.loaded.nm);
        restore::restore(nm, context.snapshot, &record.plan, desired, checkpoint, seen, applied).await
    } else {
        restore::Restored::default()
    };
    restored.remaining.extend(failure.stuck_worker.map(|process| {
        format!(
            "process {process}, which applied the change, was killed and still runs in the kernel: what it was doing \
             may take effect later"
        )
    }));
    let after_rollback = match touched {
        true => {
            let former = back::Former {
                nm: Some(&context.loaded.nm),
                snapshot: context.snapshot,
                touched: &record.plan.touched,
                before: context.before,
                cluster: &context.settings.cluster,
            };
            former.wait(context.request.patience, &mut restored).await
        }
        false => Vec::new(),
    };
    let verdict = match (touched, restored.remaining.is_empty()) {
        (false, _) => Verdict::Abandoned,
        (true, true) => Verdict::RolledBack,
        (true, false) => Verdict::Incomplete,
    };
    let not_protected = core_probe::not_protected(context.before, &failure.probes, context.settled);
    let outcome = Outcome {
        category: Some(match verdict {
            Verdict::Abandoned => Category::Transient,
            Verdict::Incomplete => Category::Incomplete,
            _ => Category::RolledBack,
        }),
        code: Some(
            if verdict == Verdict::Incomplete { failures::NOT_BACK } else { failure.code }.to_string(),
        ),
        step: Some(failure.step),
        reason: Some(failure.reason),
        differences: failure.differences,
        remaining: restored.remaining,
        notes: restored.notes,
        probes: ProbeResults {
            before: context.before.to_vec(),
            after: failure.probes,
            after_rollback,
            lost: Vec::new(),
            not_protected,
        },
        ..Outcome::new(verdict)
    };
    if restored.unfinished {
        // The record stays open: the next start finishes it.
        return outcome;
    }
    if let Err(e) = journal.finish(record, outcome.clone()) {
        tracing::error!(change = record.id, error = %e, "cannot write the journal");
        confirm::leave_outcome(&context.settings.run_dir, &record.id, &outcome);
    }
    outcome
}
