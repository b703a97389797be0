//! `linesman retry`.

use linesman_agent::socket::{Answer, Asking, Question};
use linesman_engine::transaction::Settings;

use crate::cli::{Format, RetryArgs};
use crate::exit::Exit;
use crate::output;

pub async fn run(args: RetryArgs, format: Format, settings: &Settings) -> Exit {
    let Some(mut asking) = Asking::ask(&settings.run_dir, &Question::Retry(args.policy.clone())).await else {
        output::error(
            "linesman: no agent is running on this host; to apply a document now, run `linesman apply FILE`",
        );
        return Exit::Environment;
    };
    let Some(Answer::Retried(names)) = asking.answer().await else {
        output::error("linesman: the agent did not answer");
        return Exit::Failed;
    };
    match (format, names.as_slice(), args.policy) {
        (Format::Json | Format::Yaml, ..) => output::data(format, &names),
        (_, [], Some(policy)) => {
            output::error(format!("linesman: policy {policy} has nothing to retry; see `linesman status`"));
            return Exit::Failed;
        }
        (_, [], None) => output::line("nothing to retry: every policy is in sync"),
        (_, names, _) => {
            output::line(format!("retrying {}; see `linesman status --watch`", names.join(", ")))
        }
    }
    Exit::Done
}
