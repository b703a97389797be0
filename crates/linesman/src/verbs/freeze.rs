//! `linesman freeze` and `linesman unfreeze`: the agent makes no changes meanwhile.

use linesman_agent::freeze::{self, read};
use linesman_agent::socket::{Asking, Question};
use linesman_core::codes::commands;
use linesman_engine::transaction::Settings;
use serde_json::json;

use crate::cli::{Format, FreezeArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub async fn freeze(args: FreezeArgs, format: Format, settings: &Settings) -> Exit {
    let reason = args.reason.join(" ");
    if reason.contains(char::is_control) {
        let message = "the reason contains a line break or another control character";
        return Failure::new(Exit::Usage, message)
            .code(commands::USAGE)
            .hint("write it on one line")
            .report();
    }
    if let Some(freeze) = read(&settings.state_dir) {
        let failure = Failure::new(Exit::Busy, format!("this host is already {freeze}"));
        return failure.hint("run `linesman unfreeze` to end that").report();
    }
    let reason = Some(reason.as_str()).filter(|r| !r.is_empty());
    match freeze::freeze(&settings.state_dir, &who(), reason) {
        Ok(freeze) => {
            let agent = notify_agent(settings).await;
            if format != Format::Text {
                output::data(format, &json!({ "frozen": freeze, "agentRunning": agent }));
                return Exit::Done;
            }
            output::line(format!("{freeze}"));
            output::line(
                "the agent makes no changes until `linesman unfreeze`; `linesman apply` still works",
            );
            Exit::Done
        }
        Err(e) => failed("write", settings, &e),
    }
}

pub async fn unfreeze(format: Format, settings: &Settings) -> Exit {
    match freeze::unfreeze(&settings.state_dir) {
        Ok(was_frozen) if format != Format::Text => {
            let agent = notify_agent(settings).await;
            output::data(format, &json!({ "wasFrozen": was_frozen, "agentRunning": agent }));
            Exit::Done
        }
        Ok(true) => {
            let then = if notify_agent(settings).await {
                "the agent applies its policies again"
            } else {
                "no agent is running on this host"
            };
            output::line(format!("unfrozen: {then}"));
            Exit::Done
        }
        Ok(false) => {
            output::line("this host was not frozen");
            Exit::Done
        }
        Err(e) => failed("remove", settings, &e),
    }
}

fn failed(verb: &str, settings: &Settings, error: &std::io::Error) -> Exit {
    let message = format!("cannot {verb} {}: {error}", freeze::path(&settings.state_dir).display());
    Failure::new(Exit::Failed, message).report()
}

/// Whoever logged in, behind sudo too.
fn who() -> String {
    let user =
        ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|v| std::env::var(v).ok().filter(|u| !u.is_empty()));
    user.unwrap_or_else(|| format!("uid {}", nix::unistd::getuid()))
}

/// The agent reads the file when it next reconciles; this is when. False: no agent is running.
async fn notify_agent(settings: &Settings) -> bool {
    let asking = Asking::ask(&settings.run_dir, &Question::Look).await;
    match asking {
        Ok(mut asking) => asking.answer().await.is_some(),
        Err(_) => false,
    }
}

/// A note for everybody who changes a frozen host.
pub fn remind(settings: &Settings) {
    if let Some(freeze) = read(&settings.state_dir) {
        output::error(format!("note: this host is {freeze}"));
    }
}
