//! `linesman apply`: the transaction at a shell.

mod no_commit;
mod progress;
pub mod report;
mod signals;
mod trial;
mod wait;

use std::time::Duration;

use linesman_core::check::without_cluster;
use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::probe::DEFAULT_PATIENCE;
use linesman_engine::probe::Probe;
use linesman_engine::transaction::{self, Completion, Refusal, Request, Session, Settings};
use linesman_engine::worker::ApplyOptions;
use tokio::sync::watch;

use super::captures::Kept;
use super::documents::Documents;
use crate::cli::{ApplyArgs, Format};
use crate::exit::Exit;
use crate::{output, read};

pub async fn run(args: ApplyArgs, format: Format, settings: &Settings) -> Exit {
    let holder = no_commit::is_holder();
    let read = if holder { no_commit::documents() } else { Documents::read(&args.source.files) };
    let documents = match read {
        Ok(documents) => documents,
        Err(exit) => return exit,
    };
    if args.probes.is_empty() && !args.no_probes {
        for document in documents.iter() {
            let problems = without_cluster(document);
            if !problems.is_empty() {
                return read::print(Exit::Input, &problems, document);
            }
        }
    }
    if !holder {
        super::freeze::remind(settings);
        documents.iter().for_each(|document| super::corrections::warn(document, settings));
    }
    if args.no_commit && !holder {
        return no_commit::start(&documents).await;
    }
    let limit = args.timeout.filter(|_| !args.no_commit).unwrap_or(settings.limit);
    let settings = &Settings { settle: args.settle, limit, ..settings.clone() };
    let talk = format == Format::Text && !args.quiet;
    let mut progress = progress::Progress::new(talk);
    let front = holder.then(|| no_commit::Front::new(format));
    let stop = signals::stop();
    let mut trial: Option<trial::Trial> = None;
    let result = {
        let mut say = |step: transaction::Step| {
            if let transaction::Step::Unconfirmed { checkpoint, within, .. } = &step {
                match &front {
                    Some(front) => return front.let_go(checkpoint, *within),
                    None => trial = Some(trial::Trial::start(settings, *within)),
                }
            }
            // There is nothing left to wait for.
            if matches!(step, transaction::Step::RollingBack { .. } | transaction::Step::Done) {
                trial.take().into_iter().for_each(trial::Trial::end);
            }
            progress.step(&step);
        };
        wait::attempt(args.wait, stop.clone(), async || {
            apply(&args, &documents, settings, stop.clone(), &mut say).await
        })
        .await
    };
    trial.into_iter().for_each(trial::Trial::end);
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(refusal) => return documents.refused(&refusal),
    };
    if *stop.borrow() && matches!(outcome.verdict, Verdict::Committed | Verdict::Unchanged) {
        output::error("linesman: interrupted too late; the change had already ended");
    }
    match format {
        Format::Text if args.quiet && outcome.succeeded() => {}
        Format::Text => report::outcome(&outcome),
        other => output::data(other, &outcome),
    }
    outcome.verdict.into()
}

/// What is planned and applied is about the moment at which the host was locked.
async fn apply(
    args: &ApplyArgs,
    documents: &Documents,
    settings: &Settings,
    stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(transaction::Step),
) -> Result<Outcome, Refusal> {
    let session = Session::begin(settings).await?;
    let wanted = documents.request(session.loaded(), &Kept::read(settings), args.protect)?;
    let request = request(args, documents, wanted);
    session.apply(&request, settings, stop, say).await
}

fn request(args: &ApplyArgs, documents: &Documents, request: Request) -> Request {
    const UNCONFIRMED: Duration = Duration::from_secs(60);
    let completion = match (args.try_for, args.no_commit) {
        (Some(within), _) => Completion::Confirm { within },
        (None, true) => Completion::Confirm { within: args.timeout.unwrap_or(UNCONFIRMED) },
        (None, false) => Completion::Commit,
    };
    let asked = args.patience.map(|patience| (patience, false));
    let (patience, patience_grows) =
        asked.or_else(|| documents.patience()).unwrap_or((DEFAULT_PATIENCE, true));
    Request {
        completion,
        options: ApplyOptions { override_interface: args.override_iface, memory_only: args.memory_only },
        probes: probes(args, documents),
        patience,
        patience_grows,
        verify: !args.no_verify,
        ..request
    }
}

/// The command line's, else the policies'; none of both: what the host suggests.
fn probes(args: &ApplyArgs, documents: &Documents) -> Option<Vec<Probe>> {
    match (args.no_probes, args.probes.is_empty()) {
        (true, _) => Some(Vec::new()),
        (false, false) => Some(args.probes.clone()),
        (false, true) => documents.probes(),
    }
}
