//! `linesman firstboot`: the document that this host was installed with.

mod environment;

use linesman_agent::first_boot::{self, End, Options, Progress, Report};
use linesman_core::outcome::{Outcome, Verdict};
use linesman_day1::first_boot::{Action, Cause, DocumentState, Occasion, OnChange};
use linesman_engine::Category;
use linesman_engine::transaction::Settings;
use serde_json::json;

use super::apply::{progress, report, signals};
use crate::cli::{ChangePolicy, FirstbootArgs, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use environment::Environment;

pub async fn run(args: FirstbootArgs, format: Format, settings: &Settings) -> Exit {
    let file = std::fs::read_to_string(environment::FILE).unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok().or_else(|| environment::variable(&file, name));
    let (from_environment, wrong) = Environment::read(variable);
    for remark in wrong {
        output::error(remark);
    }
    let options = Options {
        directory: args.dir,
        occasion: if args.files_changed { Occasion::FilesChanged } else { Occasion::Boot },
        on_change: match args.on_change.or(from_environment.on_change) {
            None | Some(ChangePolicy::Report) => OnChange::Report,
            Some(ChangePolicy::Boot) => OnChange::Boot,
            Some(ChangePolicy::Live) => OnChange::Live,
        },
        fall_back: args.fall_back || from_environment.fall_back.unwrap_or_default(),
        wait: args.wait.or(from_environment.wait).unwrap_or(Options::default().wait),
        patience: args.patience,
        dry_run: args.dry_run,
    };
    let talk = format == Format::Text;
    let mut steps = progress::Progress::new(talk);
    let mut say = |progress: Progress| match progress {
        Progress::Line(line) if talk => output::line(line),
        Progress::Line(_) => {}
        Progress::Step(step) => steps.step(&step),
    };
    let ended = match first_boot::run(&options, settings, signals::stop(), &mut say).await {
        Ok(ended) => ended,
        Err(error) => return Failure::from(&error).report(),
    };
    let changes_at_boot = !matches!(from_environment.on_change, None | Some(ChangePolicy::Report));
    match format {
        Format::Text => print(&ended, !options.dry_run, changes_at_boot),
        other => output::data(other, &object(&ended)),
    }
    exit(&ended)
}

fn print(Report { record, end }: &Report, was_tried: bool, changes_at_boot: bool) {
    let tries_again = was_tried && (record.applied.is_none() || changes_at_boot);
    match end {
        End::Would(action) => output::line(in_words(action)),
        End::Applied(outcome) => report::outcome(outcome),
        End::Refused(outcome) => output::error(outcome.why().unwrap_or_default()),
        End::Compared(plan) if !plan.is_empty() => output::line(plan.render(output::colour()).trim_end()),
        End::Kept => output::line("it is applied and has not changed since; no changes made"),
        End::Compared(_) | End::Idle => {}
    }
    match (end, record.state) {
        (End::Applied(outcome), _) if outcome.succeeded() => {}
        (End::Applied(_), _) | (End::Refused(_), Some(DocumentState::Failed)) if tries_again => {
            output::line("the next boot tries again");
        }
        (End::Applied(_) | End::Refused(_), _) => {}
        (End::Would(_) | End::Kept, _) | (_, None) => {}
        (_, Some(state)) => output::line(sentence(state, &record.message)),
    }
}

fn sentence(state: DocumentState, message: &str) -> String {
    match state {
        DocumentState::Withdrawn => format!("withdrawn: {message}"),
        DocumentState::Superseded => format!("not applied: {message}"),
        _ => message.to_owned(),
    }
}

fn in_words(action: &Action) -> String {
    match action {
        Action::Nothing => "nothing would be done: there is no document for this host".to_owned(),
        Action::Withdraw => {
            "the document is gone: this host would no longer be marked as declared".to_owned()
        }
        Action::Keep => "nothing would be done: the document is applied and has not changed since".to_owned(),
        Action::Wait => {
            "nothing would be done: the document failed, and the next boot tries again".to_owned()
        }
        Action::Apply(cause) => format!("the document would be applied: {}", cause_in_words(cause)),
        Action::Compare(cause) => {
            format!("the document would be compared with this host, not applied: {}", cause_in_words(cause))
        }
    }
}

fn cause_in_words(cause: &Cause) -> String {
    match cause {
        Cause::First => "it never was".to_owned(),
        Cause::Again => "an earlier attempt did not succeed".to_owned(),
        Cause::Changed => "it has changed since it was applied".to_owned(),
        Cause::Named => "the one that was applied was chosen without the name of this host".to_owned(),
        Cause::Renamed => "its NICs have other names now".to_owned(),
        Cause::Lost(lost) => format!("no profile brings up {} any more", lost.join(", ")),
        Cause::Adopted(adopted) => {
            let all: Vec<String> =
                adopted.iter().map(|a| format!("{} belongs to policy {}", a.interface, a.policy)).collect();
            all.join(", ")
        }
    }
}

fn object(Report { record, end }: &Report) -> serde_json::Value {
    let mut object = json!({ "document": record });
    match end {
        End::Applied(outcome) | End::Refused(outcome) => object["outcome"] = json!(outcome),
        End::Compared(plan) => object["plan"] = json!(plan),
        End::Would(action) => object["wouldDo"] = in_words(action).into(),
        End::Idle | End::Kept => {}
    }
    object
}

fn exit(Report { end, .. }: &Report) -> Exit {
    match end {
        End::Idle | End::Kept | End::Would(_) | End::Compared(_) => Exit::Done,
        End::Applied(outcome) | End::Refused(outcome) => of_outcome(outcome),
    }
}

fn of_outcome(outcome: &Outcome) -> Exit {
    match (outcome.verdict, outcome.category) {
        (Verdict::Abandoned, Some(Category::Input)) => Exit::Input,
        (Verdict::Abandoned, Some(Category::Environment)) => Exit::Environment,
        (verdict, _) => verdict.into(),
    }
}
