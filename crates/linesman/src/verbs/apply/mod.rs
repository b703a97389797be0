//! `linesman apply`: the transaction at a shell.

mod no_commit;
mod progress;
pub mod report;
mod trial;

use std::time::Duration;

use linesman_core::check::without_cluster;
use linesman_core::document::Document;
use linesman_core::probe::DEFAULT_PATIENCE;
use linesman_engine::probe::Probe;
use linesman_engine::transaction::{self, Completion, Request, Settings};
use linesman_engine::worker::ApplyOptions;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::{ApplyArgs, Format};
use crate::exit::Exit;
use crate::{output, read};

pub async fn run(args: ApplyArgs, format: Format, settings: &Settings) -> Exit {
    let document = match read::document(&args.source.file) {
        Ok(document) => document,
        Err(exit) => return exit,
    };
    if args.probes.is_empty() && !args.no_probes {
        let problems = without_cluster(&document);
        if !problems.is_empty() {
            read::print(&problems, &document);
            return Exit::Input;
        }
    }
    if !args.await_confirmation {
        super::freeze::remind(settings);
        super::corrections::warn(&document, settings);
    }
    if args.no_commit && !args.await_confirmation {
        return no_commit::start(&document, &args.source.file).await;
    }
    let settings = &Settings { settle: args.settle, ..settings.clone() };
    let request = request(&args, &document);
    let talk = format == Format::Text && !args.quiet;
    let mut progress = progress::Progress::new(talk);
    let front = args.await_confirmation.then(|| no_commit::Front::new(format));
    let stop = stop_on_signals();
    let mut trial = None;
    let result = {
        let mut say = |step: transaction::Step| {
            if let transaction::Step::Unconfirmed { checkpoint, within, .. } = &step {
                match &front {
                    Some(front) => return front.let_go(checkpoint, *within),
                    None => trial = Some(trial::Trial::start(settings, *within)),
                }
            }
            progress.step(&step);
        };
        transaction::apply(&request, settings, stop, &mut say).await
    };
    if let Some(trial) = trial {
        trial.end();
    }
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(refusal) => return super::refused(&refusal, &document),
    };
    match format {
        Format::Text if args.quiet && outcome.succeeded() => {}
        Format::Text => report::outcome(&outcome),
        other => output::data(other, &outcome),
    }
    outcome.verdict.into()
}

fn request(args: &ApplyArgs, document: &Document) -> Request {
    const UNCONFIRMED: Duration = Duration::from_secs(60);
    const APPLYING: Duration = Duration::from_secs(120);
    let completion = match (args.try_for, args.no_commit) {
        (Some(within), _) => Completion::Confirm { within },
        (None, true) => Completion::Confirm { within: args.timeout.unwrap_or(UNCONFIRMED) },
        (None, false) => Completion::Commit,
    };
    let limit = if args.no_commit { None } else { args.timeout };
    let said = document.options.patience.map(Duration::from_secs);
    Request {
        completion,
        options: ApplyOptions { override_interface: args.override_iface, memory_only: args.memory_only },
        probes: probes(args, document),
        patience: args.patience.or(said).unwrap_or(DEFAULT_PATIENCE),
        limit: limit.unwrap_or(APPLYING),
        verify: !args.no_verify,
        ..super::request(document, args.protect)
    }
}

/// The command line's, else the policy's; none of both: what the host suggests.
fn probes(args: &ApplyArgs, document: &Document) -> Option<Vec<Probe>> {
    match (args.no_probes, args.probes.is_empty()) {
        (true, _) => Some(Vec::new()),
        (false, false) => Some(args.probes.clone()),
        (false, true) => declared_probes(document),
    }
}

/// Those of the policy; none if it names none.
pub fn declared_probes(document: &Document) -> Option<Vec<Probe>> {
    document.probes().map(|probes| probes.map(|(probe, _)| probe.clone()).collect())
}

/// Ctrl-C and SIGTERM roll the change back. A terminal that hangs up does not: the change
/// itself may have cut the session, and the probes decide about that.
fn stop_on_signals() -> watch::Receiver<bool> {
    let (stopper, stop) = watch::channel(false);
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return stop;
    };
    tokio::task::spawn_local(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                _ = hangup.recv() => {}
            }
        }
        output::error("linesman: interrupted; rolling the change back");
        stopper.send_replace(true);
        // Kept so that the receivers do not see the channel close.
        std::future::pending::<()>().await;
    });
    stop
}
