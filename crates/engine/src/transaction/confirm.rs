//! Changes that wait for a confirmation: `--try`, `--no-commit`, and the verbs `commit` and `rollback`.
//!
//! The process that made the change holds it, winds its checkpoint and waits; the verbs leave their
//! decision in a file for it. Only where that process is gone do they act themselves.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::{AttemptFailure, Settings};
use crate::journal::{Journal, Phase, Record};
use crate::lock::HostLock;
use crate::nm::Nm;
use crate::{Error, Result, atomic_file, recover};
use linesman_core::outcome::FailedStep;
use linesman_core::outcome::{Outcome, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Commit,
    Rollback,
}

impl Decision {
    /// In the file by which the owner of the change learns of it.
    fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Rollback => "rollback",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Rollback => "roll back",
        }
    }
}

/// From here on the verbs find the change; only then may it be reported as waiting.
pub(super) fn open(
    journal: &Journal,
    record: &mut Record,
    checkpoint: &str,
    within: Duration,
) -> Result<(), AttemptFailure> {
    let until = humantime::format_rfc3339_seconds(SystemTime::now() + within).to_string();
    record.turn(Phase::Pending { until, checkpoint: checkpoint.to_string() });
    journal.update(record).map_err(|e| AttemptFailure::new(FailedStep::Journal, e.to_string()))
}

pub(super) async fn await_decision(
    record: &Record,
    settings: &Settings,
    within: Duration,
) -> Result<(), AttemptFailure> {
    let file = decision_file(&settings.run_dir, &record.id);
    let end = Instant::now() + within;
    while Instant::now() < end {
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        let decisions = [Decision::Commit, Decision::Rollback];
        match decisions.into_iter().find(|decision| decision.as_str() == written) {
            Some(Decision::Commit) => {
                std::fs::remove_file(&file).ok();
                return Ok(());
            }
            Some(Decision::Rollback) => {
                std::fs::remove_file(&file).ok();
                return Err(AttemptFailure::new(FailedStep::Confirm, "rolled back by `linesman rollback`"));
            }
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Err(AttemptFailure::new(FailedStep::Confirm, format!("not confirmed within {} s", within.as_secs())))
}

/// Confirms the change of this process's own record, or of another's.
pub fn decide(run_dir: &Path, id: &str, decision: Decision) -> Result<()> {
    let file = decision_file(run_dir, id);
    atomic_file::write(&file, decision.as_str().as_bytes(), 0o600)
        .map_err(|source| Error::Journal { dir: run_dir.display().to_string(), source })
}

fn decision_file(run_dir: &Path, id: &str) -> PathBuf {
    run_dir.join(format!("decision-{id}"))
}

pub async fn commit(settings: &Settings, checkpoint: Option<&str>) -> Result<Outcome> {
    end(settings, checkpoint, Decision::Commit).await
}

pub async fn rollback(settings: &Settings, checkpoint: Option<&str>) -> Result<Outcome> {
    end(settings, checkpoint, Decision::Rollback).await
}

/// Whoever holds the lock may only be waiting: then the remedy is another.
pub(super) fn or_unconfirmed(error: Error, journal: &Journal) -> Error {
    match (error, journal.pending().map(|record| (record.source, record.phase))) {
        (Error::Busy { .. }, Some((what, Phase::Pending { until, .. }))) => {
            Error::Unconfirmed { what, until }
        }
        (error, _) => error,
    }
}

/// Where the journal cannot be written, whoever asked for the end of a change must still learn how it ended.
pub(super) fn leave_outcome(run_dir: &Path, id: &str, outcome: &Outcome) {
    if let Ok(text) = serde_json::to_vec(outcome) {
        atomic_file::write(&outcome_file(run_dir, id), &text, 0o600).ok();
    }
}

fn left_outcome(run_dir: &Path, id: &str) -> Option<Outcome> {
    let file = outcome_file(run_dir, id);
    let outcome = serde_json::from_slice(&std::fs::read(&file).ok()?).ok();
    std::fs::remove_file(&file).ok();
    outcome
}

fn outcome_file(run_dir: &Path, id: &str) -> PathBuf {
    run_dir.join(format!("outcome-{id}"))
}

async fn end(settings: &Settings, checkpoint: Option<&str>, decision: Decision) -> Result<Outcome> {
    let journal = Journal::new(&settings.state_dir);
    let ours = journal.unfinished().into_iter().rev().find(|r| match &r.phase {
        Phase::Pending { checkpoint: held, .. } => {
            checkpoint.is_none_or(|asked| asked == held || asked == r.id)
        }
        _ => false,
    });
    let Some(record) = ours else {
        // A checkpoint of a change that is under way looks like anybody's, and is its owner's to end.
        let _lock = HostLock::take(&settings.run_dir)?;
        return end_foreign(checkpoint, decision).await;
    };
    decide(&settings.run_dir, &record.id, decision)?;
    if let Some(outcome) = wait_for_owner(&journal, settings, &record.id).await {
        return Ok(outcome);
    }
    // Its owner is gone: NetworkManager is about to roll back by itself, or already has.
    std::fs::remove_file(decision_file(&settings.run_dir, &record.id)).ok();
    let _lock = HostLock::take(&settings.run_dir)?;
    recover::finish_pending(&journal, &settings.cluster, record, decision).await
}

/// How long an owner may hold the host once its change has ended; after that, another change is on.
const LET_GO: Duration = Duration::from_secs(5);

/// None: nobody holds the change any more.
///
/// Returns only once the owner has let go of the host, so that the next change need not wait.
async fn wait_for_owner(journal: &Journal, settings: &Settings, id: &str) -> Option<Outcome> {
    let outcome = || journal.records().into_iter().find(|r| r.id == id).and_then(|r| r.outcome);
    let mut ended = None;
    // How long a rollback takes is its own affair; the kernel frees the lock of an owner that died.
    while matches!(HostLock::take(&settings.run_dir), Err(Error::Busy { .. })) {
        if !journal.is_unfinished(id) && ended.get_or_insert_with(Instant::now).elapsed() > LET_GO {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    outcome().or_else(|| left_outcome(&settings.run_dir, id))
}

/// A checkpoint that another program made, or nmstatectl did.
async fn end_foreign(checkpoint: Option<&str>, decision: Decision) -> Result<Outcome> {
    let nm = Nm::connect().await?;
    let open = nm.checkpoints().await?;
    let path = match checkpoint {
        Some(asked) => open.into_iter().find(|c| c == asked),
        None => open.into_iter().next(),
    };
    let Some(path) = path else { return Err(Error::NoCheckpoint { verb: decision.verb() }) };
    match decision {
        Decision::Commit => {
            nm.commit(&path).await?;
            Ok(Outcome { checkpoint: Some(path), ..Outcome::committed() })
        }
        Decision::Rollback => {
            let failed = nm.rollback(&path).await?;
            let remaining: Vec<String> =
                failed.into_iter().map(|(device, why)| format!("{device}: {why}")).collect();
            let verdict = if remaining.is_empty() { Verdict::RolledBack } else { Verdict::Incomplete };
            Ok(Outcome { checkpoint: Some(path), remaining, ..Outcome::new(verdict) })
        }
    }
}
