//! Finishing what an earlier process began: after a kill, a crash, a power cut.

use std::time::{Duration, Instant};

use linesman_core::codes::failures;

use crate::error::Category;
use crate::journal::{Journal, Phase, Record, boot_id};
use crate::nm::Nm;
use crate::probe::{Cluster, ProbeResult};
use crate::snapshot::Snapshot;
use crate::transaction::{Decision, back, borrowed_names, carry, unmanaged, uplinks};
use crate::verify::{self, Scope};
use crate::watch::Watch;
use crate::{Error, Result, adopt, failpoint, restore};
use linesman_core::outcome::{FailedStep, Outcome, ProbeResults, Verdict};
use linesman_core::probe::DEFAULT_PATIENCE;

/// How long a change that was as good as committed may take to be there.
const SETTLE: Duration = Duration::from_secs(12);

const NOT_COMMITTED: &str = "linesman or the host stopped before the change was committed";

/// What is wanted of an unfinished change. Pure.
#[derive(Debug, PartialEq, Eq)]
enum Want {
    /// Nothing was changed: only record that.
    Abandon,
    /// The new state, if it is there; else the old one.
    NewIfHolds,
    Old {
        step: FailedStep,
        reason: String,
    },
    /// Somebody may still confirm it.
    Leave,
}

fn want(record: &Record, boot: &str, open_checkpoints: &[String]) -> Want {
    let interrupted = |reason: &str| Want::Old { step: FailedStep::Interrupted, reason: reason.to_string() };
    match &record.phase {
        Phase::Prepared => Want::Abandon,
        Phase::Applying => interrupted("linesman or the host stopped during the change"),
        Phase::RollingBack { reason } => interrupted(reason),
        Phase::Committing => Want::NewIfHolds,
        Phase::Pending { checkpoint, .. } if record.boot == boot && open_checkpoints.contains(checkpoint) => {
            Want::Leave
        }
        Phase::Pending { .. } => Want::Old { step: FailedStep::Confirm, reason: "not confirmed".to_string() },
        Phase::Done => Want::Leave,
    }
}

/// Before a new change begins: earlier ones come to their end. Call with the host's lock held.
pub async fn finish_earlier(journal: &Journal, cluster: &Cluster) -> Result<()> {
    journal.check_versions()?;
    for record in journal.unfinished() {
        let (id, source) = (record.id.clone(), record.source.clone());
        match finish(journal, cluster, record).await? {
            Some(outcome) => {
                tracing::info!(change = id, source, verdict = ?outcome.verdict, "an earlier change was interrupted and is finished now");
                close(journal, &id, outcome).await?;
            }
            None => {
                let until = match journal.records().into_iter().find(|r| r.id == id).map(|r| r.phase) {
                    Some(Phase::Pending { until, .. }) => until,
                    _ => continue,
                };
                return Err(Error::Unconfirmed { what: source, until });
            }
        }
    }
    Ok(())
}

/// A change that still waits for Open vSwitch ends here: to roll it back after the next one
/// was made would undo that, too. Without NetworkManager there is no next one.
async fn close(journal: &Journal, id: &str, outcome: Outcome) -> Result<()> {
    if outcome.verdict == Verdict::Incomplete {
        tracing::warn!(
            change = id,
            remaining = outcome.remaining.join("; "),
            "an earlier change was not rolled back completely"
        );
    }
    if let Some(mut open) = journal.unfinished().into_iter().find(|r| r.id == id) {
        Nm::connect().await?;
        journal.finish(&mut open, outcome)?;
    }
    Ok(())
}

/// Finishes one; None if it may still be confirmed.
pub async fn finish(journal: &Journal, cluster: &Cluster, mut record: Record) -> Result<Option<Outcome>> {
    let open = match &record.phase {
        Phase::Prepared => Vec::new(),
        _ => match restore::networkmanager_within(None, Duration::from_secs(30)).await {
            Ok(nm) => nm.checkpoints().await.unwrap_or_default(),
            Err(_) => Vec::new(),
        },
    };
    failpoint::reach("recovering").await;
    match want(&record, &boot_id(), &open) {
        Want::Leave => Ok(None),
        Want::Abandon => {
            let outcome = Outcome {
                code: Some(failures::INTERRUPTED.to_string()),
                ..Outcome::abandoned(Category::Transient, "interrupted before anything was changed")
            };
            journal.finish(&mut record, outcome.clone())?;
            Ok(Some(outcome))
        }
        Want::NewIfHolds => commit_if_it_holds(journal, cluster, record).await.map(Some),
        Want::Old { step, reason } => roll_back(journal, cluster, record, step, reason).await.map(Some),
    }
}

/// A pending change whose owner is gone.
pub(crate) async fn finish_pending(
    journal: &Journal,
    cluster: &Cluster,
    record: Record,
    decision: Decision,
) -> Result<Outcome> {
    match decision {
        Decision::Commit => commit_if_it_holds(journal, cluster, record).await,
        Decision::Rollback => {
            let reason = "rolled back by `linesman rollback`".to_string();
            roll_back(journal, cluster, record, FailedStep::Confirm, reason).await
        }
    }
}

async fn commit_if_it_holds(journal: &Journal, cluster: &Cluster, mut record: Record) -> Result<Outcome> {
    let step = FailedStep::Interrupted;
    let Ok(snapshot) = snapshot_of(journal, &record) else {
        return roll_back(journal, cluster, record, step, NOT_COMMITTED.to_string()).await;
    };
    let nm = Nm::connect().await?;
    let watch = Watch::start(Some(&nm)).await;
    let desired = &record.desired;
    let differences = |now: &serde_json::Value| linesman_core::verify::verify(desired, &snapshot.state, now);
    started(&nm, &watch).await;
    adopt::adopt(&nm, &watch, &record.plan.touched).await?;
    let verification = verify::settle(&nm, &watch, SETTLE, Scope::Declared(desired), differences).await;
    if !matches!(verification, verify::Verification::Holds) {
        return roll_back(journal, cluster, record, step, NOT_COMMITTED.to_string()).await;
    }
    let open = nm.checkpoints().await?;
    if let Some(checkpoint) = record.checkpoint.as_ref().filter(|c| open.contains(c)) {
        nm.commit(checkpoint).await?;
    }
    let mut notes = vec!["finished after an interruption".to_string()];
    notes.extend(carry::carry(&snapshot, &record.plan, &record.desired).await);
    notes.extend(unmanaged::reattach(&record.plan, &record.desired, &snapshot.state).await);
    notes.extend(uplinks::keep(&nm, &record.plan).await);
    notes.extend(borrowed_names::replace(&nm, &record.plan).await);
    let outcome = Outcome { notes, ..Outcome::committed() };
    Ok(recorded(journal, &mut record, outcome))
}

/// A NetworkManager that dies right after a commit may not recognise what it had not quite activated: a bridge that waits for its
/// carrier. True if something of the last change was activated again.
pub async fn adopt_last(journal: &Journal) -> Result<bool> {
    let committed = |record: &Record| {
        let outcome = record.outcome.as_ref();
        record.boot == boot_id() && outcome.is_some_and(|outcome| outcome.verdict == Verdict::Committed)
    };
    let Some(last) = journal.records().into_iter().last().filter(committed) else { return Ok(false) };
    // Its unit runs again when NetworkManager does.
    let Ok(nm) = Nm::connect().await else { return Ok(false) };
    let watch = Watch::start(Some(&nm)).await;
    started(&nm, &watch).await;
    adopt::adopt(&nm, &watch, &last.plan.touched).await
}

/// What holds while NetworkManager starts need not hold a moment later: it may find that a port is not its own,
/// and release it.
async fn started(nm: &Nm, watch: &Watch) {
    let end = Instant::now() + SETTLE;
    while nm.starting().await && Instant::now() < end {
        watch.next().await;
    }
}

async fn roll_back(
    journal: &Journal,
    cluster: &Cluster,
    mut record: Record,
    step: FailedStep,
    reason: String,
) -> Result<Outcome> {
    let snapshot = match snapshot_of(journal, &record) {
        Ok(snapshot) => snapshot,
        Err(error) if error.is_lost_file() => {
            return roll_back_checkpoint(journal, record, step, reason, &error).await;
        }
        Err(error) => return Err(error),
    };
    record.turn(Phase::RollingBack { reason: reason.clone() });
    journal.update(&record).ok();
    let mut restored = restore::restore(
        None,
        &snapshot,
        &record.plan,
        &record.desired,
        record.checkpoint.as_deref(),
        None,
        None,
    )
    .await;
    let after_rollback = await_former(cluster, &record, &snapshot, &mut restored).await;
    let verdict = if restored.remaining.is_empty() { Verdict::RolledBack } else { Verdict::Incomplete };
    let category = if verdict == Verdict::RolledBack { Category::RolledBack } else { Category::Incomplete };
    let code = if verdict == Verdict::RolledBack { step.code() } else { failures::NOT_BACK };
    let outcome = Outcome {
        category: Some(category),
        code: Some(code.to_string()),
        step: Some(step),
        reason: Some(reason),
        remaining: restored.remaining,
        notes: restored.notes,
        probes: ProbeResults { before: record.before.clone(), after_rollback, ..ProbeResults::default() },
        ..Outcome::new(verdict)
    };
    Ok(if restored.unfinished { outcome } else { recorded(journal, &mut record, outcome) })
}

fn snapshot_of(journal: &Journal, record: &Record) -> Result<Snapshot> {
    let snapshot = journal.snapshot(&record.id)?;
    Ok(if record.boot == boot_id() { snapshot } else { snapshot.of_earlier_boot() })
}

/// The cluster is asked only where it can be, and not at boot: its part of this host starts when it starts.
async fn await_former(
    cluster: &Cluster,
    record: &Record,
    snapshot: &Snapshot,
    restored: &mut restore::Restored,
) -> Vec<ProbeResult> {
    let asks_cluster = cluster.is_some() && record.boot == boot_id();
    let before = record.before.iter().filter(|result| asks_cluster || !result.probe.needs_cluster());
    let before: Vec<ProbeResult> = before.cloned().collect();
    let nm = Nm::connect().await.ok();
    let former =
        back::Former { nm: nm.as_ref(), snapshot, touched: &record.plan.touched, before: &before, cluster };
    former.wait(DEFAULT_PATIENCE, restored).await
}

/// What was done to the host is reported, whether or not it could be written down.
fn recorded(journal: &Journal, record: &mut Record, mut outcome: Outcome) -> Outcome {
    if let Err(error) = journal.finish(record, outcome.clone()) {
        tracing::error!(change = record.id, %error, "cannot write the journal");
        outcome.notes.push(format!("{error}; the journal still lists this change as unfinished"));
    }
    outcome
}

/// Without a snapshot there is only NetworkManager's checkpoint, if it is still open. Whether all is as before, nobody can say.
async fn roll_back_checkpoint(
    journal: &Journal,
    mut record: Record,
    step: FailedStep,
    reason: String,
    error: &Error,
) -> Result<Outcome> {
    let nm = Nm::connect().await?;
    let open = nm.checkpoints().await?;
    let rolled_back = match record.checkpoint.as_ref().filter(|checkpoint| open.contains(checkpoint)) {
        Some(checkpoint) => nm.rollback(checkpoint).await.is_ok(),
        None => false,
    };
    let done = if rolled_back { "NetworkManager rolled back its part" } else { "nothing was rolled back" };
    let outcome = Outcome {
        category: Some(Category::Incomplete),
        code: Some(failures::NOT_BACK.to_string()),
        step: Some(step),
        reason: Some(reason),
        remaining: vec![format!("{error}; {done}; check the network of this host")],
        ..Outcome::new(Verdict::Incomplete)
    };
    journal.set_snapshot_aside(&record.id);
    record.turn(Phase::RollingBack { reason: outcome.reason.clone().unwrap_or_default() });
    journal.finish(&mut record, outcome.clone())?;
    Ok(outcome)
}

/// Before NetworkManager starts at boot: the former profiles are put in place, so that the host comes
/// up in its former state at once. The rest is finished when NetworkManager runs.
pub fn before_networkmanager(journal: &Journal) -> Result<usize> {
    journal.check_versions()?;
    let mut restored = 0;
    for mut record in journal.unfinished() {
        let Want::Old { reason, .. } = want(&record, &boot_id(), &[]) else { continue };
        let snapshot = match snapshot_of(journal, &record) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                tracing::error!(change = record.id, %error, "the former profiles cannot be restored");
                continue;
            }
        };
        restore::offline(&snapshot, &record.plan).map_err(|e| Error::call("writing profiles back", e))?;
        record.turn(Phase::RollingBack { reason });
        journal.update(&record)?;
        restored += 1;
    }
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::plan::Plan;

    fn record(phase: Phase) -> Record {
        Record { phase, boot: "this".into(), ..Record::new("f", Plan::default(), serde_json::Value::Null) }
    }

    #[test]
    fn what_recovery_wants_follows_from_the_phase() {
        let old = |r: &str| Want::Old { step: FailedStep::Interrupted, reason: r.to_string() };
        let not_confirmed = || Want::Old { step: FailedStep::Confirm, reason: "not confirmed".to_string() };
        let pending = Phase::Pending { until: String::new(), checkpoint: "/c/1".into() };
        let open = ["/c/1".to_string()];
        assert_eq!(want(&record(Phase::Prepared), "this", &[]), Want::Abandon);
        assert_eq!(
            want(&record(Phase::Applying), "this", &[]),
            old("linesman or the host stopped during the change")
        );
        assert_eq!(want(&record(Phase::Committing), "this", &[]), Want::NewIfHolds);
        assert_eq!(want(&record(Phase::RollingBack { reason: "x".into() }), "this", &[]), old("x"));
        assert_eq!(want(&record(pending.clone()), "this", &open), Want::Leave);
        assert_eq!(want(&record(pending.clone()), "this", &[]), not_confirmed());
        assert_eq!(want(&record(pending), "other", &open), not_confirmed());
    }
}
