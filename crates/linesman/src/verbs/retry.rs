//! `linesman retry`: once more, on purpose.

use linesman_agent::socket::{Answer, Asking, Question};
use linesman_engine::transaction::Settings;

use crate::cli::{Format, RetryArgs};
use crate::exit::Exit;
use crate::output;

pub async fn run(args: RetryArgs, format: Format, settings: &Settings) -> Exit {
    let Some(mut asking) = Asking::ask(&settings.run_dir, &Question::Retry(args.policy.clone())).await else {
        output::error("linesman: no agent runs on this host; `linesman apply FILE` tries a document at once");
        return Exit::Environment;
    };
    let Some(Answer::Retried(names)) = asking.answer().await else {
        output::error("linesman: the agent did not answer");
        return Exit::Failed;
    };
    match (format, names.as_slice(), args.policy) {
        (Format::Json | Format::Yaml, ..) => output::data(format, &names),
        (_, [], Some(policy)) => {
            output::error(format!(
                "linesman: policy {policy} has nothing to try again; see `linesman status`"
            ));
            return Exit::Failed;
        }
        (_, [], None) => output::line("nothing to try again: every policy is in step"),
        (_, names, _) => {
            output::line(format!("tried again: {}; see `linesman status --watch`", names.join(", ")))
        }
    }
    Exit::Done
}
