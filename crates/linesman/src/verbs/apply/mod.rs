//! `linesman apply`: the transaction at a shell.

mod no_commit;
pub mod progress;
pub mod report;
pub mod signals;
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
use crate::cli::{ApplyArgs, ChangeArgs, Format};
use crate::exit::Exit;
use crate::{output, read};

pub async fn run(args: ApplyArgs, format: Format, settings: &Settings) -> Exit {
    let holder = no_commit::is_holder();
    let read = if holder { no_commit::documents() } else { Documents::read(&args.source.files) };
    let documents = match read {
        Ok(documents) => documents,
        Err(exit) => return exit,
    };
    if args.change.probes.is_empty() && !args.change.no_probes {
        for document in documents.iter() {
            let problems = without_cluster(document);
            if !problems.is_empty() {
                return read::print(Exit::Input, &problems, document);
            }
        }
    }
    if !holder {
        warn(&documents, settings);
    }
    if args.no_commit && !holder {
        return no_commit::start(&documents).await;
    }
    let limit = args.timeout.filter(|_| !args.no_commit).unwrap_or(settings.limit);
    let mode = Mode {
        pending_for: args.no_commit.then(|| args.timeout.unwrap_or(UNCONFIRMED)),
        front: holder.then(|| no_commit::Front::new(format)),
        options: ApplyOptions { override_interface: args.override_iface, memory_only: args.memory_only },
        verify: !args.no_verify,
    };
    let settings = Settings { limit, ..settings.clone() };
    match change(&documents, &args.change, mode, format, &settings).await {
        Ok(verdict) => verdict.into(),
        Err(exit) => exit,
    }
}

/// What a user should know before the change.
pub fn warn(documents: &Documents, settings: &Settings) {
    super::freeze::remind(settings);
    documents.iter().for_each(|document| super::corrections::warn(document, settings));
}

/// With --no-commit and without a time.
const UNCONFIRMED: Duration = Duration::from_secs(60);

/// What only `linesman apply` lets its user choose.
#[derive(Debug)]
pub struct Mode {
    /// How long the change waits for its confirmation in the background.
    pending_for: Option<Duration>,
    front: Option<no_commit::Front>,
    options: ApplyOptions,
    verify: bool,
}

impl Default for Mode {
    fn default() -> Self {
        Self { pending_for: None, front: None, options: ApplyOptions::default(), verify: true }
    }
}

/// Runs the transaction and prints what comes of it.
pub async fn change(
    documents: &Documents,
    args: &ChangeArgs,
    mode: Mode,
    format: Format,
    settings: &Settings,
) -> Result<Verdict, Exit> {
    let settings = &Settings { settle: args.settle, ..settings.clone() };
    let talk = format == Format::Text && !args.quiet;
    let mut progress = progress::Progress::new(talk);
    let stop = signals::stop();
    let mut trial: Option<trial::Trial> = None;
    let result = {
        let mut say = |step: transaction::Step| {
            if let transaction::Step::Unconfirmed { checkpoint, within, .. } = &step {
                match &mode.front {
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
            apply(args, &mode, documents, settings, stop.clone(), &mut say).await
        })
        .await
    };
    trial.into_iter().for_each(trial::Trial::end);
    let outcome = result.map_err(|refusal| documents.refused(&refusal))?;
    if *stop.borrow() && matches!(outcome.verdict, Verdict::Committed | Verdict::Unchanged) {
        output::error("linesman: interrupted too late; the change had already ended");
    }
    match format {
        Format::Text if args.quiet && outcome.succeeded() => {}
        Format::Text => report::outcome(&outcome),
        other => output::data(other, &outcome),
    }
    Ok(outcome.verdict)
}

/// What is planned and applied is about the moment at which the host was locked.
async fn apply(
    args: &ChangeArgs,
    mode: &Mode,
    documents: &Documents,
    settings: &Settings,
    stop: watch::Receiver<bool>,
    say: &mut dyn FnMut(transaction::Step),
) -> Result<Outcome, Refusal> {
    let session = Session::begin(settings).await?;
    let wanted = documents.request(session.loaded(), &Kept::read(settings), args.protect)?;
    let request = request(args, mode, documents, wanted);
    session.apply(&request, settings, stop, say).await
}

fn request(args: &ChangeArgs, mode: &Mode, documents: &Documents, request: Request) -> Request {
    let completion = match args.try_for.or(mode.pending_for) {
        Some(within) => Completion::Confirm { within },
        None => Completion::Commit,
    };
    let asked = args.patience.map(|patience| (patience, false));
    let (patience, patience_grows) =
        asked.or_else(|| documents.patience()).unwrap_or((DEFAULT_PATIENCE, true));
    Request {
        completion,
        options: mode.options,
        probes: probes(args, documents),
        patience,
        patience_grows,
        verify: mode.verify,
        ..request
    }
}

/// The command line's, else the policies'; none of both: what the host suggests.
fn probes(args: &ChangeArgs, documents: &Documents) -> Option<Vec<Probe>> {
    match (args.no_probes, args.probes.is_empty()) {
        (true, _) => Some(Vec::new()),
        (false, false) => Some(args.probes.clone()),
        (false, true) => documents.probes(),
    }
}
