//! Keeps the network of a host as declared; a change that cuts it off undoes itself.

mod cli;
mod exit;
mod output;
mod read;
mod verbs;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use linesman_engine::transaction::Settings;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            e.print().ok();
            let asked = matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if asked { Exit::Done } else { Exit::Usage }.into();
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        output::error("linesman: the kernel refused an event queue (epoll)");
        return Exit::Failed.into();
    };
    let local = tokio::task::LocalSet::new();
    let code = local.block_on(&runtime, run(cli));
    // What is left of D-Bus connections wants a runtime around it while it is dropped.
    let _inside = runtime.enter();
    drop(local);
    code
}

async fn run(cli: Cli) -> ExitCode {
    let settings = Settings { state_dir: cli.state_dir, dead_man: cli.dead_man, ..Settings::default() };
    let format = cli.output;
    match cli.verb {
        Verb::Plan(args) => verbs::plan::run(args, format).await.into(),
        Verb::Apply(args) => verbs::apply::run(args, format, &settings).await.into(),
        Verb::Commit(args) => verbs::end::commit(args, format, &settings).await.into(),
        Verb::Rollback(args) => verbs::end::rollback(args, format, &settings).await.into(),
        Verb::Show(args) => verbs::show::run(args, format).await.into(),
        Verb::History(args) => verbs::history::run(args, format, &settings).into(),
        Verb::Import(args) => verbs::import::run(args, format).await.into(),
        Verb::Doctor => verbs::doctor::run(format, &settings).await.into(),
        Verb::Gather(args) => verbs::gather::run(args, &settings).await.into(),
        Verb::Recover(args) => verbs::recover::run(args, &settings).await.into(),
        Verb::ApplyWorker => linesman_engine::worker::main().await,
    }
}
