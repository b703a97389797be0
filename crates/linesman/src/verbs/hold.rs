//! `linesman hold` and `release`: hands off this host.

use linesman_agent::hold::{self, read};
use linesman_agent::socket::{Asking, Question};
use linesman_engine::transaction::Settings;

use crate::cli::HoldArgs;
use crate::exit::Exit;
use crate::output;

pub async fn hold(args: HoldArgs, settings: &Settings) -> Exit {
    if let Some(hold) = read(&settings.state_dir) {
        output::error(format!("linesman: this host is {hold} already; `linesman release` ends that"));
        return Exit::Busy;
    }
    let reason = args.reason.join(" ");
    let reason = Some(reason.as_str()).filter(|r| !r.is_empty());
    match hold::hold(&settings.state_dir, &who(), reason) {
        Ok(hold) => {
            poke(settings).await;
            output::line(format!("{hold}"));
            output::line("the agent changes nothing until `linesman release`; `linesman apply` still works");
            Exit::Done
        }
        Err(e) => failed(settings, &e),
    }
}

pub async fn release(settings: &Settings) -> Exit {
    match hold::release(&settings.state_dir) {
        Ok(true) => {
            poke(settings).await;
            output::line("released: the agent keeps this host as declared again");
            Exit::Done
        }
        Ok(false) => {
            output::line("this host was not held");
            Exit::Done
        }
        Err(e) => failed(settings, &e),
    }
}

fn failed(settings: &Settings, error: &std::io::Error) -> Exit {
    output::error(format!("linesman: cannot write to {}: {error}", settings.state_dir.display()));
    if nix::unistd::geteuid().is_root() { Exit::Failed } else { Exit::Environment }
}

/// Whoever logged in, behind sudo too.
fn who() -> String {
    let user =
        ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|v| std::env::var(v).ok().filter(|u| !u.is_empty()));
    user.unwrap_or_else(|| format!("uid {}", nix::unistd::getuid()))
}

/// The agent heeds the file when it next looks; this is when.
async fn poke(settings: &Settings) {
    if let Some(mut asking) = Asking::ask(&settings.run_dir, &Question::Look).await {
        asking.answer().await;
    }
}

/// A line for everybody who changes a held host.
pub fn remind(settings: &Settings) {
    if let Some(hold) = read(&settings.state_dir) {
        output::error(format!("note: this host is {hold}"));
    }
}
