//! `linesman status`: the verdict first.

use linesman_agent::hold;
use linesman_agent::socket::{Answer, Asking, Question};
use linesman_agent::status::{Phase, PolicyStatus, Status, Verdict};
use linesman_engine::transaction::Settings;

use crate::cli::{Format, StatusArgs};
use crate::exit::Exit;
use crate::output;

pub async fn run(args: StatusArgs, format: Format, settings: &Settings) -> Exit {
    let question = if args.watch { Question::Watch } else { Question::Status };
    let Some(mut asking) = Asking::ask(&settings.run_dir, &question).await else {
        return alone(settings);
    };
    let mut exit = Exit::Failed;
    while let Some(answer) = asking.answer().await {
        let Answer::Status(status) = answer else { continue };
        match format {
            Format::Text => print(&status, args.diff),
            other => output::data(other, &status),
        }
        exit = verdict(&status);
        if !args.watch {
            return exit;
        }
        if format == Format::Text {
            output::line("");
        }
    }
    output::error("linesman: the agent has stopped");
    exit
}

fn alone(settings: &Settings) -> Exit {
    output::line("NO AGENT: nobody keeps this host as declared");
    if let Some(hold) = hold::read(&settings.state_dir) {
        output::line(format!("  {hold}; `linesman release` ends it"));
    }
    output::line("  start it with `systemctl start linesman-agent`, or see `linesman agent --help`");
    output::line("  what was changed by hand: `linesman history`");
    Exit::Environment
}

fn verdict(status: &Status) -> Exit {
    match status.verdict {
        Verdict::InStep | Verdict::Working | Verdict::Held => Exit::Done,
        Verdict::Drifted => Exit::Differences,
        Verdict::Trouble => Exit::Failed,
    }
}

fn print(status: &Status, diff: bool) {
    let (word, colour) = match status.verdict {
        Verdict::InStep => ("IN STEP", "32"),
        Verdict::Working => ("WORKING", "36"),
        Verdict::Drifted => ("DRIFTED", "33"),
        Verdict::Trouble => ("TROUBLE", "31"),
        Verdict::Held => ("HELD", "35"),
    };
    output::line(format!("{}: {}", paint(word, colour), status.story));
    let width = status.policies.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for policy in &status.policies {
        line(policy, width);
        if diff {
            super::diff::print_policy(&policy.name, &policy.differences, false);
        }
    }
    if let Some(why) = &status.silent {
        output::line(format!("{}: {why}", paint("the API server does not answer", "33")));
        output::line("  everything stays as it is; what it was not told, it is told when it is back");
    }
    if status.held.is_some() {
        output::line("`linesman release` ends the hold");
    }
    output::line(format!(
        "agent {} (pid {}) since {}; host last looked at {}",
        status.version, status.pid, status.started, status.observed
    ));
}

fn line(policy: &PolicyStatus, width: usize) {
    let colour = match policy.phase {
        Phase::InStep => "32",
        Phase::Pending => "36",
        Phase::Drifted | Phase::Waiting => "33",
        _ => "31",
    };
    let since = policy.since.as_deref().map(|s| format!("  since {s}")).unwrap_or_default();
    let padded = format!("{:<11}", policy.phase.word());
    output::line(format!("  {:<width$}  {}{since}", policy.name, paint(&padded, colour)));
    for reason in policy.reason.iter().flat_map(|r| r.lines()) {
        output::line(format!("      {reason}"));
    }
    if policy.former_kept {
        output::line("      its former version is kept");
    }
    if policy.phase == Phase::RolledBack {
        output::line(format!("      edit it, or `linesman retry {}`", policy.name));
    }
}

pub fn paint(text: &str, colour: &str) -> String {
    if output::colour() { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_string() }
}
