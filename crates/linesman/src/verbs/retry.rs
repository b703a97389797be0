//! `linesman retry`.

use linesman_agent::freeze;
use linesman_agent::socket::{Answer, Asking, NoAnswer, Question};
use linesman_engine::transaction::Settings;

use crate::cli::{Format, RetryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub async fn run(args: RetryArgs, format: Format, settings: &Settings) -> Exit {
    let mut asking = match Asking::ask(&settings.run_dir, &Question::Retry(args.policy.clone())).await {
        Ok(asking) => asking,
        Err(NoAnswer::NoAgent) => {
            let hint = "to apply a document now, run `linesman apply FILE`";
            return Failure::no_agent().hint(hint).report();
        }
        Err(other) => return Failure::from(&other).report(),
    };
    let Some(Answer::Retried(names)) = asking.answer().await else {
        return Failure::new(Exit::Failed, "the agent did not answer").report();
    };
    if let (Some(policy), true) = (&args.policy, names.is_empty()) {
        let failure = Failure::new(Exit::Failed, format!("policy {policy} has nothing to retry"));
        return failure.hint("see `linesman status`").report();
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
