//! The transaction, or a comparison.

use std::time::{Duration, Instant};

use linesman_core::outcome::Outcome;
use linesman_core::plan::{Change, Plan};
use linesman_core::probe::required;
use linesman_day1::first_boot::{Cause, OnChange};
use linesman_engine::transaction::{self, Refusal, Request, Session, Settings};
use linesman_engine::{Category, Error};
use serde_json::Value;
use tokio::sync::watch;

use super::documents::Document;
use super::{Options, Progress};
use crate::act::refused;

const PAUSE: Duration = Duration::from_millis(500);

pub fn unfit(reason: impl Into<String>) -> Outcome {
    Outcome::abandoned(Category::Input, reason)
}

pub fn request(document: &Document, state: Value, options: &Options) -> Request {
    let policy = &document.policy;
    let mut request = Request::new(document.file.clone(), state);
    request.capture.clone_from(&policy.capture);
    if let Ok(required) = required(std::iter::once(&policy.options), false) {
        (request.patience, request.patience_grows) = (required.patience, required.patience_grows);
        if policy.options.probes.is_some() {
            request.probes = Some(required.probes);
        }
    }
    if let Some(patience) = options.patience {
        (request.patience, request.patience_grows) = (patience, false);
    }
    request
}

/// Somebody else may be changing the host, such as the recovery of an interrupted change: that is waited for.
pub async fn apply(
    request: &Request,
    options: &Options,
    settings: &Settings,
    mut stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
) -> Outcome {
    let deadline = Instant::now() + options.wait;
    loop {
        let ended = attempt(request, settings, stop.clone(), say).await;
        let is_busy = matches!(&ended, Err(Refusal::Host(Error::Busy { .. } | Error::Unconfirmed { .. })));
        if !is_busy || Instant::now() > deadline {
            return ended.unwrap_or_else(refused);
        }
        if tokio::time::timeout(PAUSE, stop.wait_for(|stop| *stop)).await.is_ok() {
            return refused(Error::Interrupted.into());
        }
    }
}

async fn attempt(
    request: &Request,
    settings: &Settings,
    stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
) -> Result<Outcome, Refusal> {
    let session = Session::begin(settings).await?;
    session.apply(request, settings, stop, &mut |step| say(Progress::Step(Box::new(step)))).await
}

/// What differs from the document; the host is only read.
pub async fn compare(request: &Request) -> Result<Plan, Box<Outcome>> {
    let planned = async { transaction::plan(request, transaction::load().await?).await };
    planned.await.map_err(|refusal| Box::new(refused(refusal)))
}

/// Of a document that the host does not follow.
pub fn not_live(plan: &Plan, cause: &Cause, options: &Options) -> String {
    let next = match (cause, options.on_change) {
        (Cause::Changed, OnChange::Report) => "change this host with a policy",
        _ => "it is applied at the next boot",
    };
    let subjects: Vec<String> = plan.changes.iter().map(Change::title).collect();
    format!("written, not live: {} would change; {next}", subjects.join(", "))
}
