//! `linesman retry`.

use linesman_agent::freeze;
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
    if let (Some(policy), true) = (&args.policy, names.is_empty()) {
        output::error(format!("linesman: policy {policy} has nothing to retry; see `linesman status`"));
        return Exit::Failed;
    }
    let listed = names.join(", ");
    match (format, freeze::read(&settings.state_dir)) {
        (Format::Json | Format::Yaml, _) => output::data(format, &names),
        (Format::Text, _) if names.is_empty() => output::line("nothing to retry; see `linesman status`"),
        (Format::Text, Some(freeze)) => {
            output::line(format!("{listed}: retried after `linesman unfreeze`; the agent is {freeze}"))
        }
        (Format::Text, None) => output::line(format!("retrying {listed}; see `linesman status --watch`")),
    }
    Exit::Done
}
