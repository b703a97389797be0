//! `linesman status`: the condition of the host first.

use std::time::{Duration, SystemTime};

use linesman_agent::freeze;
use linesman_agent::socket::{Answer, Asking, NoAnswer, Question};
use linesman_agent::status::{HostCondition, PolicyPhase, PolicyStatus, Status};
use linesman_api::node_state::FirstBootStatus;
use linesman_core::codes::commands;
use linesman_core::plan::render::LEGEND;
use linesman_core::terminal::ago;
use linesman_engine::transaction::Settings;

use crate::cli::{Format, StatusArgs};
use crate::exit::Exit;
use crate::failure::{Failure, is_root};
use crate::output;

pub async fn run(args: StatusArgs, format: Format, settings: &Settings) -> Exit {
    let question = if args.watch { Question::Watch } else { Question::Status };
    let mut asking = match Asking::ask(&settings.run_dir, &question).await {
        Ok(asking) => asking,
        Err(NoAnswer::NoAgent) => return alone(format, settings),
        Err(other) => return Failure::from(&other).report(),
    };
    let mut screen = Screen::default();
    while let Some(status) = next(&mut asking, &mut screen).await {
        match format {
            Format::Text => screen.show(Shown { status: status.clone(), diff: args.diff }, args.watch),
            other => output::data(other, &status),
        }
        if !args.watch || output::is_lost() {
            return exit_code(&status);
        }
    }
    Failure::new(Exit::Environment, "the agent has stopped").code(commands::NO_AGENT).report()
}

const START: &str = "start it with `systemctl start linesman-agent`, or see `linesman agent --help`";

fn alone(format: Format, settings: &Settings) -> Exit {
    if format != Format::Text {
        return Failure::no_agent().hint(START).report();
    }
    output::line("NO AGENT: no agent is running on this host");
    if is_root()
        && let Some(freeze) = freeze::read(&settings.state_dir)
    {
        output::line(format!("  {freeze}; run `linesman unfreeze` to end it"));
    }
    output::line(format!("  {START}"));
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

/// The next status. While there is none, times on a terminal go on.
async fn next(asking: &mut Asking, screen: &mut Screen) -> Option<Box<Status>> {
    loop {
        let answer = tokio::select! {
            answer = asking.answer() => answer?,
            () = screen.tick() => continue,
        };
        if let Answer::Status(status) = answer {
            return Some(status);
        }
    }
}

fn text(Shown { status, diff }: &Shown) -> String {
    let (word, colour) = match status.condition {
        HostCondition::InSync => ("IN SYNC", "32"),
        HostCondition::Progressing => ("PROGRESSING", "36"),
        HostCondition::Drifted => ("DRIFTED", "33"),
        HostCondition::Degraded => ("DEGRADED", "31"),
        HostCondition::Frozen => ("FROZEN", "35"),
    };
    let mut lines = vec![format!("{}: {}", paint(word, colour), status.summary)];
    let width = status.policies.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for policy in &status.policies {
        lines.extend(of_policy(policy, width));
        if *diff {
            lines.extend(super::diff::lines(&policy.differences));
        }
    }
    if *diff && status.policies.iter().any(|policy| !policy.differences.is_empty()) {
        lines.push(LEGEND.to_owned());
    }
    lines.extend(status.first_boot.as_ref().map(first_boot));
    if let Some(why) = &status.api_server_error {
        lines.push(paint(why, "33"));
        lines.push("  the network stays as it is; status updates are sent when it answers".to_owned());
    }
    if status.frozen.is_some() {
        lines.push("run `linesman unfreeze` to let the agent change this host again".to_owned());
    }
    lines.push(format!(
        "agent {} (pid {}) started {}; host last observed {}",
        status.version,
        status.pid,
        since(&status.started),
        since(&status.observed)
    ));
    lines.join("\n")
}

fn of_policy(policy: &PolicyStatus, width: usize) -> Vec<String> {
    let colour = match policy.phase {
        PolicyPhase::InSync => "32",
        PolicyPhase::Pending => "36",
        PolicyPhase::Drifted | PolicyPhase::Waiting => "33",
        _ => "31",
    };
    let since = policy.since.as_deref().map(|s| format!("  since {}", since(s))).unwrap_or_default();
    let padded = format!("{:<11}", policy.phase.as_str());
    let mut lines = vec![format!("  {:<width$}  {}{since}", policy.name, paint(&padded, colour))];
    let reasons = policy.reason.iter().flat_map(|r| r.lines());
    lines.extend(reasons.map(|reason| format!("      {reason}")));
    if policy.former_applied {
        lines.push("      the earlier version stays applied".to_owned());
    }
    if policy.phase == PolicyPhase::RolledBack {
        lines.push(format!("      edit the policy, or run `linesman retry {}`", policy.name));
    }
    lines
}

/// The document that this host was installed with.
fn first_boot(document: &FirstBootStatus) -> String {
    let (word, colour) = match document.state.as_str() {
        "Applied" => ("applied", "32"),
        "NotLive" => ("not live", "33"),
        "Superseded" => ("superseded", "36"),
        "Withdrawn" => ("withdrawn", "36"),
        "Ambiguous" => ("ambiguous", "31"),
        _ => ("failed", "31"),
    };
    let file = document.document.as_ref().map(|file| format!(" {file}")).unwrap_or_default();
    let why = match document.message.as_str() {
        "" => String::new(),
        message => format!(": {message}"),
    };
    format!("first boot:{file} {}{why}", paint(word, colour))
}

/// `3 min ago`; JSON has the time itself.
pub fn since(time: &str) -> String {
    match humantime::parse_rfc3339(time) {
        Ok(then) => ago(SystemTime::now().duration_since(then).unwrap_or_default().as_secs()),
        Err(_) => time.to_owned(),
    }
}

#[derive(Clone, Debug)]
struct Shown {
    status: Box<Status>,
    diff: bool,
}

/// What a terminal shows of `--watch`: each status in the place of the one before. A pipe gets them one after the other.
#[derive(Debug, Default)]
struct Screen {
    last: Option<Shown>,
    rows: usize,
}

impl Screen {
    fn show(&mut self, shown: Shown, watch: bool) {
        if !watch {
            return output::line(text(&shown));
        }
        if !output::is_terminal() {
            return output::line(text(&shown) + "\n");
        }
        self.last = Some(shown);
        self.draw();
    }

    fn draw(&mut self) {
        let Some(shown) = &self.last else { return };
        let text = output::wrapped(&text(shown));
        // Of what has scrolled out of the terminal nothing can be erased.
        let up = self.rows.min(output::rows().saturating_sub(1));
        let back = if up == 0 { String::new() } else { format!("\x1b[{up}F") };
        output::raw(format!("{back}\x1b[J{text}"));
        self.rows = text.lines().count();
    }

    async fn tick(&mut self) {
        if self.last.is_none() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        self.draw();
    }
}

pub fn paint(text: &str, colour: &str) -> String {
    if output::colour() { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_string() }
}
