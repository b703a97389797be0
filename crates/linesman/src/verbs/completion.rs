//! `linesman completion`: the script by which a shell asks linesman itself what may come next.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use linesman_agent::StateFile;
use linesman_agent::socket::{Answer, Asking, Question};
use linesman_core::codes;
use linesman_core::reconcile::Ledger;
use linesman_core::state;
use linesman_engine::journal::Journal;
use linesman_engine::transaction::Settings;

use crate::cli::{Cli, CompletionArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Set by the scripts; its value is the name of the shell.
const VARIABLE: &str = "LINESMAN_COMPLETE";

pub fn run(args: &CompletionArgs) -> Exit {
    let mut script = Vec::new();
    let shell = Shells::builtins();
    let written = match shell.completer(&args.shell.to_string()) {
        Some(shell) => shell.write_registration(VARIABLE, "linesman", "linesman", "linesman", &mut script),
        None => Err(std::io::Error::other("there is none for this shell")),
    };
    match written {
        Ok(()) => output::raw(String::from_utf8_lossy(&script).trim()),
        Err(error) => {
            let message = format!("cannot write the completion script: {error}");
            return Failure::new(Exit::Failed, message).report();
        }
    }
    Exit::Done
}

/// Answers a shell, if it was one that asked.
pub fn answer() -> bool {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(Cli::command).var(VARIABLE);
    // A shell in mid-line has no use for an error.
    asked.try_complete(std::env::args_os(), here.as_deref()).unwrap_or(true)
}

/// A shell waits while it asks.
const PATIENCE: Duration = Duration::from_millis(500);

fn settings() -> Settings {
    let default = Settings::default();
    let given = |name: &str| std::env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    Settings {
        state_dir: given("LINESMAN_STATE_DIR").unwrap_or(default.state_dir),
        run_dir: given("LINESMAN_RUN_DIR").unwrap_or(default.run_dir),
        ..Settings::default()
    }
}

fn candidates(names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// Those that the agent knows, or without an agent those that it applied.
pub fn policies() -> Vec<CompletionCandidate> {
    let settings = settings();
    let mut names: BTreeSet<String> = ledger(&settings).0.keys().cloned().collect();
    names.extend(known_to_agent(&settings));
    candidates(names)
}

fn ledger(settings: &Settings) -> Ledger {
    StateFile::ledger(&settings.state_dir).read().unwrap_or_default()
}

fn known_to_agent(settings: &Settings) -> Vec<String> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let answer = async {
        let mut asking = Asking::ask(&settings.run_dir, &Question::Status).await.ok()?;
        asking.answer().await
    };
    match runtime.block_on(async { tokio::time::timeout(PATIENCE, answer).await }) {
        Ok(Some(Answer::Status(status))) => status.policies.into_iter().map(|policy| policy.name).collect(),
        _ => Vec::new(),
    }
}

/// Those of this host, and those that its policies declare.
pub fn interfaces() -> Vec<CompletionCandidate> {
    let entries = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let mut names: BTreeSet<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    for entry in ledger(&settings()).0.values() {
        let declared = state::interfaces(&entry.applied_state).iter().map(state::name);
        names.extend(declared.map(str::to_owned));
    }
    names.remove("bonding_masters");
    candidates(names)
}

pub fn error_codes() -> Vec<CompletionCandidate> {
    codes::all().map(|entry| CompletionCandidate::new(entry.code).help(Some(entry.title().into()))).collect()
}

/// Changes in the journal.
pub fn changes() -> Vec<CompletionCandidate> {
    let records = Journal::new(&settings().state_dir).records().into_iter();
    records.map(|record| CompletionCandidate::new(record.id).help(Some(record.source.into()))).collect()
}
