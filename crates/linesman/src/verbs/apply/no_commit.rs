//! `--no-commit`: a background process keeps the unconfirmed change pending, so that a timer that runs out
//! rolls back everything, not only what NetworkManager's checkpoint covers.
//!
//! The front prints what that process prints and returns once the change is pending.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use linesman_core::document::Document;
use linesman_core::outcome::{Outcome, Verdict};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::Format;
use crate::exit::Exit;
use crate::output;

/// Ends the holder's talk to its front.
const END: &str = "\u{1e}unconfirmed";

pub async fn start(document: &Document, file: &Path) -> Exit {
    match relay(document, file).await {
        Ok(exit) => exit,
        Err(e) => {
            output::error(format!("linesman: cannot start the process that keeps the change pending: {e}"));
            Exit::Failed
        }
    }
}

async fn relay(document: &Document, file: &Path) -> std::io::Result<Exit> {
    // The document was read already, perhaps from a pipe: the holder gets its text.
    let mut child = Command::new("/proc/self/exe")
        .arg0("linesman")
        .args(std::env::args_os().skip(1).filter(|a| a != file))
        .args(["--await-confirmation", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(document.text.as_bytes()).await?;
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
                output::line(format!(
                    "rolling back in {} s; run `linesman commit` to keep the change",
                    within.as_secs()
                ));
            }
            other => output::data(
                other,
                &Outcome { checkpoint: Some(checkpoint.to_string()), ..Outcome::new(Verdict::Pending) },
            ),
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
