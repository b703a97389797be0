//! `linesman freeze` and `linesman unfreeze`: the agent makes no changes meanwhile.

use linesman_agent::freeze::{self, read};
use linesman_agent::socket::{Asking, Question};
use linesman_engine::transaction::Settings;

use crate::cli::FreezeArgs;
use crate::exit::Exit;
use crate::output;

pub async fn freeze(args: FreezeArgs, settings: &Settings) -> Exit {
    let reason = args.reason.join(" ");
    if reason.contains(char::is_control) {
        output::error(
            "linesman: the reason contains a line break or another control character; write it on one line",
        );
        return Exit::Usage;
    }
    if let Some(freeze) = read(&settings.state_dir) {
        output::error(format!(
            "linesman: this host is already {freeze}; run `linesman unfreeze` to end that"
        ));
        return Exit::Busy;
    }
    let reason = Some(reason.as_str()).filter(|r| !r.is_empty());
    match freeze::freeze(&settings.state_dir, &who(), reason) {
        Ok(freeze) => {
            notify_agent(settings).await;
            output::line(format!("{freeze}"));
            output::line(
                "the agent makes no changes until `linesman unfreeze`; `linesman apply` still works",
            );
            Exit::Done
        }
        Err(e) => failed("write", settings, &e),
    }
}

pub async fn unfreeze(settings: &Settings) -> Exit {
    match freeze::unfreeze(&settings.state_dir) {
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
    output::error(format!(
        "linesman: cannot {verb} {}: {error}",
        freeze::path(&settings.state_dir).display()
    ));
    if nix::unistd::geteuid().is_root() { Exit::Failed } else { Exit::Environment }
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
        Some(mut asking) => asking.answer().await.is_some(),
        None => false,
    }
}

/// A note for everybody who changes a frozen host.
pub fn remind(settings: &Settings) {
    if let Some(freeze) = read(&settings.state_dir) {
        output::error(format!("note: this host is {freeze}"));
    }
}
