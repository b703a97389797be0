//! Keeps the network of a host as declared; a change that cuts it off undoes itself.

mod cli;
mod exit;
mod logging;
mod output;
mod read;
mod verbs;

use std::process::ExitCode;

use clap::error::ErrorKind;
use linesman_engine::transaction::Settings;
use linesman_engine::worker;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

fn main() -> ExitCode {
    // Spoken between linesman's own processes: no help, completion or "did you mean" shall name it.
    if std::env::args_os().nth(1).is_some_and(|word| word == worker::VERB) {
        logging::install_for_worker(std::env::args().skip(2));
        return within(worker::main());
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(e) => {
            e.print().ok();
            let asked = matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if asked { Exit::Done } else { Exit::Usage }.into();
        }
    };
    logging::install(&cli.verb);
    within(run(cli))
}

fn within(work: impl Future<Output = ExitCode>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        output::error("linesman: the kernel refused an event queue (epoll)");
        return Exit::Failed.into();
    };
    let local = tokio::task::LocalSet::new();
    let code = local.block_on(&runtime, work);
    // What is left of D-Bus connections wants a runtime around it while it is dropped.
    let inside = runtime.enter();
    drop(local);
    drop(inside);
    // A thread that still waits for somebody's answer shall not keep the process.
    runtime.shutdown_background();
    code
}

async fn run(cli: Cli) -> ExitCode {
    let settings = Settings { state_dir: cli.state_dir, dead_man: cli.dead_man, ..Settings::default() };
    let format = cli.output;
    match cli.verb {
        Verb::Check(args) => verbs::check::run(&args, format).into(),
        Verb::Plan(args) => verbs::plan::run(args, format).await.into(),
        Verb::Apply(args) => verbs::apply::run(args, format, &settings).await.into(),
        Verb::Commit(args) => verbs::confirm::commit(args, format, &settings).await.into(),
        Verb::Rollback(args) => verbs::confirm::rollback(args, format, &settings).await.into(),
        Verb::Show(args) => verbs::show::run(args, format).await.into(),
        Verb::Topology(args) => verbs::topology::run(args, format).await.into(),
        Verb::History(args) => verbs::history::run(args, format, &settings).into(),
        Verb::Agent(args) => verbs::agent::run(args, settings).await.into(),
        Verb::Operator(args) => verbs::operator::run(args).await.into(),
        Verb::Status(args) => verbs::status::run(args, format, &settings).await.into(),
        Verb::Diff(args) => verbs::diff::run(args, format, &settings).await.into(),
        Verb::Why(args) => verbs::why::run(args, format, &settings).await.into(),
        Verb::Retry(args) => verbs::retry::run(args, format, &settings).await.into(),
        Verb::Freeze(args) => verbs::freeze::freeze(args, &settings).await.into(),
        Verb::Unfreeze => verbs::freeze::unfreeze(&settings).await.into(),
        Verb::Import(args) => verbs::import::run(args, format).await.into(),
        Verb::Doctor => verbs::doctor::run(format, &settings).await.into(),
        Verb::Gather(args) => verbs::gather::run(args, &settings).await.into(),
        Verb::Recover(args) => verbs::recover::run(args, &settings).await.into(),
        Verb::Explain(args) => verbs::explain::run(&args, format).into(),
        Verb::Crds(args) => verbs::crds::run(&args, format).into(),
        Verb::Completion(args) => verbs::completion::run(&args).into(),
        Verb::Man(args) => verbs::man::run(&args).into(),
    }
}
