//! Keeps the network of a host as declared; a change that cuts it off undoes itself.

mod cli;
mod exit;
mod failure;
mod logging;
mod output;
mod read;
mod verbs;

use std::process::ExitCode;

use clap::error::ErrorKind;
use linesman_core::codes::commands;
use linesman_engine::transaction::Settings;
use linesman_engine::worker;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;
use crate::failure::Failure;

fn main() -> ExitCode {
    // Spoken between linesman's own processes: no help, completion or "did you mean" shall name it.
    if std::env::args_os().nth(1).is_some_and(|word| word == worker::VERB) {
        logging::install_for_worker(std::env::args().skip(2));
        return within(worker::main());
    }
    if verbs::completion::answer() {
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(e) => return output::conclude(misused(&e)).into(),
    };
    output::choose(cli.format());
    logging::install(&cli.verb);
    output::conclude(within(run(cli))).into()
}

/// Help that was asked for, or a command line with errors.
fn misused(error: &clap::Error) -> Exit {
    output::note(error.print());
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Exit::Done;
    }
    output::choose(cli::format_in(std::env::args_os().skip(1)));
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let message = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = if message.is_empty() { "the command line has errors".to_owned() } else { message };
    Failure::new(Exit::Usage, message)
        .code(commands::USAGE)
        .hint("run the command with --help for its arguments and options")
        .report_to_programs()
}

fn within<T: From<Exit>>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let message = format!("the kernel refused an event queue (epoll): {error}");
            return Failure::new(Exit::Failed, message).report().into();
        }
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

async fn run(cli: Cli) -> Exit {
    let settings = Settings {
        state_dir: cli.state_dir.clone(),
        run_dir: cli.run_dir.clone(),
        dead_man: cli.dead_man,
        ..Settings::default()
    };
    let format = cli.format();
    if let Some(verb) = cli.verb.needs_root().filter(|_| !failure::is_root()) {
        return Failure::needs_root(format!("linesman {verb} must run as root")).report();
    }
    match cli.verb {
        Verb::Check(args) => verbs::check::run(&args, format),
        Verb::Plan(args) => verbs::plan::run(args, format, &settings).await,
        Verb::Apply(args) => verbs::apply::run(args, format, &settings).await,
        Verb::Commit(args) => verbs::confirm::commit(args, format, &settings).await,
        Verb::Rollback(args) => verbs::confirm::rollback(args, format, &settings).await,
        Verb::Show(args) => verbs::show::run(args, format).await,
        Verb::Topology(args) => verbs::topology::run(args, format).await,
        Verb::History(args) => verbs::history::run(args, format, &settings),
        Verb::Agent(args) => verbs::agent::run(args, settings).await,
        Verb::Operator(args) => verbs::operator::run(args).await,
        Verb::OvsKeeper(args) => Box::pin(verbs::ovs_keeper::run(args, settings)).await,
        Verb::Status(args) => verbs::status::run(args, format, &settings).await,
        Verb::Diff(args) => verbs::diff::run(args, format, &settings).await,
        Verb::Why(args) => verbs::why::run(args, format, &settings).await,
        Verb::Retry(args) => verbs::retry::run(args, format, &settings).await,
        Verb::Freeze(args) => verbs::freeze::freeze(args, format, &settings).await,
        Verb::Unfreeze => verbs::freeze::unfreeze(format, &settings).await,
        Verb::Import(args) => verbs::import::run(args, format).await,
        Verb::Generate(args) => verbs::generate::run(&args, format),
        Verb::Firstboot(args) => verbs::firstboot::run(args, format, &settings).await,
        Verb::Brex(args) => Box::pin(verbs::brex::run(args, format, &settings)).await,
        Verb::Doctor => verbs::doctor::run(format, &settings).await,
        Verb::Gather(args) => verbs::gather::run(args, format, &settings).await,
        Verb::Recover(args) => verbs::recover::run(args, format, &settings).await,
        Verb::Explain(args) => verbs::explain::run(&args, format),
        Verb::Crds(args) => verbs::crds::run(&args, format),
        Verb::Completion(args) => verbs::completion::run(&args),
        Verb::Man(args) => verbs::man::run(&args),
    }
}
