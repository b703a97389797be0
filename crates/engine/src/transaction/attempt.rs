//! From the first touch to the commit. Every way out but the last is a setback.

use std::time::{Duration, Instant};

use linesman_core::codes::endings;
use tokio::sync::watch;

use super::{Ending, Loaded, Request, Setback, Settings, Step, carry, confirm, persist, stale_dns};
use crate::journal::{Journal, Phase, Record};
use crate::nm::Nm;
use crate::probe::{self, Probe, Report};
use crate::snapshot::Snapshot;
use crate::switch::{State, Switch};
use crate::verify::{self, Look, Verdict};
use crate::watch::Watch;
use crate::worker::{self, Worker};
use crate::{desired, failpoint};

pub struct Context<'a> {
    pub request: &'a Request,
    pub settings: &'a Settings,
    pub loaded: &'a Loaded,
    pub snapshot: &'a Snapshot,
    pub before: &'a [Report],
    pub probes: &'a [Probe],
}

#[derive(Debug, Default)]
pub struct Done {
    pub probes: Vec<Report>,
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
) -> Result<Done, Setback> {
    let Context { request, settings, loaded, snapshot, .. } = context;
    let nm = &loaded.nm;
    let watch = Watch::start(Some(nm)).await;
    let known = nm.checkpoints().await.map_err(|e| Setback::new("checkpoint", e.to_string()))?;
    let mut switch = Switch::arm(nm, known, dead_man_while_applying(settings, record))
        .await
        .map_err(|e| Setback::new("checkpoint", e.to_string()))?;

    // From here on recovery assumes that anything may have been touched.
    record.turn(Phase::Applying);
    if let Err(e) = journal.update(record) {
        record.phase = Phase::Prepared;
        return Err(Setback::new("journal", e.to_string()));
    }
    failpoint::reach("applying").await;
    say(Step::Applying);
    stale_dns::take_out(nm, &loaded.profiles, &record.desired)
        .await
        .map_err(|e| Setback::new("apply", e.to_string()))?;
    let report = match start_worker(context, record).await {
        Err(setback) => Err(setback),
        Ok(mut worker) => {
            let report = tokio::select! {
                report = guarded(&mut stop, report_of(&mut worker, request.limit)) => report,
                () = switch.lost() => last_words(&mut worker).await,
            };
            // Whatever ended the wait: nothing may change any more when the way back begins.
            worker.kill().await;
            report
        }
    };
    // However the worker ended, its checkpoint must be known for the way back.
    record.checkpoint = checkpoint_of(&switch, nm).await;
    let report = report?;
    if let Some(error) = report.error {
        return Err(Setback::new("apply", error));
    }
    if record.checkpoint.is_none() {
        return Err(lost());
    }
    switch.tighten(settings.dead_man);
    failpoint::reach("applied").await;

    let mut done = Done { worker_peak_kib: report.peak_kib, ..Done::default() };
    let judged = async {
        done.notes = carry::carry(snapshot, &record.plan, &record.desired).await;
        say(Step::Verifying);
        if request.verify {
            holds(nm, settings.settle, &watch, record, snapshot).await?;
            persist::check(nm, &record.desired, request.manner)
                .await
                .map_err(|e| Setback::new("persist", e))?;
        }
        failpoint::reach("verified").await;
        say(Step::Probing);
        done.probes = probes_pass(context, &watch).await?;
        // What took addresses over may not have had its own at the first try, and a daemon that died
        // since has made its devices anew.
        done.notes = carry::carry(snapshot, &record.plan, &record.desired).await;
        failpoint::reach("probed").await;
        Ok(())
    };
    tokio::select! {
        result = guarded(&mut stop, judged) => result?,
        () = switch.lost() => return Err(lost()),
    }

    if let Ending::Confirm { within } = request.ending {
        let checkpoint = record.checkpoint.clone().unwrap_or_default();
        confirm::open(journal, record, &checkpoint, within)?;
        say(Step::Unconfirmed { checkpoint, within });
        tokio::select! {
            result = guarded(&mut stop, confirm::await_decision(record, settings, within)) => result?,
            () = switch.lost() => return Err(lost()),
        }
    }

    record.turn(Phase::Committing);
    journal.update(record).map_err(|e| Setback::new("journal", e.to_string()))?;
    failpoint::reach("committing").await;
    let since = switch.since();
    let State::Open(checkpoint) = switch.release() else { return Err(lost()) };
    nm.commit(&checkpoint).await.map_err(|e| Setback::new("commit", e.to_string()))?;
    done.milliseconds = since.map_or(0, |s| u64::try_from(s.elapsed().as_millis()).unwrap_or(u64::MAX));
    failpoint::reach("committed").await;
    Ok(done)
}

/// nmstate's part runs in its own process.
async fn start_worker(context: &Context<'_>, record: &Record) -> Result<Worker, Setback> {
    let whole = linesman_core::plan::applicable(&record.desired, &context.snapshot.state);
    let wanted = desired::changed_only(&whole, &record.plan);
    Worker::start(&wanted, dead_man_while_applying(context.settings, record), context.request.manner)
        .await
        .map_err(|e| Setback::new("apply", e.to_string()))
}

async fn report_of(worker: &mut Worker, limit: Duration) -> Result<worker::Report, Setback> {
    tokio::time::timeout(limit, worker.report()).await.map_err(|_| Setback {
        code: endings::TOO_LONG,
        ..Setback::new("apply", format!("not done within {} s", limit.as_secs()))
    })
}

/// The checkpoint is gone while nmstate is at it: nmstate itself rolled back and is about to say why, or
/// NetworkManager did.
async fn last_words(worker: &mut Worker) -> Result<worker::Report, Setback> {
    match tokio::time::timeout(Duration::from_secs(1), worker.report()).await {
        Ok(report) if report.error.is_some() => Ok(report),
        _ => Err(lost()),
    }
}

async fn holds(
    nm: &Nm,
    settle: Duration,
    watch: &Watch,
    record: &Record,
    snapshot: &Snapshot,
) -> Result<(), Setback> {
    let judge =
        |now: &serde_json::Value| linesman_core::verify::verify(&record.desired, &snapshot.state, now);
    match verify::settle(nm, watch, settle, Look::Declared(&record.desired), judge).await {
        Verdict::Holds => Ok(()),
        Verdict::Blind(why) => Err(Setback::new("verify", why)),
        Verdict::Differs(differences) => {
            let first = differences.first().map(ToString::to_string).unwrap_or_default();
            let more = match differences.len() {
                0 | 1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            Err(Setback { differences, ..Setback::new("verify", format!("{first}{more}")) })
        }
    }
}

async fn probes_pass(context: &Context<'_>, watch: &Watch) -> Result<Vec<Report>, Setback> {
    let patience = context.request.patience;
    let wake = async || watch.next().await;
    let cluster = &context.settings.cluster;
    let after = probe::wait_until_pass(context.probes, context.before, cluster, patience, wake).await;
    match probe::judge(context.before, &after).reason() {
        None => Ok(after),
        Some(reason) => {
            let reason = format!("{reason} (patience {} s)", patience.as_secs());
            Err(Setback { probes: after, ..Setback::new("probe", reason) })
        }
    }
}

async fn checkpoint_of(switch: &Switch, nm: &Nm) -> Option<String> {
    match switch.state() {
        State::Open(path) => Some(path),
        State::Lost(_) => None,
        // The signal may still be on its way.
        State::Awaited => {
            let end = Instant::now() + Duration::from_secs(2);
            while Instant::now() < end {
                if let State::Open(path) = switch.state() {
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
    work: impl Future<Output = Result<T, Setback>>,
) -> Result<T, Setback> {
    let stopped = async {
        if stop.wait_for(|s| *s).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = work => result,
        () = stopped => Err(Setback::new("interrupted", "interrupted before it was committed")),
    }
}

fn lost() -> Setback {
    Setback::new(
        "checkpoint",
        "NetworkManager lost the checkpoint in mid-change (it was restarted, or its timer ran out)",
    )
}

/// NetworkManager's timer runs out before it reads that it was wound, if it is busy with the change
/// itself: making a hundred bridges on a loaded host takes it longer than its usual leash.
fn dead_man_while_applying(settings: &Settings, record: &Record) -> Duration {
    const EACH: Duration = Duration::from_millis(250);
    settings.dead_man + EACH * u32::try_from(record.plan.changes.len()).unwrap_or(u32::MAX)
}
