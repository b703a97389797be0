//! From the first touch to the commit. Every exit but the last is a failure.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use linesman_core::codes::failures;
use tokio::sync::watch;

use super::{
    AttemptFailure, Completion, Loaded, Request, Seen, Settings, Step, adopted, borrowed_names, carry,
    closed_ports, confirm, lost_profiles, orphan, outdated, persist, stale_settings, unmanaged, uplinks,
};
use crate::dead_man_switch::{CheckpointState, DeadManSwitch, Loss};
use crate::journal::{Journal, Phase, Record};
use crate::nm::Nm;
use crate::others::{Others, Since};
use crate::probe::{self, Probe, ProbeResult, ProbeSpec};
use crate::snapshot::{Kernel, Snapshot};
use crate::verify::{self, Scope, Verification};
use crate::watch::Watch;
use crate::worker::{Worker, WorkerReply};
use crate::{desired, failpoint};
use linesman_core::outcome::{FailedStep, checks};

pub struct Context<'a> {
    pub request: &'a Request,
    /// How long probes may take to pass after the change.
    pub patience: Duration,
    pub settings: &'a Settings,
    pub loaded: &'a Loaded,
    pub snapshot: &'a Snapshot,
    pub before: &'a [ProbeResult],
    /// Probes that passed when the host was settled.
    pub settled: &'a [ProbeSpec],
    pub probes: &'a [Probe],
    /// The addresses from which the gateways were reached before the change.
    pub sources: &'a [IpAddr],
}

#[derive(Debug, Default)]
pub struct Applied {
    pub probes: Vec<ProbeResult>,
    pub notes: Vec<String>,
    pub milliseconds: u64,
    pub worker_peak_kib: u64,
}

pub async fn run(
    context: &Context<'_>,
    journal: &Journal,
    record: &mut Record,
    mut stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Step),
) -> Result<Applied, AttemptFailure> {
    let Context { request, settings, loaded, snapshot, .. } = context;
    let nm = &loaded.nm;
    let watch = Watch::start(Some(nm)).await;
    let known =
        nm.checkpoints().await.map_err(|e| AttemptFailure::new(FailedStep::Checkpoint, e.to_string()))?;
    let dead_man = dead_man_while_applying(settings, record);
    let mut switch = DeadManSwitch::arm(known, dead_man, settings.limit + SLACK)
        .await
        .map_err(|e| AttemptFailure::new(FailedStep::Checkpoint, e.to_string()))?;

    if *stop.borrow() {
        return Err(interrupted());
    }
    // From here on recovery assumes that anything may have been touched.
    record.turn(Phase::Applying);
    if let Err(e) = journal.update(record) {
        record.phase = Phase::Prepared;
        return Err(AttemptFailure::new(FailedStep::Journal, e.to_string()));
    }
    failpoint::reach("applying").await;
    say(Step::Applying);
    stale_settings::take_out(nm, &loaded.profiles, &record.desired)
        .await
        .map_err(|e| AttemptFailure::new(FailedStep::Apply, e.to_string()))?;
    let reply = match start_worker(context, record).await {
        Err(failure) => Err(failure),
        Ok(mut worker) => {
            let make_way = Box::pin(outdated::take_away(nm, &record.plan, switch.opened()));
            let reply = tokio::select! {
                reply = guarded(&mut stop, reply_of(&mut worker, settings.limit, make_way)) => reply,
                loss = switch.lost() => reply_after_loss(&mut worker, loss).await,
            };
            if reply.is_err() {
                switch.stop_winding();
            }
            // Whatever ended the wait: nothing may change any more when the rollback begins.
            let stuck_worker = worker.kill().await;
            reply.map_err(|failure| AttemptFailure { stuck_worker, ..failure })
        }
    };
    // However the worker ended, its checkpoint must be known for the rollback.
    record.checkpoint = checkpoint_of(&switch, nm).await;
    let reply = reply?;
    if let Some(error) = reply.error {
        return Err(AttemptFailure::new(FailedStep::Apply, error));
    }
    if record.checkpoint.is_none() {
        return Err(lost(loss_of(&switch.state())));
    }
    switch.tighten(settings.dead_man);
    switch.wind_for(longest_check(context));
    unmanaged::remove(nm, &record.plan, &record.desired, &snapshot.state)
        .await
        .map_err(|e| AttemptFailure::new(FailedStep::Apply, e.to_string()))?;
    lost_profiles::delete(nm, &record.plan, &record.desired, &snapshot.state)
        .await
        .map_err(|e| AttemptFailure::new(FailedStep::Apply, e.to_string()))?;
    adopted::leave_out(nm, snapshot, &record.desired)
        .await
        .map_err(|e| AttemptFailure::new(FailedStep::Apply, e.to_string()))?;
    let profiles = crate::observe::profiles().ok();
    failpoint::reach("applied").await;

    let mut done = Applied { worker_peak_kib: reply.peak_kib, ..Applied::default() };
    let mut seen = None;
    let checked = async {
        done.notes = carry_over(snapshot, record).await;
        let before = Others::before(snapshot);
        say(Step::Verifying);
        if request.verify {
            holds(context, &watch, record).await?;
            persist::check(nm, &record.desired, request.options)
                .await
                .map_err(|e| AttemptFailure::new(FailedStep::Persist, e.to_string()))?;
            // Until an interface is up, NetworkManager itself takes away what it did not put there: only what goes after that
            // was withdrawn by its owner.
            if !before.is_empty() {
                done.notes = carry_over(snapshot, record).await;
                seen = kernel(record).await;
            }
        }
        failpoint::reach("verified").await;
        say(Step::Probing);
        done.probes = probes_pass(context, &watch).await?;
        // What took addresses over may not have had its own at the first try, and a daemon that died
        // since has made its devices anew.
        done.notes = match (&seen, if seen.is_some() { kernel(record).await } else { None }) {
            (Some(seen), Some(now)) => {
                let since = Since::withdrawn(&before, seen, &now);
                carry_over(&since.current(snapshot), record).await
            }
            _ => carry_over(snapshot, record).await,
        };
        failpoint::reach("probed").await;
        Ok(())
    };
    let checked = tokio::select! {
        result = guarded(&mut stop, checked) => result,
        loss = switch.lost() => Err(lost(loss)),
    };
    checked.map_err(|failure| AttemptFailure {
        seen: Box::new(Seen { kernel: seen.take(), profiles: profiles.clone() }),
        ..failure
    })?;

    if let Completion::Confirm { within } = request.completion {
        let checkpoint = record.checkpoint.clone().unwrap_or_default();
        confirm::open(journal, record, &checkpoint, within)?;
        let checks = checks(request.verify, &done.probes);
        say(Step::Unconfirmed { checkpoint, within, checks });
        let decided = tokio::select! {
            result = guarded(&mut stop, confirm::await_decision(record, settings, within)) => result,
            loss = switch.lost() => Err(lost(loss)),
        };
        decided.map_err(|failure| AttemptFailure {
            seen: Box::new(Seen { kernel: seen.take(), profiles: profiles.clone() }),
            ..failure
        })?;
    }

    done.notes.extend(uplinks::keep(nm, &record.plan).await);
    done.notes.extend(borrowed_names::replace(nm, &record.plan).await);
    record.turn(Phase::Committing);
    journal.update(record).map_err(|e| AttemptFailure::new(FailedStep::Journal, e.to_string()))?;
    failpoint::reach("committing").await;
    let checkpoint = match switch.state() {
        CheckpointState::Open(checkpoint) => checkpoint,
        state => return Err(lost(loss_of(&state))),
    };
    // Wound until it is answered: a NetworkManager that comes to it late must not have rolled back by then.
    nm.commit(&checkpoint).await.map_err(|e| AttemptFailure::new(FailedStep::Commit, e.to_string()))?;
    let took = switch.since().map_or(0, |s| s.elapsed().as_millis());
    drop(switch);
    done.milliseconds = u64::try_from(took).unwrap_or(u64::MAX);
    failpoint::reach("committed").await;
    Ok(done)
}

/// Returns what could not be preserved.
async fn carry_over(snapshot: &Snapshot, record: &Record) -> Vec<String> {
    let mut notes = carry::carry(snapshot, &record.plan, &record.desired).await;
    notes.extend(unmanaged::reattach(&record.plan, &record.desired, &snapshot.state).await);
    closed_ports::open(&snapshot.state, &record.desired).await;
    notes
}

/// What is on the interfaces of the change now; None: the kernel does not answer.
async fn kernel(record: &Record) -> Option<Kernel> {
    let names = record.plan.touched.iter().map(ToString::to_string).collect();
    Kernel::read(&names).await.inspect_err(|e| tracing::warn!(error = %e, "cannot see what others do")).ok()
}

/// nmstate's part runs in its own process.
async fn start_worker(context: &Context<'_>, record: &Record) -> Result<Worker, AttemptFailure> {
    let whole = linesman_core::plan::applicable(&record.desired, &context.snapshot.state);
    let mut wanted = desired::changed_only(&whole, &record.plan, &context.snapshot.state);
    linesman_core::plan::declare_ports_of_leaving(&mut wanted, &record.plan, &context.snapshot.state);
    orphan::release(&mut wanted, &context.snapshot.state, &context.snapshot.profiles);
    if context.request.options.override_interface {
        linesman_core::plan::detach_ports(&mut wanted, &record.plan);
    }
    let dead_man = dead_man_while_applying(context.settings, record);
    let limit = context.settings.limit;
    let verify = linesman_core::plan::makes_and_uses_functions(&wanted, &context.snapshot.state);
    let (options, arguments) = (context.request.options, &context.settings.worker_arguments);
    let start = Worker::start(&wanted, dead_man, options, verify, arguments);
    match tokio::time::timeout(limit, start).await {
        Ok(started) => started.map_err(|e| AttemptFailure::new(FailedStep::Apply, e.to_string())),
        Err(_) => Err(too_long(limit)),
    }
}

fn too_long(limit: Duration) -> AttemptFailure {
    AttemptFailure {
        code: failures::TOO_LONG,
        ..AttemptFailure::new(FailedStep::Apply, format!("not finished within {} s", limit.as_secs()))
    }
}

/// What nmstate has to say; `beside` is done while it is at work, as far as it comes.
async fn reply_of(
    worker: &mut Worker,
    limit: Duration,
    beside: impl Future<Output = ()>,
) -> Result<WorkerReply, AttemptFailure> {
    let reply = async {
        let mut reply = std::pin::pin!(worker.reply());
        tokio::select! {
            reply = &mut reply => return reply,
            () = beside => {}
        }
        reply.await
    };
    tokio::time::timeout(limit, reply).await.map_err(|_| too_long(limit))
}

/// How long nmstate may take to say why it failed. It rolls back first, and then waits for its own rollback.
const ERROR_AFTER_ROLLBACK: Duration = Duration::from_secs(30);

/// The checkpoint is gone while nmstate is at it.
async fn reply_after_loss(worker: &mut Worker, loss: Loss) -> Result<WorkerReply, AttemptFailure> {
    let limit = match loss {
        Loss::Ended => ERROR_AFTER_ROLLBACK,
        // Whatever nmstate has to say then, this is the reason.
        Loss::Restarted | Loss::RanOut { .. } => return Err(lost(loss)),
    };
    match tokio::time::timeout(limit, worker.reply()).await {
        Ok(reply) if reply.error.is_some() => Ok(reply),
        _ => Err(lost(loss)),
    }
}

async fn holds(context: &Context<'_>, watch: &Watch, record: &Record) -> Result<(), AttemptFailure> {
    let (nm, settle) = (&context.loaded.nm, context.settings.settle);
    let differences = |now: &serde_json::Value| {
        let mut differing = linesman_core::verify::verify(&record.desired, &context.snapshot.state, now);
        differing.extend(linesman_core::plan::left_behind(&record.plan, now));
        differing
    };
    let holds = |limit| verify::settle(nm, watch, limit, Scope::Declared(&record.desired), differences);
    let mut verification = holds(settle).await;
    let longer = context.patience.saturating_sub(settle);
    if let Verification::Differs(missing) = &verification
        && record.plan.awaits_partner(missing)
        && !longer.is_zero()
    {
        verification = holds(longer).await;
    }
    match verification {
        Verification::Holds => Ok(()),
        Verification::Unobservable(why) => Err(AttemptFailure::new(FailedStep::Verify, why)),
        Verification::Differs(differences) => {
            let first = differences.first().map(ToString::to_string).unwrap_or_default();
            let more = match differences.len() {
                0 | 1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            Err(AttemptFailure {
                differences,
                ..AttemptFailure::new(FailedStep::Verify, format!("{first}{more}"))
            })
        }
    }
}

async fn probes_pass(context: &Context<'_>, watch: &Watch) -> Result<Vec<ProbeResult>, AttemptFailure> {
    let patience = context.patience;
    let wake = async || watch.next().await;
    let cluster = &context.settings.cluster;
    let of_others = context.snapshot.foreign.iter().map(|held| held.ip);
    let not_from: Vec<IpAddr> = of_others.filter(|ip| !context.sources.contains(ip)).collect();
    let probes = context.probes.iter().map(|probe| Probe { not_from: not_from.clone(), ..probe.clone() });
    let probes: Vec<Probe> = probes.collect();
    let after = probe::wait_until_pass(&probes, context.before, cluster, patience, wake).await;
    match probe::assess(context.before, &after).reason() {
        None => Ok(after),
        Some(reason) => {
            let reason = format!("{reason} (patience {} s)", patience.as_secs());
            Err(AttemptFailure { probes: after, ..AttemptFailure::new(FailedStep::Probe, reason) })
        }
    }
}

async fn checkpoint_of(switch: &DeadManSwitch, nm: &Nm) -> Option<String> {
    match switch.state() {
        CheckpointState::Open(path) => Some(path),
        CheckpointState::Lost(_) => None,
        // The signal may still be on its way.
        CheckpointState::Awaited => {
            let end = Instant::now() + Duration::from_secs(2);
            while Instant::now() < end {
                if let CheckpointState::Open(path) = switch.state() {
                    return Some(path);
                }
                if nm.checkpoints().await.is_ok_and(|open| open.is_empty()) {
                    return None;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            None
        }
    }
}

/// Ends early when somebody wants to stop.
async fn guarded<T>(
    stop: &mut watch::Receiver<bool>,
    work: impl Future<Output = Result<T, AttemptFailure>>,
) -> Result<T, AttemptFailure> {
    let stopped = async {
        if stop.wait_for(|s| *s).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = work => result,
        () = stopped => Err(interrupted()),
    }
}

fn interrupted() -> AttemptFailure {
    AttemptFailure::new(FailedStep::Interrupted, "linesman was stopped before the change was committed")
}

/// It was never seen, or is gone.
fn loss_of(state: &CheckpointState) -> Loss {
    if let CheckpointState::Lost(loss) = state { *loss } else { Loss::Ended }
}

fn lost(loss: Loss) -> AttemptFailure {
    let reason = match loss {
        Loss::Restarted => {
            "NetworkManager was restarted during the change and lost the checkpoint".to_owned()
        }
        Loss::RanOut { after } => format!(
            "NetworkManager was busy for {} s and rolled the change back, because it had not heard of linesman in time; \
             LINESMAN_DEAD_MAN sets a longer time",
            after.as_secs()
        ),
        Loss::Ended => {
            "nmstate or another program ended the NetworkManager checkpoint of the change".to_owned()
        }
    };
    AttemptFailure::new(FailedStep::Checkpoint, reason)
}

/// What NetworkManager and Open vSwitch may take to answer beside what is waited for.
const SLACK: Duration = Duration::from_secs(60);

/// How long the change may be held open once it is applied. Each wait has its own limit; this is for one that hangs.
fn longest_check(Context { request, settings, patience, .. }: &Context<'_>) -> Duration {
    let confirmation = match request.completion {
        Completion::Commit => Duration::ZERO,
        Completion::Confirm { within } => within,
    };
    // Twice: addresses wait for the partner of a bond, then probes.
    settings.limit + settings.settle + *patience * 2 + confirmation + SLACK
}

/// NetworkManager's timer runs out before it reads that it was wound, if it is busy with the change
/// itself: making a hundred bridges on a loaded host takes it longer than its usual leash.
fn dead_man_while_applying(settings: &Settings, record: &Record) -> Duration {
    const EACH: Duration = Duration::from_millis(250);
    settings.dead_man + EACH * u32::try_from(record.plan.changes.len()).unwrap_or(u32::MAX)
}
