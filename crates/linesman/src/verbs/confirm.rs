//! `linesman commit` and `linesman rollback`.

use linesman_core::outcome::{Outcome, Verdict};
use linesman_engine::transaction::{self, Settings};

use crate::cli::{CheckpointArgs, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub async fn commit(args: CheckpointArgs, format: Format, settings: &Settings) -> Exit {
    let result = transaction::commit(settings, args.checkpoint.as_deref()).await;
    report(result, format, Verdict::Committed)
}

pub async fn rollback(args: CheckpointArgs, format: Format, settings: &Settings) -> Exit {
    let result = transaction::rollback(settings, args.checkpoint.as_deref()).await;
    report(result, format, Verdict::RolledBack)
}

/// What was asked for is a success, also when that is a rollback.
fn report(result: linesman_engine::Result<Outcome>, format: Format, asked: Verdict) -> Exit {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => return Failure::from(&error).report(),
    };
    match format {
        Format::Text => super::apply::report::outcome(&outcome),
        other => output::data(other, &outcome),
    }
    if outcome.verdict == asked { Exit::Done } else { outcome.verdict.into() }
}
