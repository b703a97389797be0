//! `linesman status`: the condition of the host first.

use linesman_agent::freeze;
use linesman_agent::socket::{Answer, Asking, Question};
use linesman_agent::status::{HostCondition, PolicyPhase, PolicyStatus, Status};
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
        exit = exit_code(&status);
        if !args.watch || output::is_lost() {
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
    output::line("NO AGENT: no agent is running on this host");
    if let Some(freeze) = freeze::read(&settings.state_dir) {
        output::line(format!("  {freeze}; run `linesman unfreeze` to end it"));
    }
    output::line("  start it with `systemctl start linesman-agent`, or see `linesman agent --help`");
    output::line("  changes made with `linesman apply`: `linesman history`");
    Exit::Environment
}

fn exit_code(status: &Status) -> Exit {
    match status.condition {
        HostCondition::InSync | HostCondition::Progressing | HostCondition::Frozen => Exit::Done,
        HostCondition::Drifted => Exit::Differences,
        HostCondition::Degraded => Exit::Failed,
    }
}

fn print(status: &Status, diff: bool) {
    let (word, colour) = match status.condition {
        HostCondition::InSync => ("IN SYNC", "32"),
        HostCondition::Progressing => ("PROGRESSING", "36"),
        HostCondition::Drifted => ("DRIFTED", "33"),
        HostCondition::Degraded => ("DEGRADED", "31"),
        HostCondition::Frozen => ("FROZEN", "35"),
    };
    output::line(format!("{}: {}", paint(word, colour), status.summary));
    let width = status.policies.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for policy in &status.policies {
        line(policy, width);
        if diff {
            super::diff::print_policy(&policy.name, &policy.differences, false);
        }
    }
    if let Some(why) = &status.api_server_error {
        output::line(format!("{}: {why}", paint("the API server cannot be reached", "33")));
        output::line("  the network stays as it is; status updates are sent when it is back");
    }
    if status.frozen.is_some() {
        output::line("run `linesman unfreeze` to let the agent change this host again");
    }
    output::line(format!(
        "agent {} (pid {}) running since {}; host last observed {}",
        status.version, status.pid, status.started, status.observed
    ));
}

fn line(policy: &PolicyStatus, width: usize) {
    let colour = match policy.phase {
        PolicyPhase::InSync => "32",
        PolicyPhase::Pending => "36",
        PolicyPhase::Drifted | PolicyPhase::Waiting => "33",
        _ => "31",
    };
    let since = policy.since.as_deref().map(|s| format!("  since {s}")).unwrap_or_default();
    let padded = format!("{:<11}", policy.phase.as_str());
    output::line(format!("  {:<width$}  {}{since}", policy.name, paint(&padded, colour)));
    for reason in policy.reason.iter().flat_map(|r| r.lines()) {
        output::line(format!("      {reason}"));
    }
    if policy.former_applied {
        output::line("      the earlier version stays applied");
    }
    if policy.phase == PolicyPhase::RolledBack {
        output::line(format!("      edit the policy, or run `linesman retry {}`", policy.name));
    }
}

pub fn paint(text: &str, colour: &str) -> String {
    if output::colour() { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_string() }
}
