//! `--no-commit`: a background process keeps the unconfirmed change pending, so that a timer that runs out
//! rolls back everything, not only what NetworkManager's checkpoint covers.
//!
//! The front prints what that process prints and returns once the change is pending.

use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use linesman_core::outcome::{Outcome, Verdict};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::report;
use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::verbs::documents::Documents;

/// Ends the holder's talk to its front.
const END: &str = "\u{1e}unconfirmed";

/// Set for the process that keeps the change pending.
const HOLDER: &str = "LINESMAN_HOLDS_PENDING_CHANGE";

pub fn is_holder() -> bool {
    std::env::var_os(HOLDER).is_some()
}

/// What the front has read and checked, perhaps from a pipe.
pub fn documents() -> Result<Documents, Exit> {
    let read = std::io::read_to_string(std::io::stdin());
    let files = read.and_then(|text| Ok(serde_json::from_str::<Vec<(String, String)>>(&text)?));
    let files = files.map_err(|e| failed(&e).report())?;
    Documents::of(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("cannot start the process that keeps the change pending: {error}"))
}

pub async fn start(documents: &Documents) -> Exit {
    match relay(documents).await {
        Ok(exit) => exit,
        Err(e) => failed(&e).report(),
    }
}

async fn relay(documents: &Documents) -> std::io::Result<Exit> {
    let mut texts: Vec<(&str, &str)> = documents.iter().map(|d| (d.name.as_str(), &*d.text)).collect();
    // Of several documents in a file, each has the text of the whole file.
    texts.dedup();
    let mut child = Command::new("/proc/self/exe")
        .arg0("linesman")
        .args(std::env::args_os().skip(1))
        .env(HOLDER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&serde_json::to_vec(&texts)?).await?;
    }
    if let Some(holder) = child.id().and_then(|id| i32::try_from(id).ok()) {
        tokio::task::spawn_local(pass_on(Pid::from_raw(holder)));
    }
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await? {
            if line == END {
                return Ok(Exit::Done);
            }
            output::line(line);
        }
    }
    let status = child.wait().await?;
    Ok(match u8::try_from(status.code().unwrap_or(1)).unwrap_or(1) {
        0 => Exit::Done,
        3 => Exit::Input,
        4 => Exit::Environment,
        5 => Exit::RolledBack,
        6 => Exit::Incomplete,
        7 => Exit::Busy,
        _ => Exit::Failed,
    })
}

/// The holder is in a session of its own: what is meant for the change reaches only its front.
async fn pass_on(holder: Pid) {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => kill(holder, Signal::SIGINT).ok(),
            _ = terminate.recv() => kill(holder, Signal::SIGTERM).ok(),
            _ = hangup.recv() => None,
        };
    }
}

/// What programs read of a change that waits.
#[derive(Debug, Serialize)]
struct Pending {
    #[serde(flatten)]
    outcome: Outcome,
    seconds_left: u64,
    until: String,
    commit: &'static str,
    rollback: &'static str,
}

impl Pending {
    fn new(outcome: Outcome, within: Duration) -> Self {
        Self {
            outcome,
            seconds_left: within.as_secs(),
            until: humantime::format_rfc3339_seconds(SystemTime::now() + within).to_string(),
            commit: "linesman commit",
            rollback: "linesman rollback",
        }
    }
}

/// The holder's side: what its front still waits for.
#[derive(Debug)]
pub struct Front {
    format: Format,
}

impl Front {
    /// Out of the front's session: its terminal, or its daemon, may end before the change does.
    pub fn new(format: Format) -> Self {
        nix::unistd::setsid().ok();
        Self { format }
    }

    pub fn let_go(&self, checkpoint: &str, within: Duration) {
        match self.format {
            Format::Text => {
                output::line(format!("Checkpoint: {checkpoint}"));
                output::line(report::pending(within));
            }
            other => {
                let outcome =
                    Outcome { checkpoint: Some(checkpoint.to_string()), ..Outcome::new(Verdict::Pending) };
                output::data(other, &Pending::new(outcome, within));
            }
        }
        output::line(END);
        // Whoever waits for the end of our output must not wait for the end of the change.
        if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
            nix::unistd::dup2_stdin(&null).ok();
            nix::unistd::dup2_stdout(&null).ok();
            nix::unistd::dup2_stderr(&null).ok();
        }
    }
}
